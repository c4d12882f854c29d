"""Many methods in one call: is there a difference, who is best, who is as good."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tamis._validation import Choice, check_value
from tamis.evaluation.significance._friedman import Friedman, friedman, nemenyi
from tamis.evaluation.significance._holm import holm
from tamis.evaluation.significance._paired_t import paired_t
from tamis.evaluation.significance._scores import SHARE, Floats, check_flag, check_table
from tamis.evaluation.significance._wilcoxon import wilcoxon
from tamis.exceptions import InputError


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
