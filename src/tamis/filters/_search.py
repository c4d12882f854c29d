"""Scores that the order of a search gives."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tamis._base import Scores

Floats = NDArray[np.float64]

# Values that differ by less are equal: other orders of summation must not decide.
TIE = 1e-12


def order_as_scores(
    order: NDArray[np.intp], criterion: Floats, constant: NDArray[np.bool_]
) -> Scores:
    """Scores that count down the order; behind it the other columns follow by their criterion.

    Of the followers, those with equal criteria share a score. Constant columns get 0.
    """
    scores = np.zeros(constant.size)
    varying = constant.size - int(constant.sum())
    scores[order] = np.arange(varying, varying - order.size, -1)
    rest = ~constant
    rest[order] = False
    # The place of the last of those that tie, so that nobody is lifted over a better column.
    values = rounded(criterion[rest])
    scores[rest] = values.size - _better_or_equal(values) + 1
    return scores, constant


def _better_or_equal(values: Floats) -> NDArray[np.intp]:
    """How many values are at least as large, for every value."""
    ascending = np.sort(values)
    return values.size - np.searchsorted(ascending, values, side="left")


def rounded(values: Floats) -> Floats:
    """Values to 40 binary digits, so that those equal up to rounding are equal."""
    mantissa, exponent = np.frexp(np.where(np.abs(values) < TIE, 0.0, values))
    return np.ldexp(np.round(mantissa * 2.0**40), exponent - 40)
