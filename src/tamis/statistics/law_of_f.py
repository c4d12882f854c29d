"""Ratios of explained and unexplained squares, and their law under independence."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# The smallest p-value there is.
SMALLEST = float(np.finfo(np.float64).tiny)
# Ratio of a column that explains the target completely; none is larger.
PERFECT = 1e30
# A mean is known to this share of itself, so smaller deviations from it are rounding.
ROUNDING = 64 * 2.0**-52


def f_p_values(ratio: Floats, between: Floats, within: Floats) -> Floats:
    """P-values of explained over unexplained squares, by the F distribution; 1 without freedom."""
    from scipy.special import fdtrc

    tested = (between > 0) & (within > 0)
    p_values = np.ones(ratio.size)
    f = ratio[tested] / between[tested] * within[tested]
    p_values[tested] = fdtrc(between[tested], within[tested], f)
    return np.maximum(p_values, SMALLEST)


def finite_ratio(between: Floats, within: Floats, rounding: Floats) -> Floats:
    """``between / within``, or `PERFECT` where there is nothing within but rounding.

    `rounding` is what `within` may be for values that are equal within every class.
    """
    clear = (within == 0.0) | ((within <= rounding) & (between > 1e4 * rounding))
    perfect = (between > 0.0) & clear
    with np.errstate(over="ignore"):
        ratio = np.divide(between, within, out=np.zeros_like(between), where=within > 0.0)
    return np.where(perfect, PERFECT, np.minimum(ratio, PERFECT))
