"""Parameter constraints and the one template of their messages."""

import numpy as np
import pytest

import tamis
from tamis._validation import N_JOBS, Choice, Custom, Number, check_parameters, check_value
from tamis.exceptions import InputError

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("constraint", "allowed", "refused"),
    [
        (Number(int, low=2), [2, 3, np.int64(9), np.uint8(2)], [1, 2.0, np.float64(3), "2", None]),
        (Number(int), [-5, 0], [NAN, INF, 0.5, True, np.True_, False, [1]]),
        (Number(int, low=1, or_none=True), [None, 1], [0, True]),
        (
            Number(float, 0, 1),
            [0, 0.0, 0.5, 1, np.float32(1)],
            [-1e-9, 1.0001, NAN, True, None, "0"],
        ),
        (Number(float, 0, 1, open_low=True), [5e-324, 1], [0, 0.0, -0.0]),
        (Number(float, low=0, open_low=True), [1e-9, INF], [0, -INF, NAN]),
        (Number(float), [-INF, 0, INF], [NAN, 1 + 0j]),
        (Choice(("early", "late")), ["early", "late"], ["Early", "", None, 0, ["early"]]),
        (Choice((1, 0)), [1, 0], [True, False, 1.0]),  # a bool is not the number that it equals
        (Choice((None, "a")), [None, "a"], ["None", 0]),
        (Custom(callable, "a function"), [len], [3]),
        (N_JOBS, [None, 1, -1, np.int64(2)], [0, 1.0, True, "2", NAN]),
    ],
)
def test_what_is_allowed(constraint, allowed, refused):
    assert [value for value in allowed if not constraint.allows(value)] == []
    assert [value for value in refused if constraint.allows(value)] == []


@pytest.mark.parametrize(
    ("constraint", "phrase"),
    [
        (Number(int), "an int"),
        (Number(int, low=2), "an int of at least 2"),
        (Number(int, low=1, or_none=True), "an int of at least 1 or None"),
        (Number(float, low=0, open_low=True), "a float above 0"),
        (Number(float, 0, 1), "a float in [0, 1]"),
        (Number(float, 0, 1, open_low=True), "a float in (0, 1]"),
        (Choice(("early", "late")), "'early' or 'late'"),
        (Custom(callable, "a function"), "a function"),
        (N_JOBS, "a non-zero int, or None for all cores"),
    ],
)
def test_how_it_is_said(constraint, phrase):
    assert constraint.describe() == phrase


def test_the_message_says_who_what_was_expected_and_what_came():
    with pytest.raises(InputError) as caught:
        check_value(1.4, Number(float, 0, 1), who="InfFS", name="alpha")
    assert str(caught.value) == "InfFS: alpha must be a float in [0, 1], got 1.4."


def test_a_value_is_shown_as_it_would_be_typed():
    with pytest.raises(InputError, match=r"got '16'\.$"):
        check_value("16", Number(int), who="DFT", name="n_bins")


def test_a_good_value_passes_in_silence():
    assert check_value(2, Number(int), who="DFT", name="n_bins") is None


def test_parameters_of_an_estimator():
    constraints = {"n_bins": Number(int, low=2), "n_jobs": N_JOBS}
    check_parameters(tamis.DFT(n_bins=2, n_jobs=-1), constraints)
    with pytest.raises(InputError, match="DFT: n_bins must be an int of at least 2, got 1"):
        check_parameters(tamis.DFT(n_bins=1), constraints)
    with pytest.raises(InputError, match="DFT: n_jobs must be a non-zero int, or None for all"):
        check_parameters(tamis.DFT(n_jobs=0), constraints)


@pytest.mark.parametrize("selector", [tamis.DFT, tamis.RFT])
@pytest.mark.parametrize(
    ("name", "value", "phrase"),
    [
        ("n_bins", 1, r"an int in \[2, 1e\+06\]"),
        ("n_bins", 16.0, r"an int in \[2, 1e\+06\]"),
        ("n_bins", True, r"an int in \[2, 1e\+06\]"),
        ("n_jobs", 0, "a non-zero int, or None for all cores"),
        ("ranges", 3, r"None or a pair \(low, high\)"),
    ],
)
def test_selectors_check_before_they_look_at_the_data(selector, name, value, phrase):
    message = f"{selector.__name__}: {name} must be {phrase}.*, got {value}"
    with pytest.raises(InputError, match=message):
        selector(**{name: value}).fit("this is no table", None)
