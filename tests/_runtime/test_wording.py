import pytest

from tamis._runtime.wording import closest, counted, did_you_mean, listed, unknown_column


def test_the_closest_name_whatever_its_case():
    assert closest("AGE", ["page", "Age", "height"]) == "Age"
    assert closest("zzz", ["page", "age"]) is None


def test_no_more_than_some_names_are_compared(monkeypatch):
    monkeypatch.setattr("tamis._runtime.wording.MAX_COMPARED", 2)
    assert closest("height", ["a", "b", "height"]) is None


@pytest.mark.parametrize(
    ("name", "hint"),
    [("fischer", " Did you mean 'fisher'?"), ("fisher", ""), ("q", ""), (7, "")],
)
def test_hints(name, hint):
    assert did_you_mean(name, ["fisher", "dft"]) == hint


def test_lists_of_names():
    assert listed(["a", "b"]) == "'a', 'b'"
    assert listed([str(i) for i in range(1234)], 2) == "'0', '1' and 1,232 more"
    assert listed(["x" * 60]) == repr("x" * 60)
    assert listed(["x" * 61]) == repr("x" * 57 + "...")


@pytest.mark.parametrize(("number", "text"), [(0, "0 rows"), (1, "1 row"), (2000, "2,000 rows")])
def test_numbers_with_nouns(number, text):
    assert counted(number, "row") == text


def test_unknown_columns():
    with_guess = str(unknown_column("scan", "hight", ["height", "age"]))
    assert with_guess == (
        "scan: expected a column named 'hight', got columns 'height', 'age'; did you mean 'height'?"
    )
    assert str(unknown_column("scan", "q", ["age"])).endswith("'age'; use one of these names.")
