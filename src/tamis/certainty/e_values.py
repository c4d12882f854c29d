"""Knockoff statistics to thresholds and e-values, and e-values to a selection."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tamis._validation import Number, check_value
from tamis.exceptions import InputError

Floats = NDArray[np.float64]
# A level that is met exactly must not be missed by rounding.
ROUNDING = 1e-12


def e_bh(e_values: ArrayLike, level: float) -> NDArray[np.bool_]:
    """Select by e-values: the e-BH procedure.

    The largest k is taken such that the k largest e-values all reach ``n / (level k)``. The false
    discovery rate is at most `level`, whatever the dependence between the e-values.

    Parameters
    ----------
    e_values : array-like of shape (n_features,)
        One e-value per tested feature: not negative, and of expectation at most 1 for a feature
        whose null hypothesis holds.
    level : float
        The false discovery rate, in (0, 1).

    Returns
    -------
    selected : ndarray of bool of shape (n_features,)
        The selected features; none if no k qualifies.

    References
    ----------
    Wang, R. and Ramdas, A. (2022). False discovery rate control with e-values. Journal of the Royal
    Statistical Society B 84(3). doi:10.1111/rssb.12489

    Examples
    --------
    >>> from tamis.certainty import e_bh
    >>> e_bh([40.0, 0.5, 25.0, 1.0], level=0.1)
    array([ True, False,  True, False])
    """
    _check_level(level, "e_bh")
    values = np.asarray(e_values, dtype=np.float64)
    if values.ndim != 1 or not (values >= 0).all():
        raise InputError(
            f"e_bh: e_values must be one number of at least 0 per feature, got {_example(values)}."
        )
    ranked = np.sort(values)[::-1]
    needed = values.size / (level * np.arange(1, values.size + 1))
    enough = np.flatnonzero(ranked >= needed * (1 - ROUNDING))
    if not enough.size:
        return np.zeros(values.size, dtype=bool)
    return np.asarray(values >= ranked[enough[-1]])


def knockoff_threshold(W: ArrayLike, level: float) -> float:
    """Threshold of the knockoff filter with offset 1.

    The smallest t among the sizes of the statistics for which
    ``(1 + #{W <= -t}) / #{W >= t} <= level``.

    Parameters
    ----------
    W : array-like of shape (n_features,)
        Knockoff statistics: large where the feature is more important than its copy, and of random
        sign where it is a null.
    level : float
        The false discovery rate, in (0, 1).

    Returns
    -------
    threshold : float
        Features with ``W >= threshold`` are selected; infinite if none can be.

    References
    ----------
    Barber, R. F. and Candes, E. J. (2015). Controlling the false discovery rate via knockoffs.
    Annals of Statistics 43(5). doi:10.1214/15-AOS1337

    Examples
    --------
    >>> from tamis.certainty import knockoff_threshold
    >>> knockoff_threshold([9.0, 8.0, 7.0, 6.0, -5.0, 0.5], level=0.25)
    6.0
    """
    _check_level(level, "knockoff_threshold")
    values = np.asarray(W, dtype=np.float64)
    if values.ndim != 1 or not np.isfinite(values).all():
        raise InputError(
            f"knockoff_threshold: W must be one finite number per feature, got {_example(values)}."
        )
    sizes, above, below = _counts(values)
    passes = 1 + below <= level * above * (1 + ROUNDING)
    return float(sizes[passes.argmax()]) if passes.any() else float("inf")


def knockoff_e_values(W: Floats, level: float, n_tested: int) -> Floats:
    """E-values of all features: the mean over the copies, which are the lines of `W`.

    A copy gives every feature with ``W >= t`` the e-value ``n_tested / (1 + #{W <= -t})``, and all
    others 0. t is the threshold of the copy at `level`, or the first size at which less than
    ``1 / level`` features are left, so that no larger one can be that threshold: eq. 14 of Ren and
    Barber (2024). Both only look at the signs of smaller statistics and at the numbers of larger
    ones, so that t is a stopping time, which is what e-values need.
    """
    total = np.zeros(W.shape[1])
    for line in W:
        sizes, above, below = _counts(line)
        most = level * above * (1 + ROUNDING)
        ends = np.flatnonzero((1 + below <= most) | (most < 1))
        if ends.size:
            total[line >= sizes[ends[0]]] += n_tested / (1 + below[ends[0]])
    return total / max(len(W), 1)


def _counts(values: Floats) -> tuple[Floats, NDArray[np.intp], NDArray[np.intp]]:
    """Sizes of statistics, ascending, and how many are at least as large, of either sign."""
    sizes = np.unique(np.abs(values[values != 0]))
    above = values.size - np.searchsorted(np.sort(values), sizes, side="left")
    below = values.size - np.searchsorted(np.sort(-values), sizes, side="left")
    return sizes, above, below


def _check_level(level: Any, who: str) -> None:
    between = Number(float, low=0, high=1, open_low=True, open_high=True)
    check_value(level, between, who=who, name="level")


def _example(values: Floats) -> str:
    if values.ndim != 1:
        return f"an array of shape {values.shape}"
    bad = values[~np.isfinite(values) | (values < 0)]
    return repr(float(bad[0]))
