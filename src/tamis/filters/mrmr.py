"""MRMR: relevant columns that repeat little of those already chosen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tamis._base import Scores, WeightedSelector
from tamis._columns import find_constant
from tamis._facts import BOTH_TASKS, SelectorFacts
from tamis._validation import N_JOBS, Choice, Constraint, Custom
from tamis.cutoff import find_elbows
from tamis.cutoff._best_count import BestCount
from tamis.cutoff._counts import most_wanted
from tamis.data.target import TASK, Target
from tamis.exceptions import InputError
from tamis.filters._cuts import find_cuts
from tamis.filters._search import order_as_scores
from tamis.filters._source_pairs import CodedPairs, LinearPairs
from tamis.filters._uncertainty import CodedColumns, LinearColumns, code_target
from tamis.passes import PartitionedTable
from tamis.statistics.codes import N_BINS, STRATEGY, code_columns, rows_with_weight

Floats = NDArray[np.float64]
# Redundancy of the columns left with the newest one; the last argument gives those left, the most
# promising first, to those who must think ahead.
Redundancy = Callable[[int, NDArray[np.intp], Callable[[], NDArray[np.intp]]], Floats]

# A smaller mean redundancy counts as this much in the quotient, which would else have no bound.
LEAST_REDUNDANCY = 1e-3
# Up to this many products all columns are put in order, which takes some hundredths of a second.
QUICK_ORDER = 2e7
# Criteria that differ by no more than this share are equal.
TIE = 1e-11


@dataclass
class Search:
    """How far a greedy search is; the attributes change at the end of a step only."""

    # Columns that were chosen, the criterion of all, and their redundancies with the chosen ones.
    order: list[int]
    criterion: Floats
    repeated: Floats

    @classmethod
    def begin(cls, relevance: Floats) -> Search:
        """Nothing was chosen yet."""
        return cls([], relevance.copy(), np.zeros(relevance.size))


class MRMR(WeightedSelector):
    """Maximum relevance, minimum redundancy: columns that tell much and repeat little.

    The first column is the one most relevant to the target. Each further one has the best balance
    of its relevance against its mean redundancy with the columns chosen before. Good for short
    lists from tables with many columns that say the same, such as genes.

    Parameters
    ----------
    measure : {"f", "mutual_information"}, default="f"
        ``"f"``: F statistic for relevance and absolute Pearson correlation for redundancy;
        ``"mutual_information"``: mutual information in bits for both, of columns put in bins.
    combine : {"quotient", "difference"}, default="quotient"
        Relevance over redundancy, or relevance less redundancy. With the measures this gives the
        forms known as FCQ, FCD, MIQ and MID.
    n_bins : int, default=5
        Levels of a column for mutual information; columns with fewer values keep them.
    strategy : {"quantile", "uniform", "mdl"}, default="quantile"
        Bins of equal weight, of equal width, or with cuts that tell the classes apart (Fayyad and
        Irani), which needs classes and has its own number of bins.
    task : {"auto", "classification", "regression"}, default="auto"
        What the target is; ``"auto"`` infers it (:func:`tamis.data.target.infer_task`).
    full_order : bool, default=False
        Order all columns by the search, even if fewer are asked for. Small tables (up to
        2e7 for n_samples n_features^2) are always ordered in full, for it takes no time.
    n_features_to_select : int, float, "best", "elbow", "all" or rule, default="best"
        The cut; see :mod:`tamis.cutoff`. The method has no number of its own; ``"best"`` keeps as
        many columns as stand before the elbow of their relevances.
    n_jobs : int or None, default=None
        Threads; ``None`` uses all cores. The result does not depend on it.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Place in the order, counted from the end; columns behind the search that tie share theirs.
    criterion_ : ndarray of shape (n_features,)
        Relevance against redundancy when the column was chosen; for the others, at the end. For
        the first column it is the relevance. 0 for constant columns.
    relevance_ : ndarray of shape (n_features,)
        F statistic, or bits shared with the target.
    best_n_features_ : int
        Number of columns before the early elbow of the sorted relevances.
    n_ordered_ : int
        Number of columns that the search has put in order.
    classes_ : ndarray of shape (n_classes,)
        The labels of the target, if it is classes.
    order_, ranking_, support_, n_selected_, constant_, cut_details_
        As for every selector.

    Notes
    -----
    ``O(n_samples n_features n_ordered_)`` time: each step compares all columns with the newest one
    only. Memory: one copy of the table as float64 (sparse tables stay sparse) for ``"f"``, one byte
    per cell for mutual information. The columns behind the search follow by their criterion at its
    end. Equal criteria go to the lower column.

    Missing values: F is over the rows where the cell is known, and in a correlation a missing cell
    is at the mean of its column; in mutual information a row takes part in a pair if both cells are
    known. Weights count as repeated rows.

    Tables that are not in memory: a walk for the target and one for the moments; then a walk finds
    the correlations of up to 64 columns with all others, those with the best criterion so far, and
    the next one is made when a column is chosen that was not among them. For mutual information
    there are a walk for ranges (and distinct values, with ``"uniform"``), one for the relevance,
    and 16 columns in each further one. ``"quantile"`` and ``"mdl"`` read the table once more in
    blocks of whole columns, as many as a third of the memory holds, and keep only the cuts; on a
    cluster a block is gathered on one worker. If not even one column fits, use ``"uniform"``. A
    checkpoint keeps the walk at hand, and what the walks before it led to: cuts, relevance, and
    the search with its order and redundancies.

    F has no bound and a correlation is at most 1, so in the difference with F redundancy decides
    between nearly equal columns only; the paper has it so, and the quotient is the better choice.
    In the quotient a mean redundancy below 0.001 counts as 0.001. A column that explains the
    target without error has a large finite F. Numeric targets have the F of a straight line, or
    are put in bins like the columns (the papers have classes only).

    References
    ----------
    Peng, H., Long, F. and Ding, C. (2005). Feature selection based on mutual information: criteria
    of max-dependency, max-relevance, and min-redundancy. IEEE Transactions on Pattern Analysis and
    Machine Intelligence 27(8). https://doi.org/10.1109/TPAMI.2005.159

    Ding, C. and Peng, H. (2005). Minimum redundancy feature selection from microarray gene
    expression data. Journal of Bioinformatics and Computational Biology 3(2).
    https://doi.org/10.1142/S0219720005001004

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from tamis import MRMR
    >>> data = load_breast_cancer(as_frame=True)
    >>> selector = MRMR(n_features_to_select=3).fit(data.data, data.target)
    >>> selector.order_[:3], selector.criterion_[selector.order_[:3]].round(1)
    (array([27, 22,  7]), array([ 964.4, 1100. ,  975.8]))
    """

    facts: ClassVar[SelectorFacts] = SelectorFacts(
        summary="Greedy order of maximum relevance and minimum redundancy.",
        tasks=BOTH_TASKS,
        cost="T n m",
        reference="Peng et al. 2005",
        page="filters",
        scope="pairs with those selected",
        redundancy="yes",
        nonlinear='measure="mi": yes',
    )

    _chooses_count: ClassVar[bool] = True
    _n_stages_vary: ClassVar[bool] = True
    _streams: ClassVar[bool] = True
    _constraints: ClassVar[dict[str, Constraint]] = {
        "measure": Choice(("f", "mutual_information")),
        "combine": Choice(("quotient", "difference")),
        "n_bins": N_BINS,
        "strategy": STRATEGY,
        "task": TASK,
        "full_order": Custom(lambda value: isinstance(value, bool | np.bool_), "True or False"),
        "n_jobs": N_JOBS,
    }

    def __init__(
        self,
        *,
        measure: str = "f",
        combine: str = "quotient",
        n_bins: int = 5,
        strategy: str = "quantile",
        task: str = "auto",
        full_order: bool = False,
        n_features_to_select: Any = "best",
        n_jobs: int | None = None,
    ):
        self.measure = measure
        self.combine = combine
        self.n_bins = n_bins
        self.strategy = strategy
        self.task = task
        self.full_order = full_order
        self.n_features_to_select = n_features_to_select
        self.n_jobs = n_jobs

    def _score(self, X: Any, y: Any, weight: Floats | None) -> Scores:
        if isinstance(X, PartitionedTable):
            return self._score_source(X)
        outcome = Target.of(y, self.task, weight, X.shape[0], type(self).__name__)
        self._note_target(outcome)
        constant = find_constant(self, X, weight)
        columns = np.flatnonzero(~constant)
        if columns.size == 0:
            return self._nothing(constant)
        relevance, redundancy = self._relations(X, columns, outcome, weight)
        search = Search.begin(relevance)
        return self._order(X.shape[0], constant, relevance, redundancy, search)

    def _score_source(self, X: PartitionedTable) -> Scores:
        """Score the columns of a table that is not in memory."""
        pairs: LinearPairs | CodedPairs
        if self.measure == "f":
            opened = self._open_table(X, None, None, self.task)
            self._note_target(opened)
            pairs = LinearPairs(self, opened)
            constant = pairs.constant
        else:
            opened = self._open_table(X, None, None, self.task, self._target_levels)
            self._note_target(opened)
            cuts, constant = find_cuts(self, opened)
            columns = np.flatnonzero(~constant)
            cuts = cuts.take(columns)
            pairs = CodedPairs(self, opened, columns, cuts, lambda shared, left, right: shared)
        if constant.all():
            return self._nothing(constant)
        relevance = pairs.with_target()
        search = pairs.known.follow(Search.begin(relevance), relevance.size)
        return self._order(opened.n_rows, constant, relevance, pairs.relations, search)

    def _note_target(self, target: Any) -> None:
        super()._note_target(target)
        if target.classes is None and self.measure == "mutual_information":
            self._check_strategy()

    def _check_strategy(self) -> None:
        """Raise if the strategy wants classes that are not there."""
        if self.strategy == "mdl":
            raise InputError(
                "MRMR: expected classes for strategy='mdl', got a numeric target. Use "
                "strategy='quantile', or turn the target into classes."
            )

    def _target_levels(self, values: Floats, weight: Floats) -> NDArray[np.int32]:
        """Codes of the distinct values of a numeric target."""
        self._check_strategy()
        outcome = Target(None, None, values)
        codes, _ = code_target(outcome, self.n_bins, self.strategy, weight)
        return codes.astype(np.int32)

    def _nothing(self, constant: NDArray[np.bool_]) -> Scores:
        self.relevance_, self.criterion_ = np.zeros(constant.size), np.zeros(constant.size)
        return np.zeros(constant.size), constant

    def _order(
        self,
        n_rows: int,
        constant: NDArray[np.bool_],
        relevance: Floats,
        redundancy: Redundancy,
        search: Search,
    ) -> Scores:
        """Search, and what it leaves: order, relevance and criterion of all columns."""
        columns = np.flatnonzero(~constant)
        self.relevance_, self.criterion_ = np.zeros(constant.size), np.zeros(constant.size)
        self.best_n_features_ = find_elbows(np.sort(relevance)[::-1])[0]
        self._search(search, relevance, redundancy, self._count(n_rows, columns.size))
        self.n_ordered_ = len(search.order)
        self.relevance_[columns], self.criterion_[columns] = relevance, search.criterion
        return order_as_scores(columns[search.order], self.criterion_, constant)

    def _count(self, n_rows: int, n_columns: int) -> int:
        """How many columns the search must put in order."""
        rule = self._rule()
        if self.full_order or n_rows * n_columns**2 <= QUICK_ORDER:
            return n_columns
        if isinstance(rule, BestCount):
            return self.best_n_features_
        return min(most_wanted(rule, n_columns), n_columns)

    def _relations(
        self, X: Any, columns: NDArray[np.intp], outcome: Target, weight: Floats | None
    ) -> tuple[Floats, Redundancy]:
        """Relevance of the columns that vary, and a function for their redundancy with one."""
        X = X if columns.size == X.shape[1] else X[:, columns]
        known = outcome.codes if outcome.is_classes else outcome.values
        X, known, weight = rows_with_weight(X, known, weight)
        codes, values = (known, None) if outcome.is_classes else (None, known)
        outcome = Target(outcome.classes, codes, values)
        if self.measure == "f":
            linear = LinearColumns(X, weight, self.n_jobs)
            _, relevance = linear.explained(outcome)
            return relevance, lambda newest, left, _: linear.correlations(newest)[left]
        codes = code_columns(
            X, n_bins=self.n_bins, strategy=self.strategy, classes=outcome.codes, weight=weight,
            n_jobs=self.n_jobs,
        )  # fmt: skip
        coded = CodedColumns(codes, weight, self.n_jobs)
        relevance = coded.information(*code_target(outcome, self.n_bins, self.strategy, weight))
        return relevance, lambda newest, left, _: coded.information(*codes.column(newest), left)

    def _search(
        self, search: Search, relevance: Floats, redundancy: Redundancy, count: int
    ) -> None:
        """Go on with a search until `count` columns are in order."""
        order, criterion, repeated = search.order, search.criterion, search.repeated
        left = np.setdiff1d(np.arange(relevance.size), order)
        for _ in self.steps("columns", range(len(order), count), count):
            newest = int(left[self._first_best(criterion[left], relevance[left])])
            left = left[left != newest]
            if left.size:
                likely = partial(_best_first, left, criterion)
                repeated[left] += redundancy(newest, left, likely)
                criterion[left] = self._balance(relevance[left], repeated[left] / (len(order) + 1))
            order.append(newest)

    def _balance(self, relevance: Floats, redundancy: Floats) -> Floats:
        if self.combine == "difference":
            return relevance - redundancy
        return relevance / np.maximum(redundancy, LEAST_REDUNDANCY)

    def _first_best(self, criterion: Floats, relevance: Floats) -> int:
        """First of the columns with the best criterion, up to rounding."""
        best = int(criterion.argmax())
        size = abs(criterion[best])
        if self.combine == "difference":
            size = 1.0 + relevance[best]
        return int((criterion >= criterion[best] - TIE * size).argmax())


def _best_first(columns: NDArray[np.intp], criterion: Floats) -> NDArray[np.intp]:
    """Columns by falling criterion, equal ones in their order."""
    return columns[np.argsort(-criterion[columns], kind="stable")]
