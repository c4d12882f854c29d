"""Two methods on the same splits or data sets: paired t, Wilcoxon, the binomial test, Holm."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtr, stdtrit

from tamis._validation import Choice, check_value
from tamis.evaluation.significance import checks
from tamis.evaluation.significance.checks import SHARE, YES_NO, Floats
from tamis.exceptions import InputError

_EXACT_UP_TO = 50  # 2**50 patterns of signs are still counted exactly in float64
_ZERO_METHODS = {"drop": "wilcox", "pratt": "pratt", "split": "zsplit"}  # names of scipy


class PairedT(NamedTuple):
    """Result of :func:`paired_t`: the two-sided test, and the mean of a - b with its interval.

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

    Scores from splits of one table are not independent, because their rows overlap. The plain test
    then finds differences where there are none; `test_share` corrects the variance.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Scores of the two methods on the same n >= 2 splits or data sets, in the same order.
    test_share : float, default=None
        Share of the rows in the test part of every split: 1/3 for splits with 2/3 of the rows for
        training, 1/k for k folds. ``None`` is the plain test, for independent scores.
    confidence : float, default=0.95
        Level of the interval of the mean difference.

    Notes
    -----
    The variance of the mean of n differences with variance s² is s² (1/n + n_test / n_train)
    instead of s² / n, with n - 1 degrees of freedom; an approximation that takes the correlation
    of two splits to be the share of test rows. Equal differences other than 0 give an infinite
    statistic. Differences below 1e-12 of the scores count as 0.

    References
    ----------
    C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine Learning 52,
    2003. https://doi.org/10.1023/A:1024068626366

    Examples
    --------
    >>> from tamis.evaluation.significance import paired_t
    >>> a, b = [0.90, 0.85, 0.88, 0.91, 0.87], [0.86, 0.84, 0.85, 0.86, 0.85]
    >>> round(paired_t(a, b).p_value, 3), round(paired_t(a, b, test_share=1 / 3).p_value, 3)
    (0.013, 0.086)
    """
    who = "paired_t"
    a, b = checks.check_pair(a, b, who)
    if test_share is not None:
        check_value(test_share, SHARE, who=who, name="test_share")
    check_value(confidence, SHARE, who=who, name="confidence")
    difference = checks.differences(a, b)
    mean, degrees = float(difference.mean()), float(a.size - 1)
    overlap = 0.0 if test_share is None else test_share / (1 - test_share)
    error = float(difference.std(ddof=1) * np.sqrt(1 / a.size + overlap))
    if np.ptp(difference) <= checks.tolerance(a, b).max():  # the same number up to rounding
        error = 0.0
    statistic = mean / error if error else float(np.copysign(np.inf, mean)) if mean else 0.0
    p_value = float(2 * stdtr(degrees, -abs(statistic)))
    half = float(stdtrit(degrees, (1 + confidence) / 2)) * error
    return PairedT(statistic, p_value, degrees, mean, error, mean - half, mean + half)


class Wilcoxon(NamedTuple):
    """Result of :func:`wilcoxon`.

    The smaller sum of ranks, the two-sided p-value, both sums, and the number of pairs with a rank.

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
    """Wilcoxon signed-rank test: the paired test that needs no normality.

    The one to use for two methods over many data sets.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Scores of the two methods on the same n >= 2 data sets, in the same order.
    zeros : {"drop", "pratt", "split"}, default="drop"
        Pairs without difference: left out before ranking (Wilcoxon), ranked and then left out
        (Pratt), or half of their ranks given to each side (Demsar 2006).

    Notes
    -----
    Up to 50 ranks the p-value is exact, also with ties, for which scipy has no exact test: all
    patterns of signs are counted. Above, it is the normal approximation of
    :func:`scipy.stats.wilcoxon`. Differences that agree to 1e-12 of the scores are ties. For
    overlapping splits of one data set use :func:`paired_t` with `test_share`.

    References
    ----------
    F. Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin 1, 1945.
    https://doi.org/10.2307/3001968

    Examples
    --------
    >>> from tamis.evaluation.significance import wilcoxon
    >>> wilcoxon([0.9, 0.8, 0.7, 0.9, 0.8, 0.6], [0.7, 0.7, 0.4, 0.5, 0.3, 0.0]).p_value
    0.03125
    """
    check_value(zeros, Choice(tuple(_ZERO_METHODS)), who="wilcoxon", name="zeros")
    a, b = checks.check_pair(a, b, "wilcoxon")
    difference = checks.differences(a, b)
    if not difference.any():
        return Wilcoxon(0.0, 1.0, 0.0, 0.0, 0)
    allowed = checks.tolerance(a, b)
    differs = difference != 0
    if zeros == "drop":
        difference, allowed, differs = difference[differs], allowed[differs], differs[differs]
    ranks = checks.middle_ranks(np.abs(difference), allowed)
    positive, negative = float(ranks[difference > 0].sum()), float(ranks[difference < 0].sum())
    used = ranks[differs]
    if zeros == "split":
        half = float(ranks[~differs].sum()) / 2
        positive, negative, used = positive + half, negative + half, ranks
    smaller = min(positive, negative)
    if used.size <= _EXACT_UP_TO:
        p_value = min(1.0, 2 * _share_at_most(used, smaller))
    else:
        from scipy.stats import wilcoxon as scipy_wilcoxon

        signed = np.sign(difference) * (1.0 + checks.codes(np.abs(difference), allowed))
        found = scipy_wilcoxon(signed, zero_method=_ZERO_METHODS[zeros], method="asymptotic")
        p_value = float(found.pvalue)
    return Wilcoxon(smaller, p_value, positive, negative, used.size)


