"""Many methods: Friedman, Nemenyi, and all tests in one call."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import chdtrc, fdtrc

from tamis._validation import Choice, Number, check_value
from tamis.evaluation.intervals import RowScores
from tamis.evaluation.significance import checks
from tamis.evaluation.significance.checks import ROUNDING, SHARE, YES_NO, Floats
from tamis.evaluation.significance.pairs import holm, paired_t, wilcoxon
from tamis.exceptions import InputError


class Friedman(NamedTuple):
    """Result of :func:`friedman`: both statistics with p-values, average ranks, data sets.

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


def friedman(table: Any, *, greater_is_better: bool = True, correct_ties: bool = True) -> Friedman:
    """Friedman test: do any of these methods differ, over many data sets.

    Parameters
    ----------
    table : array-like of shape (n_data, n_methods)
        Score of every method on every data set, at least two of each.
    greater_is_better : bool, default=True
        Whether the largest score gets rank 1.
    correct_ties : bool, default=True
        Correct the statistic for ties, as scipy does. ``False`` is the formula printed in Demsar
        (2006), which is too small where there are ties.

    Notes
    -----
    With chi-square X of k methods on n data sets, F = (n - 1) X / (n (k - 1) - X) (Iman and
    Davenport), less conservative, with k - 1 and (k - 1)(n - 1) degrees of freedom. Chi-square is
    that of :func:`scipy.stats.friedmanchisquare`, which needs three methods and has neither F nor
    the uncorrected form. Scores that agree to 1e-12 are ties. Both laws are approximations, good
    from about 10 data sets and 5 methods on. Rows must be independent: data sets, not splits.

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
    >>> round(result.chi_square, 2), round(result.p_value, 3)
    (6.5, 0.007)
    """
    check_value(correct_ties, YES_NO, who="friedman", name="correct_ties")
    ranks = _ranks(table, greater_is_better, "friedman")
    n, k = ranks.shape
    average = ranks.mean(axis=0)
    middle = (k + 1) / 2
    within = float(((ranks - middle) ** 2).sum()) if correct_ties else n * k * (k * k - 1) / 12
    between = float(((average - middle) ** 2).sum())
    chi_square = n * n * (k - 1) * between / within if within else 0.0
    rest = n * (k - 1) - chi_square
    # The same ranks on all data sets leave nothing but rounding.
    agreed = rest <= ROUNDING * n * (k - 1)
    f_statistic = float("inf") if agreed else (n - 1) * chi_square / rest
    p_value = 0.0 if agreed else float(fdtrc(k - 1, (k - 1) * (n - 1), f_statistic))
    p_chi_square = float(chdtrc(k - 1, chi_square))
    return Friedman(chi_square, p_chi_square, f_statistic, p_value, tuple(average.tolist()), n)


