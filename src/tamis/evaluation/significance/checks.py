"""Scores as the tests read them: checked, paired, and free of rounding noise."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._validation import Choice, Number
from tamis.exceptions import InputError

Floats = NDArray[np.float64]
SHARE = Number(float, 0.0, 1.0, open_low=True, open_high=True)
YES_NO = Choice((True, False))  # nothing that only behaves like it

# 0.8 - 0.7 and 0.9 - 0.8 are the same difference, though not in binary: a relative
# difference below this is rounding, far below any score that anyone reports.
ROUNDING = 1e-12


def check_vector(values: Any, who: str, name: str, at_least: int) -> Floats:
    """One finite number per split or data set."""
    vector = _as_floats(values, who, name)
    if vector.ndim != 1:
        raise InputError(
            f"{who}: expected {name} with one number per split or data set, got shape "
            f"{vector.shape}. Give a flat list of scores."
        )
    if vector.size < at_least:
        raise InputError(
            f"{who}: expected at least {at_least} numbers in {name}, got {vector.size}. "
            "Use more splits or data sets."
        )
    if not np.isfinite(vector).all():
        where = int(np.argmin(np.isfinite(vector)))
        raise InputError(
            f"{who}: expected finite numbers in {name}, got {float(vector[where])!r} at position "
            f"{where}. Leave out the splits or data sets where a score is missing."
        )
    return vector


def check_pair(a: Any, b: Any, who: str) -> tuple[Floats, Floats]:
    """Scores of two methods on the same splits or data sets."""
    a, b = check_vector(a, who, "a", 2), check_vector(b, who, "b", 2)
    check_same_length(a.size, b.shape[0], who)
    return a, b


def check_same_length(n_a: int, n_b: int, who: str) -> None:
    """Both methods were scored equally often."""
    if n_a != n_b:
        raise InputError(
            f"{who}: expected a and b of the same length, got {n_a} and {n_b} scores. Both methods "
            "need one score on each of the same splits or data sets, in the same order."
        )


def check_table(table: Any, who: str, name: str = "table") -> Floats:
    """A finite score for every data set (rows) and method (columns), two at least of each."""
    values = _as_floats(table, who, name)
    if values.ndim != 2 or min(values.shape) < 2:
        raise InputError(
            f"{who}: expected {name} with at least 2 rows (data sets or splits) and 2 columns "
            f"(methods), got shape {values.shape}. Use paired_t or wilcoxon for two lists of "
            "scores, and more data sets where there is one."
        )
    if not np.isfinite(values).all():
        row, column = (int(place[0]) for place in np.nonzero(~np.isfinite(values)))
        raise InputError(
            f"{who}: expected finite numbers in {name}, got {float(values[row, column])!r} in row "
            f"{row}, column {column}. Leave out the row or the method whose score is missing."
        )
    return values


def _as_floats(values: Any, who: str, name: str) -> Floats:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"{who}: expected numbers in {name}, got {type(values).__name__} that cannot be read "
            "as numbers. Give scores only, without names, and equally many in every row."
        ) from None


def differences(a: Floats, b: Floats) -> Floats:
    """Differences a - b, where rounding noise is 0."""
    difference = a - b
    difference[np.abs(difference) <= tolerance(a, b)] = 0.0
    return difference


def tolerance(a: Floats, b: Floats) -> Floats:
    """How far a difference of these numbers may be off by rounding."""
    return ROUNDING * np.maximum(np.abs(a), np.abs(b))


def codes(values: Floats, allowed: Floats) -> NDArray[np.intp]:
    """Places 0, 1, ... in rising order along the last axis; equal up to rounding, equal place."""
    order = np.argsort(values, axis=-1, kind="stable")
    steps = np.diff(np.take_along_axis(values, order, -1), axis=-1)
    allowed = np.take_along_axis(allowed, order, -1)
    rises = steps > np.maximum(allowed[..., :-1], allowed[..., 1:])
    places = np.zeros(values.shape, dtype=np.intp)
    np.put_along_axis(places, order[..., 1:], np.cumsum(rises, axis=-1), -1)
    return places


def middle_ranks(values: Floats, allowed: Floats) -> Floats:
    """Ranks from 1 along the last axis, the smallest first; ties share the mean of theirs."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(codes(values, allowed), axis=-1), dtype=np.float64)
