"""Wilcoxon's signed-rank test."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr

from tamis._validation import Choice, check_value
from tamis.evaluation.significance._scores import (
    Floats,
    check_pair,
    differences,
    middle_ranks,
    tolerance,
)

_EXACT_UP_TO = 50  # 2**50 patterns of signs are still counted exactly in float64


class Wilcoxon(NamedTuple):
    """What :func:`wilcoxon` found; differences are a minus b.

    Attributes
    ----------
    statistic : float
        The smaller of the two sums of ranks.
    p_value : float
        Two-sided.
    positive, negative : float
        Sum of the ranks of the pairs where a, or b, is larger.
    n_used : int
        Pairs that carry a rank.

    Examples
    --------
    >>> from tamis.evaluation.significance import wilcoxon
    >>> wilcoxon([3, 5, 4, 6], [1, 2, 3, 7]).positive
    8.5
    """

    statistic: float
    p_value: float
    positive: float
    negative: float
    n_used: int


def wilcoxon(a: Any, b: Any, zeros: str = "drop") -> Wilcoxon:
    """Wilcoxon signed-rank test of two methods: the paired test that needs no normality.

    The one to use for two methods over many data sets.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Scores of the two methods on the same n >= 2 data sets, in the same order.
    zeros : {"drop", "pratt", "split"}, default="drop"
        Pairs without difference: ``"drop"`` leaves them out before ranking (Wilcoxon's own
        way); ``"pratt"`` ranks them and then leaves their ranks out; ``"split"`` gives half of
        their ranks to each side, as Demsar (2006) does, and takes them as pairs like any other.

    Returns
    -------
    Wilcoxon
        Statistic, two-sided p-value, both sums of ranks and the number of pairs used.

    Notes
    -----
    Up to 50 ranks the p-value is exact, also with ties: all patterns of signs of the ranks at hand
    are counted. Above, the normal approximation with the variance for ties, without continuity
    correction, as in scipy. With five pairs the smallest possible p-value is 1/16. Without any
    difference the p-value is 1. Differences that agree to 1e-12 of the scores are ties: 0.8 - 0.7
    is the same as 0.9 - 0.8.

    Scores of overlapping splits of one data set are not independent, and nothing corrects this
    test for it: use :func:`paired_t` with `test_share` there.

    References
    ----------
    F. Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin 1, 1945.
    https://doi.org/10.2307/3001968

    J. Demsar, "Statistical comparisons of classifiers over multiple data sets", Journal of
    Machine Learning Research 7, 2006.

    Examples
    --------
    >>> from tamis.evaluation.significance import wilcoxon
    >>> wilcoxon([0.9, 0.8, 0.7, 0.9, 0.8, 0.6], [0.7, 0.7, 0.4, 0.5, 0.3, 0.0]).p_value
    0.03125
    """
    check_value(zeros, Choice(("drop", "pratt", "split")), who="wilcoxon", name="zeros")
    a, b = check_pair(a, b, "wilcoxon")
    difference = differences(a, b)
    if not difference.any():
        return Wilcoxon(0.0, 1.0, 0.0, 0.0, 0)
    allowed = tolerance(a, b)
    differs = difference != 0
    if zeros == "drop":
        difference, allowed, differs = difference[differs], allowed[differs], differs[differs]
    ranks = middle_ranks(np.abs(difference), allowed)
    positive, negative = float(ranks[difference > 0].sum()), float(ranks[difference < 0].sum())
    if zeros == "split":
        half = float(ranks[~differs].sum()) / 2
        positive, negative = positive + half, negative + half
    else:
        ranks = ranks[differs]
    smaller = min(positive, negative)
    return Wilcoxon(smaller, _two_sided(ranks, smaller), positive, negative, ranks.size)


def _two_sided(ranks: Floats, smaller: float) -> float:
    """Twice the chance that ranks with random signs have a positive sum of `smaller` or less."""
    if ranks.size <= _EXACT_UP_TO:
        return min(1.0, 2 * _share_at_most(ranks, smaller))
    spread = np.sqrt((ranks**2).sum()) / 2
    return min(1.0, float(2 * ndtr((smaller - ranks.sum() / 2) / spread)))


def _share_at_most(ranks: Floats, limit: float) -> float:
    # Middle ranks are whole or half numbers, so doubled ones are positions in an array.
    doubled = np.rint(2 * ranks).astype(int)
    ways = np.zeros(int(doubled.sum()) + 1)
    ways[0] = 1.0
    for rank in doubled:
        ways[rank:] += ways[:-rank]
    return float(ways[: int(np.floor(2 * limit)) + 1].sum() / 2.0**ranks.size)
