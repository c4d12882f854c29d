"""Two methods on the same splits or data sets: paired t, Wilcoxon and the binomial test."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import bdtrc, ndtr, stdtr, stdtrit

from tamis._validation import Choice, Number, check_value
from tamis.evaluation.significance.checks import (
    SHARE,
    Floats,
    check_flag,
    check_pair,
    check_same_length,
    check_table,
    check_vector,
    differences,
    middle_ranks,
    tolerance,
)


class PairedT(NamedTuple):
    """What :func:`paired_t` found; differences are a minus b.

    Attributes
    ----------
    statistic : float
        The mean difference in standard errors.
    p_value : float
        Two-sided.
    degrees : float
        Degrees of freedom, the number of pairs minus one.
    mean : float
        Mean difference.
    standard_error : float
        Standard error of the mean difference, corrected if that was asked for.
    low, high : float
        Confidence interval of the mean difference.

    Examples
    --------
    >>> from tamis.evaluation.significance import paired_t
    >>> paired_t([0.9, 0.8, 0.9], [0.7, 0.7, 0.6])._fields[:2]
    ('statistic', 'p_value')
    """

    statistic: float
    p_value: float
    degrees: float
    mean: float
    standard_error: float
    low: float
    high: float


def paired_t(
    a: Any, b: Any, test_share: float | None = None, *, confidence: float = 0.95
) -> PairedT:
    """Paired t test of two methods, also for overlapping splits of one data set.

    Scores from random splits or folds of one table are not independent: their rows overlap. The
    plain test takes them as independent and finds differences where there are none, the more
    splits the more of them. Give `test_share` to correct the variance for it.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Scores of the two methods on the same n >= 2 splits or data sets, in the same order.
    test_share : float, default=None
        Share of the rows in the test part of every split, between 0 and 1: 1/3 for splits with 2/3
        of the rows for training, 1/k for k folds. ``None`` is the plain test, for scores that are
        independent, such as one per data set.
    confidence : float, default=0.95
        Level of the interval of the mean difference.

    Returns
    -------
    PairedT
        Statistic, two-sided p-value, degrees of freedom, mean difference, its standard error and
        interval.

    Notes
    -----
    The variance of the mean of n differences with variance s² is taken as
    s² (1/n + n_test / n_train) in place of s² / n, with n - 1 degrees of freedom. The correction
    is an approximation: it takes the correlation of two splits to be the share of test rows.
    Without any difference the p-value is 1; if all differences are the same number other than 0,
    the statistic is infinite and the p-value 0. Differences below 1e-12 of the scores are rounding
    and count as 0.

    References
    ----------
    C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine Learning 52,
    2003. https://doi.org/10.1023/A:1024068626366

    Examples
    --------
    >>> from tamis.evaluation.significance import paired_t
    >>> a, b = [0.90, 0.85, 0.88, 0.91, 0.87], [0.86, 0.84, 0.85, 0.86, 0.85]
    >>> round(paired_t(a, b).p_value, 3)
    0.013
    >>> round(paired_t(a, b, test_share=1 / 3).p_value, 3)
    0.086
    """
    who = "paired_t"
    a, b = check_pair(a, b, who)
    if test_share is not None:
        check_value(test_share, SHARE, who=who, name="test_share")
    check_value(confidence, Number(float, 0, 1, True, True), who=who, name="confidence")
    difference = differences(a, b)
    mean, degrees = float(difference.mean()), float(a.size - 1)
    overlap = 0.0 if test_share is None else test_share / (1 - test_share)
    error = float(difference.std(ddof=1) * np.sqrt(1 / a.size + overlap))
    if np.ptp(difference) <= tolerance(a, b).max():  # the same number up to rounding
        error = 0.0
    statistic = mean / error if error else float(np.copysign(np.inf, mean)) if mean else 0.0
    p_value = float(2 * stdtr(degrees, -abs(statistic)))
    half = float(stdtrit(degrees, (1 + confidence) / 2)) * error
    return PairedT(statistic, p_value, degrees, mean, error, mean - half, mean + half)


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


class BinomialWins(NamedTuple):
    """What :func:`binomial_wins` counted.

    Attributes
    ----------
    wins, losses, ties : int
        Experiments where a is better than all of b, worse than one of them, or equal to the best.
    chance : float
        Chance of a win if the methods are alike.
    p_value : float
        Two-sided: chance of a count at most as likely as this one.
    p_at_least : float
        Chance of at least as many wins, the usual one-sided p-value.
    p_more_than : float
        Chance of more wins, the number that the ILFS paper prints.

    Examples
    --------
    >>> from tamis.evaluation.significance import binomial_wins
    >>> binomial_wins([3, 5, 4, 6], [1, 2, 4, 7])[:3]
    (2, 1, 1)
    """

    wins: int
    losses: int
    ties: int
    chance: float
    p_value: float
    p_at_least: float
    p_more_than: float


def binomial_wins(
    a: Any,
    b: Any,
    chance: float | None = None,
    *,
    ties: str = "drop",
    greater_is_better: bool = True,
) -> BinomialWins:
    """Is the number of experiments that a method wins more than luck (a sign test).

    Parameters
    ----------
    a : array-like of shape (n,)
        Scores of the method on n >= 2 independent experiments, one per data set.
    b : array-like of shape (n,) or (n, n_rivals)
        Scores of one rival or several; a win means to be better than all of them.
    chance : float, default=None
        Chance of a win if nothing distinguishes the methods. ``None`` is 1 / (1 + n_rivals):
        1/2 against one rival.
    ties : {"drop", "loss"}, default="drop"
        Experiments where a equals the best rival: left out of the count, or taken as not won.
    greater_is_better : bool, default=True
        Whether the larger score wins.

    Returns
    -------
    BinomialWins
        Counts and exact p-values.

    Notes
    -----
    Section 4.3 of the ILFS paper counts N = 10 experiments, one per data set. ILFS has the best
    mean of all 12 methods on k = 7 of them. The paper takes "the exact p-value" of its t tests as
    the chance of one success, and prints 4.82e-3 as the chance of "outperforming more than k
    times". The chance is not printed; 0.35 gives the printed number as P(X > 7) = P(X >= 8), so
    `p_more_than` with ``chance=0.35`` repeats it. We advise neither step: a p-value is not the
    chance to win, and the count that was seen belongs to the tail (P(X >= 7) is 0.026 at that
    chance). Hence `chance` is 1 / (number of methods) by default, and `p_at_least` or `p_value` is
    the number to report.

    Left out ties keep the test exact against one rival, and on the safe side against several.
    If every experiment is a tie the p-values are 1. Scores that agree to 1e-12 are ties.

    References
    ----------
    G. Roffo, S. Melzi, U. Castellani and A. Vinciarelli, "Infinite latent feature selection: a
    probabilistic latent graph-based ranking approach", ICCV 2017.

    Examples
    --------
    >>> from tamis.evaluation.significance import binomial_wins
    >>> a, b = [1] * 7 + [0] * 3, [0] * 7 + [1] * 3
    >>> result = binomial_wins(a, b, chance=0.35)
    >>> round(result.p_more_than, 5), round(result.p_at_least, 3)
    (0.00482, 0.026)
    >>> round(binomial_wins(a, b).p_value, 3)
    0.344
    """
    who = "binomial_wins"
    check_value(ties, Choice(("drop", "loss")), who=who, name="ties")
    check_flag(greater_is_better, who, "greater_is_better")
    a, rivals = _check_rivals(a, b, who)
    if chance is None:
        chance = 1 / (1 + rivals.shape[1])
    check_value(chance, SHARE, who=who, name="chance")
    best = rivals.max(axis=1) if greater_is_better else rivals.min(axis=1)
    lead = differences(a, best) if greater_is_better else differences(best, a)
    wins, losses = int((lead > 0).sum()), int((lead < 0).sum())
    n_ties = a.size - wins - losses
    trials = wins + losses + (n_ties if ties == "loss" else 0)
    return BinomialWins(wins, losses, n_ties, float(chance), *_tails(wins, trials, float(chance)))


def _check_rivals(a: Any, b: Any, who: str) -> tuple[Floats, Floats]:
    a = check_vector(a, who, "a", 2)
    if np.ndim(b) == 2 and np.shape(b)[1] > 1:
        rivals = check_table(b, who, "b")
    else:
        rivals = check_vector(np.ravel(b) if np.ndim(b) == 2 else b, who, "b", 2)[:, None]
    check_same_length(a.size, rivals.shape[0], who)
    return a, rivals


def _tails(wins: int, trials: int, chance: float) -> tuple[float, float, float]:
    """Two-sided, P(X >= wins) and P(X > wins)."""
    from scipy.stats import binomtest

    if trials == 0:
        return 1.0, 1.0, 1.0
    more = float(bdtrc(wins, trials, chance)) if wins < trials else 0.0
    at_least = float(bdtrc(wins - 1, trials, chance)) if wins else 1.0
    return float(binomtest(wins, trials, chance).pvalue), at_least, more
