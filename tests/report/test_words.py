import pytest

from tamis.report import _words


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain name", "plain name"),
        ("a\u202eb", "a⟨U+202E⟩b"),
        ("a\nb\tc", "a⟨U+000A⟩b⟨U+0009⟩c"),
        ("\ud800", "⟨U+D800⟩"),
        ("日本語", "日本語"),
        ("क्\u200dष", "क्\u200dष"),
    ],
)
def test_hidden_characters_are_spelled_out(text, shown):
    assert _words.visible(text) == shown


def test_names_from_right_to_left_leave_the_numbers_beside_them_alone():
    assert _words.short_name("שם") == "\u2068שם\u2069"
    assert _words.short_name("שם\u2069 abc") == "\u2068שם⟨U+2069⟩ abc\u2069"
    assert _words.short_name("né") == "né"


def test_long_names_keep_both_ends():
    short = _words.short_name("begin" + "x" * 10_000 + "end", 20)
    assert len(short) == 20
    assert short.startswith("begin")
    # The end of a very long name is not looked for: the beginning is what is shown.
    assert "…" in short


def test_names_that_look_the_same_show_their_position():
    block = {"columns": ["a", "b", "a"], "indices": [4, 5, 9]}
    assert _words.labels(block) == ["a (no. 4)", "b", "a (no. 9)"]


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, "–"), (0.8643, "0.864"), (-0.25, "−0.250"), (-1e-17, "−1e−17"), (0, "0.000"),
     (123456.7, "1.23e+05"), (1234.5, "1,234.500"), (2e-5, "2e−05")],
)  # fmt: skip
def test_numbers(value, shown):
    assert _words.number(value) == shown


def test_no_minus_before_a_zero():
    assert _words.number(-0.002, 2) == "0.00"


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.00123, "1.2 ms"), (0.5, "0.5 s"), (12.3, "12 s"), (300, "5 min"), (7200, "2.0 h")],
)
def test_durations(value, shown):
    assert _words.seconds(value) == shown


def test_sizes():
    assert [_words.size(v) for v in (None, 10, 2.5e6, 3e9)] == ["–", "< 1 MB", "2.5 MB", "3 GB"]


def test_capitals_inside_stay():
    assert _words.capital("area under the ROC curve, linear SVM").startswith("Area under the ROC")
    assert _words.capital("") == ""
    assert _words.percent(0.954) == "95%"
