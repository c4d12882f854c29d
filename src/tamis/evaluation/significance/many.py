"""Many methods: Friedman, Nemenyi, Holm, and all in one call."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import chdtrc, fdtrc

from tamis._validation import Choice, Number, check_value
from tamis.evaluation.significance.checks import (
    ROUNDING,
    SHARE,
    Floats,
    check_flag,
    check_table,
    check_vector,
    middle_ranks,
)
from tamis.evaluation.significance.pairs import paired_t, wilcoxon
from tamis.exceptions import InputError


def holm(p_values: Any) -> tuple[float, ...]:
    """Adjusted p-values by Holm: reject those below the level, and the family-wise error holds.

    Parameters
    ----------
    p_values : array-like of shape (n_tests,)
        P-values of a family of tests, in any order.

    Returns
    -------
    tuple of float
        Adjusted p-values in the order given, never above 1.

    Notes
    -----
    The i-th smallest of m p-values is multiplied by m - i + 1, and none may be below the one
    before it. Needs no independence, and is never weaker than Bonferroni.

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
    p = check_vector(p_values, "holm", "p_values", 1)
    if p.min() < 0 or p.max() > 1:
        worst = float(p.min() if p.min() < 0 else p.max())
        raise InputError(
            f"holm: expected p-values between 0 and 1, got {worst!r}. Give p-values, not "
            "statistics or percentages."
        )
    order = np.argsort(p, kind="stable")
    raised = np.minimum(np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1)), 1.0)
    adjusted = np.empty(p.size)
    adjusted[order] = raised
    return tuple(adjusted.tolist())


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


class ManyMethods(NamedTuple):
    """What :func:`compare_many` found.

    Attributes
    ----------
    names : tuple of str
        The methods, in the order of the table; so are the next three.
    means, average_ranks : tuple of float
        Mean score and mean rank (1 is best).
    p_values : tuple of float
        Of every method against the best, adjusted for their number; 1 for the best itself.
    best : str
        Method with the best average rank; with `test_share`, with the best mean.
    as_good : tuple of str
        The best and all that are not shown to be worse.
    groups : tuple of tuples of str
        Methods that do not differ among each other, best first.
    friedman : Friedman or None
        The test of all methods together; ``None`` with `test_share`.
    post_hoc : str
        Which test gave the p-values.
    critical_difference : float or None
        Of average ranks; only with Nemenyi.
    level : float
        Level of all decisions.
    n_rows : int
        Data sets, or splits with `test_share`.

    Examples
    --------
    >>> from tamis.evaluation.significance import compare_many
    >>> compare_many([[3, 2, 1], [3, 1, 2]], names=["a", "b", "c"]).best
    'a'
    """

    names: tuple[str, ...]
    means: tuple[float, ...]
    average_ranks: tuple[float, ...]
    p_values: tuple[float, ...]
    best: str
    as_good: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]
    friedman: Friedman | None
    post_hoc: str
    critical_difference: float | None
    level: float
    n_rows: int