def _share_at_most(ranks: Floats, limit: float) -> float:
    """Chance that ranks with random signs have a positive sum of `limit` or less."""
    # Middle ranks are whole or half numbers, so doubled ones are positions in an array.
    doubled = np.rint(2 * ranks).astype(int)
    ways = np.zeros(int(doubled.sum()) + 1)
    ways[0] = 1.0
    for rank in doubled:
        ways[rank:] += ways[:-rank]
    return float(ways[: int(np.floor(2 * limit)) + 1].sum() / 2.0**ranks.size)


class BinomialWins(NamedTuple):
    """Result of :func:`binomial_wins`: counts, the chance of a win, and three exact p-values.

    `p_value` is two-sided, `p_at_least` that of at least as many wins, `p_more_than` of more; all
    by :func:`scipy.stats.binomtest`.

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
    """Test whether the number of experiments that a method wins exceeds chance (a sign test).

    Parameters
    ----------
    a : array-like of shape (n,)
        Scores of the method on n >= 2 independent experiments, one per data set.
    b : array-like of shape (n,) or (n, n_rivals)
        Scores of one rival or several; a win means to be better than all of them.
    chance : float, default=None
        Chance of a win if the methods do not differ. ``None`` is 1 / (1 + n_rivals).
    ties : {"drop", "loss"}, default="drop"
        Experiments where a equals the best rival: left out, or counted as not won.
    greater_is_better : bool, default=True
        Whether the larger score wins.

    Notes
    -----
    Section 4.3 of the ILFS paper counts 7 wins in 10 experiments and prints 4.82e-3 as the chance
    of "outperforming more than k times", with a chance of one success that is not printed; 0.35
    gives this number as P(X > 7), so `p_more_than` with ``chance=0.35`` repeats it. Report
    `p_at_least` or `p_value` instead: the observed count belongs to the tail. Ties left out keep
    the test exact against one rival, and conservative against several.

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
    """
    from scipy.stats import binom, binomtest

    who = "binomial_wins"
    check_value(ties, Choice(("drop", "loss")), who=who, name="ties")
    check_value(greater_is_better, YES_NO, who=who, name="greater_is_better")
    a = checks.check_vector(a, who, "a", 2)
    if np.ndim(b) == 2 and np.shape(b)[1] > 1:
        rivals = checks.check_table(b, who, "b")
    else:
        rivals = checks.check_vector(np.ravel(b) if np.ndim(b) == 2 else b, who, "b", 2)[:, None]
    checks.check_same_length(a.size, rivals.shape[0], who)
    chance = 1 / (1 + rivals.shape[1]) if chance is None else chance
    check_value(chance, SHARE, who=who, name="chance")
    best = rivals.max(axis=1) if greater_is_better else rivals.min(axis=1)
    lead = checks.differences(a, best) if greater_is_better else checks.differences(best, a)
    wins, losses = int((lead > 0).sum()), int((lead < 0).sum())
    n_ties = a.size - wins - losses
    trials = wins + losses + (n_ties if ties == "loss" else 0)
    p_values = (1.0, 1.0, 1.0)
    if trials:
        both, above = (
            binomtest(wins, trials, chance, side).pvalue for side in ("two-sided", "greater")
        )
        p_values = float(both), float(above), float(binom.sf(wins, trials, chance))
    return BinomialWins(wins, losses, n_ties, float(chance), *p_values)


def holm(p_values: Any) -> tuple[float, ...]:
    """Adjust p-values by Holm's method, which controls the family-wise error.

    Parameters
    ----------
    p_values : array-like of shape (n_tests,)
        P-values of a family of tests, in any order, which the adjusted ones keep.

    Notes
    -----
    The i-th smallest of m p-values is multiplied by m - i + 1, and none may be below the one
    before it. Needs no independence.

    References
    ----------
    S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
    Statistics 6, 1979.

    Examples
    --------
    >>> from tamis.evaluation.significance import holm
    >>> holm([0.01, 0.04, 0.02])
    (0.03, 0.04, 0.04)
    """
    p = checks.check_vector(p_values, "holm", "p_values", 1)
    if p.min() < 0 or p.max() > 1:
        worst = float(p.min() if p.min() < 0 else p.max())
        raise InputError(
            f"holm: expected p-values between 0 and 1, got {worst!r}. Give p-values, not "
            "statistics or percentages."
        )
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(p.size)
    raised = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    adjusted[order] = np.minimum(raised, 1.0)
    return tuple(adjusted.tolist())
