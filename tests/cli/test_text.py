import pytest

from tamis.cli._text import printable, printable_lines


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain name", "plain name"),
        ("[red]日本[/red]", "[red]日本[/red]"),
        ("a\nb\tc\rd", "a\\nb\\tc\\rd"),
        ("\x1b[2J\x07", "\\x1b[2J\\x07"),
        ("\u202eabc", "\\u202eabc"),
        ("\udc80", "\\udc80"),
        ("", ""),
    ],
)
def test_printable(text, shown):
    assert printable(text) == shown


def test_printable_lines_keeps_our_line_breaks():
    assert printable_lines("one\ntwo\x1b") == "one\ntwo\\x1b"
