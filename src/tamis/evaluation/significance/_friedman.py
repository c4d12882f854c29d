"""Many methods on many data sets: Friedman, Nemenyi and the groups that do not differ."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import chdtrc, fdtrc

from tamis._validation import Number, check_value
from tamis.evaluation.significance._scores import (
    ROUNDING,
    SHARE,
    Floats,
    check_flag,
    check_table,
    check_vector,
    middle_ranks,
)


class Friedman(NamedTuple):
    """What :func:`friedman` found.

    Attributes
    ----------
    chi_square, p_chi_square : float
        Friedman's statistic and its p-value.
    f_statistic, p_value : float
        The statistic of Iman and Davenport, which is less conservative, and its p-value.
    average_ranks : tuple of float
        Mean rank of every method, 1 is best.
    n_data : int
        Data sets.

    Examples
    --------
    >>> from tamis.evaluation.significance import friedman
    >>> friedman([[3, 2, 1], [3, 1, 2]]).average_ranks
    (1.0, 2.5, 2.5)
    """

    chi_square: float
    p_chi_square: float
    f_statistic: float
    p_value: float
    average_ranks: tuple[float, ...]
    n_data: int


class Nemenyi(NamedTuple):
    """What :func:`nemenyi` found.

    Attributes
    ----------
    critical_difference : float
        Methods whose average ranks are this far apart, or more, differ.
    average_ranks : tuple of float
        Mean rank of every method, 1 is best.
    p_values : tuple of tuples of float
        One row and one column per method, adjusted for the number of pairs.
    groups : tuple of tuples of int
        From :func:`critical_difference_groups`.

    Examples
    --------
    >>> from tamis.evaluation.significance import nemenyi
    >>> nemenyi([[3, 2, 1], [3, 1, 2]]).groups
    ((0, 1, 2),)
    """

    critical_difference: float
    average_ranks: tuple[float, ...]
    p_values: tuple[tuple[float, ...], ...]
    groups: tuple[tuple[int, ...], ...]


def friedman(table: Any, *, greater_is_better: bool = True, correct_ties: bool = True) -> Friedman:
    """Friedman test: do any of these methods differ, over many data sets.

    Parameters
    ----------
    table : array-like of shape (n_data, n_methods)
        Score of every method on every data set, two at least of each.
    greater_is_better : bool, default=True
        Whether the largest score gets rank 1.
    correct_ties : bool, default=True
        Correct the statistic for ties, as scipy does. ``False`` is the formula that is printed in
        Demsar (2006), which is too small where there are ties.

    Returns
    -------
    Friedman
        Both statistics with p-values, and the average ranks.

    Notes
    -----
    Ties share the mean of their ranks; scores that agree to 1e-12 are ties. With chi-square X of k
    methods on n data sets, F = (n - 1) X / (n (k - 1) - X) with k - 1 and (k - 1)(n - 1)
    degrees of freedom. All methods equal on every data set: statistics 0 and p-values 1. The same
    ranks on every data set: F is infinite. Both laws are approximations, good from about 10 data
    sets and 5 methods on. Rows must be independent: data sets, not splits of one.

    References
    ----------
    J. Demsar, "Statistical comparisons of classifiers over multiple data sets", Journal of
    Machine Learning Research 7, 2006.

    R. L. Iman and J. M. Davenport, "Approximations of the critical region of the Friedman
    statistic", Communications in Statistics 9, 1980. https://doi.org/10.1080/03610928008827904

    Examples
    --------
    >>> from tamis.evaluation.significance import friedman
    >>> result = friedman([[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.9, 0.7, 0.8], [0.7, 0.6, 0.5]])
    >>> result.average_ranks
    (1.0, 2.25, 2.75)
    >>> round(result.chi_square, 2), round(result.p_value, 3)
    (6.5, 0.007)
    """
    check_flag(correct_ties, "friedman", "correct_ties")
    ranks = _ranks(table, greater_is_better, "friedman")
    n, k = ranks.shape
    average = ranks.mean(axis=0)
    middle = (k + 1) / 2
    within = float(((ranks - middle) ** 2).sum()) if correct_ties else n * k * (k * k - 1) / 12
    between = float(((average - middle) ** 2).sum())
    chi_square = n * n * (k - 1) * between / within if within else 0.0
    rest = n * (k - 1) - chi_square
    # All data sets of one mind leave nothing but rounding.
    agreed = rest <= ROUNDING * n * (k - 1)
    f_statistic = float("inf") if agreed else (n - 1) * chi_square / rest
    p_value = 0.0 if agreed else float(fdtrc(k - 1, (k - 1) * (n - 1), f_statistic))
    p_chi_square = float(chdtrc(k - 1, chi_square))
    return Friedman(chi_square, p_chi_square, f_statistic, p_value, tuple(average.tolist()), n)


def nemenyi(table: Any, level: float = 0.05, *, greater_is_better: bool = True) -> Nemenyi:
    """Nemenyi test: which of all pairs of methods differ, over many data sets.

    For use after :func:`friedman` said that some differ.

    Parameters
    ----------
    table : array-like of shape (n_data, n_methods)
        Score of every method on every data set, two at least of each.
    level : float, default=0.05
        Family-wise level of the critical difference.
    greater_is_better : bool, default=True
        Whether the largest score gets rank 1.

    Returns
    -------
    Nemenyi
        Critical difference, average ranks, p-values of all pairs, and groups that do not differ.

    Notes
    -----
    The critical difference is q sqrt(k (k + 1) / (6 n)) with q the quantile of the studentized
    range of k methods with infinitely many degrees of freedom, divided by sqrt(2). Ties are not
    corrected for, which is on the safe side. It is a conservative test: to compare all methods with
    one only, Wilcoxon with :func:`holm` finds more.

    References
    ----------
    J. Demsar, "Statistical comparisons of classifiers over multiple data sets", Journal of
    Machine Learning Research 7, 2006.

    Examples
    --------
    >>> from tamis.evaluation.significance import nemenyi
    >>> result = nemenyi([[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.9, 0.7, 0.8], [0.7, 0.6, 0.5]])
    >>> round(result.critical_difference, 3)
    1.657
    >>> result.groups
    ((0, 1), (1, 2))
    """
    from scipy.stats import studentized_range

    check_value(level, SHARE, who="nemenyi", name="level")
    ranks = _ranks(table, greater_is_better, "nemenyi")
    n, k = ranks.shape
    average = ranks.mean(axis=0)
    unit = np.sqrt(k * (k + 1) / (12 * n))
    difference = float(studentized_range.isf(level, k, np.inf) * unit)
    first, second = np.triu_indices(k, 1)
    apart = np.abs(average[first] - average[second]) / unit
    p_values = np.ones((k, k))
    p_values[first, second] = np.clip(studentized_range.sf(apart, k, np.inf), 0.0, 1.0)
    p_values = np.minimum(p_values, p_values.T)
    return Nemenyi(
        difference,
        tuple(average.tolist()),
        tuple(tuple(row) for row in p_values.tolist()),
        critical_difference_groups(average, difference),
    )


def critical_difference_groups(
    average_ranks: Any, difference: float
) -> tuple[tuple[int, ...], ...]:
    """Maximal groups of methods that do not differ: the bars of a critical-difference diagram.

    Parameters
    ----------
    average_ranks : array-like of shape (n_methods,)
        Mean rank of every method, 1 is best.
    difference : float
        The critical difference; methods that far apart, or more, differ.

    Returns
    -------
    tuple of tuples of int
        Methods by index, best first; groups by their best method. No group is part of another, and
        none has a single method: a method in no group differs from all others.

    Examples
    --------
    >>> from tamis.evaluation.significance import critical_difference_groups
    >>> critical_difference_groups([3.143, 2.000, 2.893, 1.964], 1.12)
    ((3, 1, 2), (2, 0))
    """
    who = "critical_difference_groups"
    ranks = check_vector(average_ranks, who, "average_ranks", 1)
    check_value(difference, Number(float, 0), who=who, name="difference")
    order = np.argsort(ranks, kind="stable")
    # One past the last method that is close enough to each, in the order of their ranks.
    ends = [int(np.sum(ranks - ranks[start] < difference)) for start in order]
    groups = []
    reached = 0
    for start, end in enumerate(ends):
        if end > reached and end - start > 1:
            groups.append(tuple(order[start:end].tolist()))
        reached = max(reached, end)
    return tuple(groups)


def _ranks(table: Any, greater_is_better: bool, who: str) -> Floats:
    """Rank of every method on every data set, 1 is best; ties share the mean of theirs."""
    check_flag(greater_is_better, who, "greater_is_better")
    values = check_table(table, who)
    signed = -values if greater_is_better else values
    return middle_ranks(signed, ROUNDING * np.abs(values))
