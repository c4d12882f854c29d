"""Consensus: columns that several methods, or several draws of rows, agree upon."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import has_fit_parameter

from tamis._base import BaseSelector, Scores, WeightedSelector
from tamis._columns import find_constant
from tamis._facts import BOTH_TASKS, SelectorFacts
from tamis._rows import listed_rows
from tamis._runtime.callbacks import report_to
from tamis._runtime.seeds import draw_seed
from tamis._validation import N_JOBS, Choice, Constraint, Custom, Number
from tamis.consensus import aggregation
from tamis.cutoff.rule import CutRule
from tamis.data import checks
from tamis.data.target import Target
from tamis.data.task import TASK
from tamis.exceptions import InputError, SelectionWarning
from tamis.selectors import make_selector, selector_info

Floats = NDArray[np.float64]
# Ranks of the columns in one list, and which of them the method selects.
List = tuple[Floats, NDArray[np.bool_]]
DEFAULT = ("anovaf", "mutualinformation", "mrmr")
# Scores nearer than this, relative to themselves and to the largest, are equal but for rounding.
OWN_ROUNDING, COMMON_ROUNDING = 1e-10, 1e-14


def _listed_selectors(selectors: Any) -> list[tuple[str | None, Any]]:
    """Names, where the user gave them, and selectors."""
    if isinstance(selectors, str):
        selectors = [word.strip() for word in selectors.split(",")]
    if isinstance(selectors, BaseSelector):
        selectors = [selectors]
    if isinstance(selectors, Mapping):
        return [(str(name), item) for name, item in selectors.items()]
    return [(None, item) for item in selectors] if isinstance(selectors, list | tuple) else []


def _are_selectors(value: Any) -> bool:
    """Whether these are names or selectors, and at least one."""
    items = _listed_selectors(value)
    return bool(items) and all(isinstance(item, str | BaseSelector) for _, item in items)


@dataclass(kw_only=True, eq=False, repr=False)
class Consensus(WeightedSelector):
    """One ranking out of many: of several methods, of several draws of the rows, or of both.

    A column that is far ahead in many lists owes it neither to one method nor to chance.

    Parameters
    ----------
    selectors : sequence, mapping or str, default=("anovaf", "mutualinformation", "mrmr")
        The methods: names from :func:`tamis.list_selectors` (also as one string with commas) or
        unfitted selectors; a mapping gives them names of your own.
    n_resamples : int, default=0
        Draws of rows; every method is used once on each. 0 uses every method once, on all rows.
    subsample : float, default=0.5
        Share of the rows in a draw, without replacement; the same share of every class.
    aggregation : {"borda", "median", "rra"}, default="borda"
        How lists become one: :func:`~tamis.consensus.borda`,
        :func:`~tamis.consensus.median_rank` or
        :func:`~tamis.consensus.robust_rank_aggregation`, where a few lists may be far off.
    task : {"auto", "classification", "regression"}, default="auto"
        What the target is; ``"auto"`` infers it (:func:`tamis.data.infer_task`). Methods that
        support both tasks are set to it.
    random_state : int, RandomState or None, default=None
        Seed of the draws, and of methods that have no seed of their own.
    n_features_to_select : "auto", "best", int, float, "elbow", "all" or rule, default="best"
        ``"best"`` takes as many columns as the methods select by their own cuts, the median over
        the lists; anything else cuts as usual, see :mod:`tamis.cutoff`. Shares of columns beaten
        fall in nearly a straight line, so they seldom have an elbow; those of ``"rra"`` do.
    n_jobs : int or None, default=None
        Threads of methods without a number; ``None`` uses all cores. It changes no result.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Share of columns beaten, from 0 to 1; with ``"rra"`` minus the decimal logarithm of the
        p-value, negative where the uncut p-value exceeds 1.
    rankings_ : ndarray of shape (n_lists, n_features)
        Rank of every column in every list, 1 for the best; ties have their mean rank.
    list_names_ : list of str
        The method of every list, and the number of the draw.
    agreement_ : float
        Mean Spearman correlation over all pairs of lists; NaN if there is one list only.
    selection_frequency_ : ndarray of shape (n_features,)
        Share of the lists whose method selects the column, by its own cut.
    best_n_features_ : int
        Median number of columns that the methods select, rounded down, at least 1.
    pvalues_ : ndarray of shape (n_features,)
        Only with ``"rra"``; for independent lists, which lists of the same rows are not.
    classes_ : ndarray of shape (n_classes,)
        The labels of the target, only for classes.
    order_, ranking_, support_, n_selected_, constant_, cut_details_
        As for every selector.

    Notes
    -----
    Costs what the methods and their cuts cost, one after the other. Methods that search for an
    order put as many columns in order as they would by themselves, so give
    ``MRMR(n_features_to_select=500)`` where the best 500 should be searched for.

    Missing values are left to the methods. Scores of a method that differ by rounding only count as
    ties. Constant columns are last in every list.

    Rows are drawn from an order by content, so that the order they come in does not matter, and a
    row of weight 2 is drawn like two rows; other weights are passed on. Weights need methods that
    take them, all of them. At least two rows of every class are drawn, where there are two.

    The p-values of ``"rra"`` suppose independent lists, which these are not: a small one means
    that the lists agree, not that the column matters. Ranks are relative, and of a permuted target
    some column is the best as well, so cutoffs that permute the target, such as
    :class:`~tamis.cutoff.PermutationNull`, are refused here; use them with one method.

    References
    ----------
    Kolde, R., Laur, S., Adler, P. and Vilo, J. (2012). Robust rank aggregation for gene list
    integration and meta-analysis. Bioinformatics 28, 573-580.
    https://doi.org/10.1093/bioinformatics/btr709

    Saeys, Y., Abeel, T. and Van de Peer, Y. (2008). Robust feature selection using ensemble feature
    selection techniques. ECML PKDD 2008, 313-325. https://doi.org/10.1007/978-3-540-87481-2_21

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamis import Consensus
    >>> data = load_iris(as_frame=True)
    >>> selector = Consensus(selectors=["dft", "relieff"], n_features_to_select=2)
    >>> selector.fit(data.data, data.target).get_feature_names_out()
    array(['petal length (cm)', 'petal width (cm)'], dtype=object)
    >>> selector.list_names_, round(selector.agreement_, 2)
    (['dft', 'relieff'], 1.0)
    """

    selectors: Any = DEFAULT
    n_resamples: int = 0
    subsample: float = 0.5
    aggregation: str = "borda"
    task: str = "auto"
    random_state: Any = None
    n_features_to_select: Any = "best"
    n_jobs: int | None = None

    facts: ClassVar[SelectorFacts] = SelectorFacts(
        summary="Aggregated rank over several methods, or over one method on resampled rows.",
        tasks=BOTH_TASKS,
        cost="sum of the methods",
        reference="Borda 1781, Kolde et al. 2012",
        scope="depends on the methods",
        redundancy="depends on the methods",
        nonlinear="depends on the methods",
        scaling="depends on the methods",
    )

    _constraints: ClassVar[dict[str, Constraint]] = {
        "selectors": Custom(
            _are_selectors, "names of selectors such as ('dft', 'relieff'), or unfitted selectors"
        ),
        "n_resamples": Number(int, low=0),
        "subsample": Number(float, low=0, high=1, open_low=True),
        "aggregation": Choice(("borda", "median", "rra")),
        "task": TASK,
        "n_jobs": N_JOBS,
    }
    _chooses_count: ClassVar[bool] = True

    def _as_rule(self, value: Any, name: str) -> CutRule:
        rule = super()._as_rule(value, name)
        if hasattr(rule, "n_permutations"):
            raise InputError(
                f"Consensus: {name} must be a cutoff that does not permute the target, got "
                f"{rule!r}. Ranks are relative: of a permuted target, some feature is ahead as "
                "well. Test with one of the selectors, or use StabilitySelection or Shadows."
            )
        return rule

    def _score(self, X: Any, y: Any, weight: Floats | None) -> Scores:
        members = _make_members(self)
        outcome = self._outcome(members, X, y, weight)
        constant = find_constant(self, X, weight)
        if constant.all():
            return np.zeros(constant.size), constant
        self.list_names_: list[str] = []
        lists: list[List] = []
        total = len(members) * max(self.n_resamples, 1)
        work = self._work(members, outcome, X, weight)
        try:
            for name, member, rows, share in self.steps("lists", work, total):
                try:
                    lists.append(self._list(member, outcome, X, rows, share))
                except InputError as error:
                    raise type(error)(f"Consensus: no list of {name!r}: {error}") from error
                self.list_names_.append(name)
        except KeyboardInterrupt:
            if lists:
                scores = self._aggregate(lists, constant)
                self._keep_unfinished(scores, constant, f"after {len(lists)} of {total} lists")
            raise
        return self._aggregate(lists, constant), constant

    def _outcome(
        self, members: dict[str, Any], X: Any, y: Any, weight: Floats | None
    ) -> Target | None:
        """The target, which every method must be able to use; None if no method looks at it."""
        who, n_rows = type(self).__name__, X.shape[0]
        if n_rows < 2:
            raise InputError(
                f"{who}: expected at least 2 rows, got {n_rows} (n_samples={n_rows}). Pass more "
                "rows."
            )
        if not any(map(_is_supervised, members.values())):
            return None
        outcome = Target.of(y, self.task, weight, n_rows, who)
        for name, member in members.items():
            _set_task(name, member, outcome.task)
        self._note_target(outcome)
        return outcome

    def _work(
        self, members: dict[str, Any], outcome: Target | None, X: Any, weight: Floats | None
    ) -> Iterator[tuple[str, Any, Any, Floats | None]]:
        """Every list to be made: its name, the selector, the rows (None for all) and weights."""
        random = check_random_state(self.random_state)
        if self.n_resamples:
            target = np.zeros(X.shape[0]) if outcome is None else _numbers(outcome)
            listed, weight = listed_rows(X, target, weight)
            strata = _strata(outcome, listed)
        for name, member in members.items():
            if weight is not None and not has_fit_parameter(member, "sample_weight"):
                raise InputError(
                    f"Consensus: expected selectors that take sample_weight, got {name!r}, which "
                    "does not. Leave it out, or fit without weights."
                )
        for number in range(max(self.n_resamples, 1)):
            draw, rows, share = "", None, weight
            if self.n_resamples:
                drawn = self._draw(strata, random)
                draw, rows = f", draw {number + 1}", listed[drawn]
                share = None if weight is None else weight[drawn]
            for name, member in members.items():
                yield f"{name}{draw}", _seeded(member, random), rows, share

    def _draw(self, strata: list[NDArray[np.intp]], random: Any) -> NDArray[np.intp]:
        """Part of every stratum, without replacement, in the order of the rows."""
        drawn = []
        for stratum in strata:
            share = int(np.ceil(self.subsample * stratum.size - 1e-9))
            drawn.append(random.permutation(stratum)[: max(share, min(2, stratum.size))])
        return np.sort(np.concatenate(drawn))

    def _list(
        self, member: Any, outcome: Target | None, X: Any, rows: Any, weight: Floats | None
    ) -> List:
        """Ranks of all columns by one method on some rows, and its choice."""
        y = None
        if outcome is not None:  # as the user gave it: some methods have parameters naming classes
            y = _numbers(outcome) if outcome.classes is None else outcome.classes[outcome.codes]
        if rows is not None:
            X, y = X[rows], None if y is None else y[rows]
        options = {} if weight is None else {"sample_weight": weight}
        with warnings.catch_warnings():
            # A cut that finds no elbow, or selects nothing, is one voice among many.
            warnings.filterwarnings("ignore", f"{member._rule().who}:", SelectionWarning)
            member.fit(X, y, **options)
        ranks = aggregation.as_ranks([-_without_rounding(member.scores_)], type(self).__name__)[0]
        return ranks, member.support_

    def _aggregate(self, lists: list[List], constant: NDArray[np.bool_]) -> Floats:
        self.rankings_ = np.array([ranks for ranks, _ in lists])
        chosen = np.array([support for _, support in lists])
        self.selection_frequency_ = chosen.mean(axis=0)
        self.best_n_features_ = max(1, int(np.median(chosen.sum(axis=1))))
        self.agreement_ = aggregation.mean_agreement(self.rankings_)
        if self.aggregation == "rra":
            scores, self.pvalues_ = aggregation.robust_rank_aggregation(self.rankings_)
        else:
            rule = aggregation.borda if self.aggregation == "borda" else aggregation.median_rank
            scores = rule(self.rankings_)
        scores[constant] = scores.min()
        return scores

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            members = _make_members(self)
        except (InputError, TypeError, AttributeError):  # said better when it is fitted
            return tags
        tags.target_tags.required = any(map(_is_supervised, members.values()))
        return tags


def _make_members(consensus: Consensus) -> dict[str, Any]:
    """Unfitted copies of the selectors by name; a name that comes twice gets a number."""
    members: dict[str, Any] = {}
    for given, item in _listed_selectors(consensus.selectors):
        copy = _made(item) if isinstance(item, str) else report_to(clone(item))
        name = unique = given or type(copy).__name__.lower()
        number = 1
        while unique in members:
            number += 1
            unique = f"{name} {number}"
        if copy.get_params(deep=False).get("n_jobs", 0) is None:
            copy.set_params(n_jobs=consensus.n_jobs)
        if _is_auto(copy):  # what is beyond chance is tested once, for the consensus
            copy.set_params(n_features_to_select="best" if copy._chooses_count else "elbow")
        copy._names_told = checks.names_of(consensus)
        members[unique] = copy
    return members


def _is_auto(selector: Any) -> bool:
    value = selector.get_params(deep=False).get("n_features_to_select")
    return isinstance(value, str) and value == "auto"


def _made(name: str) -> Any:
    try:
        return make_selector(name)
    except InputError as error:
        raise InputError(str(error).replace("make_selector", "Consensus: selectors", 1)) from error


def _is_supervised(selector: Any) -> bool:
    return bool(selector.__sklearn_tags__().target_tags.required)


def _set_task(name: str, member: Any, task: str) -> None:
    """Tell a method what the target is; raise for one that cannot use such a target."""
    try:
        tasks = selector_info(type(member).__name__.lower()).tasks
    except InputError:  # a class of the user's own, which speaks for itself
        tasks = (task,)
    if task not in tasks and _is_supervised(member):
        kind = "classes" if task == "classification" else "numbers"
        raise InputError(
            f"Consensus: expected selectors for a target of {kind}, got {name!r}, which is for "
            f"{' and '.join(tasks)}. Leave it out, or set task={tasks[0]!r} if that is what the "
            "target is."
        )
    if member.get_params(deep=False).get("task") == "auto":
        member.set_params(task=task)


def _seeded(member: Any, random: Any) -> Any:
    """A copy with a seed, if it wants one and has none."""
    copy = clone(member)
    copy._names_told = member._names_told
    if copy.get_params(deep=False).get("random_state", 0) is None:
        copy.set_params(random_state=draw_seed(random))
    return copy


def _numbers(outcome: Target) -> NDArray[Any]:
    target = outcome.values if outcome.codes is None else outcome.codes
    assert target is not None
    return target


def _strata(outcome: Target | None, listed: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Positions of the rows of every class, classes as they come, so names do not matter."""
    if outcome is None or outcome.codes is None:
        return [np.arange(listed.size)]
    codes = outcome.codes[listed]
    _, first = np.unique(codes, return_index=True)
    return [np.flatnonzero(codes == codes[j]) for j in np.sort(first)]


def _without_rounding(scores: Floats) -> Floats:
    """Scores that differ by rounding made equal, so that no tie is broken by it."""
    order = np.argsort(scores, kind="stable")
    ordered = scores[order]
    largest = np.abs(ordered).max()
    size = np.maximum(np.abs(ordered[1:]), np.abs(ordered[:-1]))
    apart = np.diff(ordered) > OWN_ROUNDING * size + COMMON_ROUNDING * largest
    out = np.empty(scores.size)
    out[order] = np.concatenate([[0], np.cumsum(apart)])
    return out
