"""CFS: a set of columns that agree with the target and not with each other."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis._base import Scores, WeightedSelector
from tamis._facts import BOTH_TASKS, SelectorFacts
from tamis._runtime.warning import warn
from tamis._validation import N_JOBS, Constraint, Custom, Number
from tamis.cutoff.best_count import BestCount
from tamis.data.target import Target
from tamis.data.task import TASK
from tamis.filters.pairs import TIE, CodedMemory, LinearMemory, order_as_scores, rounded
from tamis.statistics.codes import N_BINS, STRATEGY, symmetrical

Floats = NDArray[np.float64]
# Agreement of one column with all others.
AgreementOf = Callable[[int], Floats]


@dataclass(kw_only=True, eq=False, repr=False)
class CFS(WeightedSelector):
    """Correlation-based feature selection: a set that agrees with the target, not with itself.

    The merit of a set grows with the mean agreement of its columns with the target and falls with
    their mean agreement with each other. A best-first search adds one column at a time to the empty
    set. Good for a small set without redundancy; it finds the number of columns by itself.

    Parameters
    ----------
    max_stale : int, default=5
        The search ends after this many sets in a row whose extensions are no better than the best.
    strategy : {"mdl", "quantile", "uniform"}, default="mdl"
        How columns are put into levels where the target is classes: by cuts that tell the classes
        apart (Fayyad and Irani), in bins of equal weight, or of equal width.
    n_bins : int, default=10
        Levels of a column for the latter two; columns with fewer values keep them.
    task : {"auto", "classification", "regression"}, default="auto"
        What the target is; ``"auto"`` infers it (:func:`tamis.data.infer_task`).
    full_order : bool, default=False
        Go on adding the best column to the set until none is left, and order the columns by it.
        Else the columns outside the set follow by the merit that each alone would give to it.
    n_features_to_select : "auto", int, float, "best", "elbow", "all" or rule, default="best"
        The cut; see :mod:`tamis.cutoff`. ``"best"`` keeps the set that was found.
    n_jobs : int or None, default=None
        Threads; ``None`` uses all cores. The result does not depend on it.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Place in the order of entry, counted from the end. Columns behind the search that tie share
        theirs.
    criterion_ : ndarray of shape (n_features,)
        Merit of the set after the column has entered; for columns that did not, with the column
        added to the last set. 0 for columns that do not agree with the target.
    merit_ : float
        Merit of the best set.
    relevance_ : ndarray of shape (n_features,)
        Agreement with the target: symmetrical uncertainty for classes, absolute correlation for
        numbers.
    best_n_features_ : int
        Size of the best set; 1 if no column agrees with the target.
    n_expanded_ : int
        Number of sets whose extensions were all looked at.
    classes_ : ndarray of shape (n_classes,)
        The labels of the target, if it is classes.
    order_, ranking_, support_, n_selected_, constant_, cut_details_
        As for every selector.

    Notes
    -----
    Time ``O(n_samples n_features m + n_features n_expanded_)`` for m columns that entered a set.
    Memory: one byte per cell for classes, a copy of the table for numeric targets, and two numbers
    per column and set expanded. Columns that do not agree with the target at all come last; if none
    does, ``"best"`` keeps the first of the order and warns.

    Columns agree with each other as with the target, see `relevance_`. A row takes part in a pair
    if both cells are known (Hall spreads missing cells over the levels instead); in a correlation a
    missing cell is at the mean of its column. Weights count as repeated rows.

    References
    ----------
    Hall, M. A. (2000). Correlation-based feature selection for discrete and numeric class machine
    learning. ICML.

    Hall, M. A. (1999). Correlation-based feature selection for machine learning. PhD thesis,
    University of Waikato.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamis import CFS
    >>> data = load_iris(as_frame=True)
    >>> selector = CFS().fit(data.data, data.target)
    >>> selector.get_feature_names_out(), round(selector.merit_, 3)
    (array(['petal length (cm)', 'petal width (cm)'], dtype=object), 0.898)
    """

    max_stale: int = 5
    strategy: str = "mdl"
    n_bins: int = 10
    task: str = "auto"
    full_order: bool = False
    n_features_to_select: Any = "best"
    n_jobs: int | None = None

    facts: ClassVar[SelectorFacts] = SelectorFacts(
        summary="Order of a best-first search for a relevant subset without redundancy.",
        tasks=BOTH_TASKS,
        cost="n m (T + B^2)",
        reference="Hall 2000",
        scope="as a subset",
        redundancy="yes",
        nonlinear="class labels: yes",
    )

    _chooses_count: ClassVar[bool] = True
    _n_stages: ClassVar[int | None] = None
    _constraints: ClassVar[dict[str, Constraint]] = {
        "max_stale": Number(int, low=1),
        "strategy": STRATEGY,
        "n_bins": N_BINS,
        "task": TASK,
        "full_order": Custom(lambda value: isinstance(value, bool | np.bool_), "True or False"),
        "n_jobs": N_JOBS,
    }

    def _score(self, X: Any, y: Any, weight: Floats | None) -> Scores:
        target = Target.of(y, self.task, weight, X.shape[0], type(self).__name__)
        self._note_target(target)
        pairs: LinearMemory | CodedMemory
        if target.is_classes:
            pairs = CodedMemory(self, X, target, weight, symmetrical)
        else:
            pairs = LinearMemory(self, X, target, weight)
        constant, varying = pairs.constant, pairs.columns
        self.criterion_, self.relevance_ = np.zeros(constant.size), np.zeros(constant.size)
        if isinstance(pairs, LinearMemory):
            relevance = np.sqrt(pairs.explained()[0])
        else:
            relevance = pairs.with_target()
        self.relevance_[varying] = relevance
        agrees = np.flatnonzero(relevance > TIE)
        search = MeritSearch(
            relevance[agrees], lambda j: pairs.relations(int(agrees[j]), agrees), self.max_stale
        )
        entered, criterion = self._find(search)
        self.merit_ = float(search.best_merit)
        self.best_n_features_ = max(len(search.best.columns), 1)
        if not search.best.columns and isinstance(self._rule(), BestCount):
            warn(
                "CFS: expected a column that agrees with the target, got none in "
                f"{self.relevance_.size}. The first column of the order is kept; try another "
                "strategy, or give a number of columns."
            )
        columns = varying[agrees]
        self.criterion_[columns] = criterion
        return order_as_scores(columns[entered], self.criterion_, constant)

    def _find(self, search: MeritSearch) -> tuple[NDArray[np.intp], Floats]:
        """Columns in their order of entry, and the merit of all."""
        self.n_expanded_ = 0
        unknown: Any = None  # how many sets there will be
        for _ in self.steps("sets", search.expansions(), unknown):
            self.n_expanded_ += 1
        subset = search.best
        if self.full_order:
            left = search.relevance.size - len(subset.columns)
            for _ in self.steps("columns", range(left), left):
                subset = search.enter(subset, int(rounded(search.merits(subset)).argmax()))
        criterion = search.merits(subset)
        criterion[list(subset.columns)] = search.path(subset.columns)
        return np.array(subset.columns, dtype=np.intp), criterion


class Subset(NamedTuple):
    """A set of columns in the order of entry, and sums that its merit is made of."""

    columns: tuple[int, ...]
    with_target: float
    among: float
    load: Floats  # agreement of every column with all members


# Heap of sets that were expanded: minus the merit of the next extension, number of the set, place
# of that extension in the order of extensions, the set, that order, and the merits.
Front = list[tuple[float, int, int, Subset, NDArray[np.intp], Floats]]


class MeritSearch:
    """Best-first search for the set of columns with the highest merit (Hall 1999).

    The merit of k columns is ``k a / sqrt(k + k (k - 1) b)`` with the mean agreement a of a column
    and the target, and b of two columns, which `agreement_of` gives for one column and all.
    """

    def __init__(self, relevance: Floats, agreement_of: AgreementOf, max_stale: int):
        self.relevance, self.agreement_of, self.max_stale = relevance, agreement_of, max_stale
        self.rows: dict[int, Floats] = {}
        self.empty = self.best = Subset((), 0.0, 0.0, np.zeros(relevance.size))
        self.best_merit = 0.0

    def expansions(self) -> Iterator[int]:
        """Expand sets; yields how many expansions were made without a better set."""
        # The best child not yet taken, of every set expanded: the whole front, lazily.
        front: Front = []
        seen: set[frozenset[int]] = set()
        stale, number = 0, 0
        node: Subset | None = self.best
        while node is not None and stale < self.max_stale:
            merits = self.merits(node)
            order = np.argsort(-rounded(merits), kind="stable")[: merits.size - len(node.columns)]
            stale += 1
            if order.size and merits[order[0]] > self.best_merit + TIE:
                self.best, self.best_merit = self.enter(node, int(order[0])), merits[order[0]]
                stale = 0
            if order.size:
                heapq.heappush(front, (-merits[order[0]], number, 0, node, order, merits))
            number += 1
            yield stale
            node = self._next(front, seen)

    def _next(self, front: Front, seen: set[frozenset[int]]) -> Subset | None:
        """The best set that was not expanded yet."""
        while front:
            _, number, place, parent, order, merits = heapq.heappop(front)
            column = int(order[place])
            if place + 1 < order.size:
                after = -merits[order[place + 1]]
                heapq.heappush(front, (after, number, place + 1, parent, order, merits))
            members = frozenset((*parent.columns, column))
            if members not in seen:
                seen.add(members)
                return self.enter(parent, column)
        return None

    def enter(self, subset: Subset, column: int) -> Subset:
        """The set with one more column."""
        if column not in self.rows:
            self.rows[column] = self.agreement_of(column)
        return Subset(
            (*subset.columns, column),
            subset.with_target + self.relevance[column],
            subset.among + subset.load[column],
            subset.load + self.rows[column],
        )

    def merits(self, subset: Subset) -> Floats:
        """Merit of the set with each other column added; -1 for its members."""
        k = len(subset.columns) + 1
        merits = (subset.with_target + self.relevance) / np.sqrt(
            k + 2.0 * (subset.among + subset.load)
        )
        merits[list(subset.columns)] = -1.0
        return merits

    def path(self, columns: tuple[int, ...]) -> Floats:
        """Merit after the entry of each of some columns, in their order."""
        subset, out = self.empty, np.empty(len(columns))
        for place, column in enumerate(columns):
            out[place] = self.merits(subset)[column]
            subset = self.enter(subset, column)
        return out