class Nemenyi(NamedTuple):
    """Result of :func:`nemenyi`.

    The critical difference, average ranks, adjusted p-values of all pairs, and the groups of
    :func:`critical_difference_groups`.

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


def nemenyi(table: Any, level: float = 0.05, *, greater_is_better: bool = True) -> Nemenyi:
    """Nemenyi test: which of all pairs of methods differ, over many data sets.

    For use after :func:`friedman` found a difference.

    Parameters
    ----------
    table : array-like of shape (n_data, n_methods)
        Score of every method on every data set, at least two of each.
    level : float, default=0.05
        Family-wise level of the critical difference.
    greater_is_better : bool, default=True
        Whether the largest score gets rank 1.

    Notes
    -----
    The critical difference is q sqrt(k (k + 1) / (6 n)) with q the quantile of the studentized
    range of k methods with infinitely many degrees of freedom, divided by sqrt(2). It is
    conservative: to compare all methods with one only, Wilcoxon with :func:`holm` finds more.

    References
    ----------
    J. Demsar, "Statistical comparisons of classifiers over multiple data sets", Journal of
    Machine Learning Research 7, 2006.

    Examples
    --------
    >>> from tamis.evaluation.significance import nemenyi
    >>> result = nemenyi([[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.9, 0.7, 0.8], [0.7, 0.6, 0.5]])
    >>> round(result.critical_difference, 3), result.groups
    (1.657, ((0, 1), (1, 2)))
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
        Methods by index, best first. No group is part of another or has a single method.

    Examples
    --------
    >>> from tamis.evaluation.significance import critical_difference_groups
    >>> critical_difference_groups([3.143, 2.000, 2.893, 1.964], 1.12)
    ((3, 1, 2), (2, 0))
    """
    who = "critical_difference_groups"
    ranks = checks.check_vector(average_ranks, who, "average_ranks", 1)
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
    check_value(greater_is_better, YES_NO, who=who, name="greater_is_better")
    values = checks.check_table(table, who)
    signed = -values if greater_is_better else values
    return checks.middle_ranks(signed, ROUNDING * np.abs(values))


class ManyMethods(NamedTuple):
    """Result of :func:`compare_many`.

    Attributes
    ----------
    names, means, average_ranks, p_values : tuple
        By method, in the order of the table; p-values against the best, adjusted for their number.
    best : str
        Method with the best average rank; with `test_share`, with the best mean.
    as_good : tuple of str
        The best and all that are not significantly worse.
    groups : tuple of tuples of str
        Methods that are not significantly different from each other, best first.
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

    Over data sets: the Friedman test, and if it finds a difference, all pairs by Nemenyi or all
    methods against the best by Wilcoxon with Holm. Over splits of one data set (`test_share`
    given): all methods against the best by the corrected paired t test, at the level of the largest
    difference among all pairs (Tukey's studentized range).

    Parameters
    ----------
    table : array-like or DataFrame of shape (n_rows, n_methods)
        Score of every method on every data set (or split), at least two of each.
    names : sequence of str, default=None
        Names of the methods; ``None`` takes the columns of a DataFrame, or ``"method 0"`` etc.
    post_hoc : {"nemenyi", "wilcoxon"}, default="nemenyi"
        Second step over data sets.
    test_share : float, default=None
        Share of the test rows if the rows of the table are splits of one data set, such as 1/3;
        ``None`` if they are data sets.
    level : float, default=0.05
        Level of all decisions.
    greater_is_better : bool, default=True
        Whether a larger score is better.

    Notes
    -----
    If Friedman finds no difference, `as_good` and the one group hold all methods. Wilcoxon and t
    give one group only, the methods as good as the best. The best is picked from the same scores:
    Nemenyi and the corrected t test account for it, Wilcoxon's p-values are somewhat too small. Of
    methods with equal ranks (or means), the first is the best.

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
    check_value(greater_is_better, YES_NO, who=who, name="greater_is_better")
    if test_share is not None:
        check_value(test_share, SHARE, who=who, name="test_share")
    values = checks.check_table(table, who)
    names = _check_names(names, table, values.shape[1], who)
    overall, means = friedman(values, greater_is_better=greater_is_better), values.mean(axis=0)
    place = overall.average_ranks
    if test_share is not None:
        place = -means if greater_is_better else means
    order = np.argsort(place, kind="stable").tolist()
    # Without a difference among all data sets, no pair may be said to differ.
    is_open = test_share is not None or overall.p_value < level
    pairs = None
    if test_share is None and post_hoc == "nemenyi":
        pairs = nemenyi(values, level, greater_is_better=greater_is_better)
    p_values = pairs.p_values[order[0]] if pairs else _against(values, order[0], test_share)
    as_good = [i for i in order if i == order[0] or p_values[i] > level or not is_open]
    groups = [as_good] if len(as_good) > 1 else []
    if pairs is not None and is_open:
        groups = [list(group) for group in pairs.groups]
    return ManyMethods(
        names=names,
        means=tuple(means.tolist()),
        average_ranks=overall.average_ranks,
        p_values=p_values,
        best=names[order[0]],
        as_good=tuple(names[i] for i in as_good),
        groups=tuple(tuple(names[i] for i in group) for group in groups),
        friedman=None if test_share is not None else overall,
        post_hoc="corrected t" if test_share is not None else post_hoc,
        critical_difference=None if pairs is None else pairs.critical_difference,
        level=float(level),
        n_rows=values.shape[0],
    )


def compare_rows(
    rows: RowScores, table: Any, names: Any, *, level: float = 0.05, greater_is_better: bool = True
) -> ManyMethods:
    """Compare many methods on one data set by what its rows contributed to their scores.

    Every method against the best by a paired t test over rows, at the level of the largest
    difference among all pairs: that the best was picked by the same scores is accounted for.

    Parameters
    ----------
    rows : RowScores
        One procedure per method; see ``tamis.evaluation.intervals.gather``.
    table : array-like of shape (n_splits, n_methods)
        The scores of the splits, for the average ranks.
    names : sequence of str
        Names of the methods.
    level : float, default=0.05
        Chance that any two of equally good methods are told apart.
    greater_is_better : bool, default=True
        Whether a larger score is better.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.evaluation.intervals import gather
    >>> from tamis.evaluation.significance import compare_rows
    >>> right = np.random.default_rng(0).random((200, 3)) < [0.9, 0.88, 0.6]
    >>> parts = [(fold, right[fold]) for fold in np.arange(200).reshape(10, 20)]
    >>> table = [right[fold].mean(axis=0) for fold, _ in parts]
    >>> compare_rows(gather(parts, 200), table, ["a", "b", "c"]).as_good
    ('a', 'b')
    """
    check_value(level, SHARE, who="compare_rows", name="level")
    values = checks.check_table(table, "compare_rows")
    names = _check_names(names, table, values.shape[1], "compare_rows")
    signed = rows.scores if greater_is_better else -rows.scores
    order = np.argsort(-signed, kind="stable").tolist()
    pairs = [rows.difference(order[0], i) for i in range(len(names))]
    statistics = [
        abs(pair.mean) / pair.standard_error if pair.standard_error else 0.0 for pair in pairs
    ]
    p_values = tuple(
        1.0 if i == order[0] else _largest_of_pairs(statistic, len(names), pair.degrees)
        for i, (statistic, pair) in enumerate(zip(statistics, pairs, strict=True))
    )
    as_good = tuple(names[i] for i in order if i == order[0] or p_values[i] > level)
    return ManyMethods(
        names=names,
        means=tuple(rows.scores.tolist()),
        average_ranks=friedman(values, greater_is_better=greater_is_better).average_ranks,
        p_values=p_values,
        best=names[order[0]],
        as_good=as_good,
        groups=(as_good,) if len(as_good) > 1 else (),
        friedman=None,
        post_hoc="t over rows",
        critical_difference=None,
        level=float(level),
        n_rows=values.shape[0],
    )


def _largest_of_pairs(statistic: float, n_methods: int, degrees: float) -> float:
    """Chance of so large a t among all pairs of equal methods: Tukey's studentized range."""
    from scipy.stats import studentized_range

    if not np.isfinite(statistic):
        return 0.0
    found = studentized_range.sf(statistic * np.sqrt(2.0), n_methods, degrees)
    return float(np.clip(found, 0.0, 1.0))


def _against(values: Floats, best: int, test_share: float | None) -> tuple[float, ...]:
    """Adjusted p-values of all methods against the best, by Wilcoxon or the corrected t test."""
    others = [i for i in range(values.shape[1]) if i != best]
    if test_share is None:
        adjusted = list(holm([wilcoxon(values[:, best], values[:, i]).p_value for i in others]))
    else:
        tests = [paired_t(values[:, best], values[:, i], test_share) for i in others]
        n = values.shape[1]
        adjusted = [_largest_of_pairs(abs(test.statistic), n, test.degrees) for test in tests]
    found = dict(zip(others, adjusted, strict=True))
    return tuple(found.get(i, 1.0) for i in range(values.shape[1]))


def _check_names(names: Any, table: Any, n_methods: int, who: str) -> tuple[str, ...]:
    if names is None:
        names = getattr(table, "columns", [f"method {i}" for i in range(n_methods)])
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