def compare_many(
    table: Any,
    names: Any = None,
    *,
    post_hoc: str = "nemenyi",
    test_share: float | None = None,
    level: float = 0.05,
    greater_is_better: bool = True,
) -> ManyMethods:
    """Compare many methods over data sets, or over the splits of one.

    Over data sets: the Friedman test (F of Iman and Davenport), and if it finds a difference, all
    pairs by Nemenyi or all methods against the best by Wilcoxon with Holm. Over splits of one data
    set (`test_share` given): all methods against the best by the corrected paired t test with Holm.

    Parameters
    ----------
    table : array-like or DataFrame of shape (n_rows, n_methods)
        Score of every method on every data set (or split), two at least of each.
    names : sequence of str, default=None
        Names of the methods; ``None`` takes the columns of a DataFrame, else ``"method 0"`` and
        so on.
    post_hoc : {"nemenyi", "wilcoxon"}, default="nemenyi"
        Second step over data sets.
    test_share : float, default=None
        Share of the test rows if the rows of the table are splits of one data set, such as 1/3;
        ``None`` if they are data sets.
    level : float, default=0.05
        Level of all decisions.
    greater_is_better : bool, default=True
        Whether a larger score is better.

    Returns
    -------
    ManyMethods
        Names, ranks, p-values against the best, who is as good as the best, and groups.

    Notes
    -----
    If Friedman finds no difference, nothing is called worse: `as_good` and the one group hold all
    methods, whatever the p-values of the second step. Wilcoxon and t against the best give one
    group only, the methods as good as the best. The best is picked from the same scores, which
    makes the p-values against it somewhat too small; Nemenyi, which counts all pairs, does not
    suffer from this.
    Equal ranks (or means): the first method is the best.

    Examples
    --------
    >>> from tamis.evaluation.significance import compare_many
    >>> scores = {"dft": [9, 8, 7, 9, 6], "inffs": [9, 7, 8, 8, 7], "random": [5, 6, 5, 4, 1]}
    >>> table = list(zip(*scores.values(), strict=True))
    >>> result = compare_many(table, names=list(scores))
    >>> result.best, result.as_good
    ('dft', ('dft', 'inffs'))
    """
    who = "compare_many"
    check_value(post_hoc, Choice(("nemenyi", "wilcoxon")), who=who, name="post_hoc")
    check_value(level, SHARE, who=who, name="level")
    check_flag(greater_is_better, who, "greater_is_better")
    if test_share is not None:
        check_value(test_share, SHARE, who=who, name="test_share")
    values = check_table(table, who)
    names = _check_names(names, table, values.shape[1], who)
    if test_share is not None:
        found = _over_splits(values, test_share, level, greater_is_better)
    else:
        found = _over_data(values, post_hoc, level, greater_is_better)
    return ManyMethods(
        names=names,
        means=tuple(values.mean(axis=0).tolist()),
        average_ranks=friedman(values, greater_is_better=greater_is_better).average_ranks,
        p_values=found.p_values,
        best=names[found.as_good[0]],
        as_good=tuple(names[i] for i in found.as_good),
        groups=tuple(tuple(names[i] for i in group) for group in found.groups),
        friedman=found.friedman,
        post_hoc="corrected t" if test_share is not None else post_hoc,
        critical_difference=found.critical_difference,
        level=float(level),
        n_rows=values.shape[0],
    )


class _Found(NamedTuple):
    """The same by index of the method; the first of `as_good` is the best."""

    p_values: tuple[float, ...]
    as_good: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...]
    friedman: Friedman | None = None
    critical_difference: float | None = None


def _over_splits(values: Floats, test_share: float, level: float, greater: bool) -> _Found:
    means = values.mean(axis=0)
    order = np.argsort(-means if greater else means, kind="stable").tolist()
    p_values = _against(values, order[0], test_share)
    as_good = _not_worse(order, p_values, level)
    return _Found(p_values, as_good, _one_group(as_good))


def _over_data(values: Floats, post_hoc: str, level: float, greater: bool) -> _Found:
    overall = friedman(values, greater_is_better=greater)
    order = np.argsort(overall.average_ranks, kind="stable").tolist()
    # Without a difference among all, no pair may be said to differ.
    is_open = overall.p_value < level
    if post_hoc == "wilcoxon":
        p_values = _against(values, order[0], None)
        as_good = _not_worse(order, p_values, level) if is_open else tuple(order)
        return _Found(p_values, as_good, _one_group(as_good), overall)
    pairs = nemenyi(values, level, greater_is_better=greater)
    p_values = pairs.p_values[order[0]]
    as_good = _not_worse(order, p_values, level) if is_open else tuple(order)
    groups = pairs.groups if is_open else _one_group(as_good)
    return _Found(p_values, as_good, groups, overall, pairs.critical_difference)


def _not_worse(order: list[int], p_values: tuple[float, ...], level: float) -> tuple[int, ...]:
    """The best and all that are not shown to differ from it, best first."""
    return tuple(i for i in order if i == order[0] or p_values[i] > level)


def _one_group(methods: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    return (methods,) if len(methods) > 1 else ()


def _against(values: Floats, best: int, test_share: float | None) -> tuple[float, ...]:
    """Adjusted p-values of all methods against the best."""
    others = [i for i in range(values.shape[1]) if i != best]
    champion = values[:, best]
    if test_share is None:
        raw = [wilcoxon(champion, values[:, i]).p_value for i in others]
    else:
        raw = [paired_t(champion, values[:, i], test_share).p_value for i in others]
    adjusted = dict(zip(others, holm(raw), strict=True))
    return tuple(adjusted.get(i, 1.0) for i in range(values.shape[1]))


def _check_names(names: Any, table: Any, n_methods: int, who: str) -> tuple[str, ...]:
    if names is None:
        names = getattr(table, "columns", None)
    if names is None:
        names = [f"method {i}" for i in range(n_methods)]
    if isinstance(names, str) or len(names) != n_methods:
        raise InputError(
            f"{who}: expected one name for each of {n_methods} methods, got {names!r}. Give the "
            "names in the order of the columns."
        )
    told = tuple(str(name) for name in names)
    if len(set(told)) < n_methods:
        raise InputError(
            f"{who}: expected names that differ, got {', '.join(told)}. Rename the methods."
        )
    return told
