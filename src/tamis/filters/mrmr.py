"""MRMR: relevant columns that repeat little of those already chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tamis._base import Scores, WeightedSelector
from tamis._facts import BOTH_TASKS, SelectorFacts
from tamis._validation import N_JOBS, Choice, Constraint, Custom
from tamis.cutoff import find_elbows
from tamis.cutoff.counts import most_wanted
from tamis.data.task import TASK
from tamis.filters.pairs import PairStatistics, order_as_scores, pair_statistics, shared_bits
from tamis.statistics.codes import N_BINS, STRATEGY

Floats = NDArray[np.float64]

# A smaller mean redundancy counts as this much in the quotient, which would else have no bound.
LEAST_REDUNDANCY = 1e-3
# Up to this many products all columns are put in order, which takes some hundredths of a second.
QUICK_ORDER = 2e7
# Criteria that differ by no more than this share are equal.
TIE = 1e-11


@dataclass
class MRMRSearch:
    """How far a greedy search is; the attributes change at the end of a step only."""

    # Columns that were chosen, the criterion of all, and their redundancies with the chosen ones.
    order: list[int]
    criterion: Floats
    repeated: Floats


@dataclass(kw_only=True, eq=False, repr=False)
class MRMR(WeightedSelector):
    """Maximum relevance, minimum redundancy: columns that tell much and repeat little.

    The first column is the one most relevant to the target. Each further one has the best balance
    of its relevance against its mean redundancy with the columns chosen before. Good for short
    lists from tables with many redundant columns, such as genes.

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
        What the target is; ``"auto"`` infers it (:func:`tamis.data.infer_task`).
    full_order : bool, default=False
        Order all columns by the search, even if fewer are asked for. Small tables (up to
        2e7 for n_samples n_features^2) are always ordered in full, for it takes no time.
    n_features_to_select : "auto", int, float, "best", "elbow", "all" or rule, default="best"
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
    ``O(n_samples n_features n_ordered_)`` time. Memory: one copy of the table as float64 (sparse
    tables stay sparse) for ``"f"``, one byte per cell for mutual information. The columns behind
    the search follow by their criterion at its end. Equal criteria go to the lower column.

    Missing values: F is over the rows where the cell is known, and in a correlation a missing cell
    is at the mean of its column; in mutual information a row takes part in a pair if both cells are
    known. Weights count as repeated rows.

    Tables larger than memory: one pass for the target and one for the moments; then each pass finds
    the correlations of up to 64 columns with all others, those with the best criterion so far.
    Mutual information takes a pass for ranges (and distinct values, with ``"uniform"``), one for
    the relevance, and further ones for 16 columns each. ``"quantile"`` and ``"mdl"`` read the table
    once more in blocks of whole columns, as many as a third of the memory holds; if not even one
    fits, use ``"uniform"``. A checkpoint keeps the current pass and the results of earlier ones.

    F has no bound and a correlation is at most 1, so in the difference with F redundancy decides
    between nearly equal columns only; the quotient is the better choice. There a mean redundancy
    below 0.001 counts as 0.001. Numeric targets have the F of a straight line, or are put in bins.

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

    measure: str = "f"
    combine: str = "quotient"
    n_bins: int = 5
    strategy: str = "quantile"
    task: str = "auto"
    full_order: bool = False
    n_features_to_select: Any = "best"
    n_jobs: int | None = None

    facts: ClassVar[SelectorFacts] = SelectorFacts(
        summary="Greedy order of maximum relevance and minimum redundancy.",
        tasks=BOTH_TASKS,
        cost="T n m",
        reference="Peng et al. 2005",
        scope="pairs with those selected",
        redundancy="yes",
        nonlinear='measure="mi": yes',
    )

    _streams: ClassVar[bool] = True
    _chooses_count: ClassVar[bool] = True
    _best_is_elbow: ClassVar[bool] = True
    _n_stages_vary: ClassVar[bool] = True
    _constraints: ClassVar[dict[str, Constraint]] = {
        "measure": Choice(("f", "mutual_information")),
        "combine": Choice(("quotient", "difference")),
        "n_bins": N_BINS,
        "strategy": STRATEGY,
        "task": TASK,
        "full_order": Custom(lambda value: isinstance(value, bool | np.bool_), "True or False"),
        "n_jobs": N_JOBS,
    }

    def _score(self, X: Any, y: Any, weight: Floats | None) -> Scores:
        measure = None if self.measure == "f" else shared_bits
        pairs = pair_statistics(self, X, y, weight, self.task, measure)
        n_columns = pairs.constant.size
        self.relevance_, self.criterion_ = np.zeros(n_columns), np.zeros(n_columns)
        relevance = pairs.with_target()
        search = pairs.resume(MRMRSearch([], relevance.copy(), np.zeros(relevance.size)))
        self.best_n_features_ = find_elbows(np.sort(relevance)[::-1])[0]
        self._search(search, relevance, pairs, self._count(pairs.n_rows, relevance.size))
        self.n_ordered_ = len(search.order)
        self.relevance_[pairs.columns] = relevance
        self.criterion_[pairs.columns] = search.criterion
        return order_as_scores(pairs.columns[search.order], self.criterion_, pairs.constant)

    def _count(self, n_rows: int, n_columns: int) -> int:
        """How many columns the search must put in order."""
        rule = self._rule()
        if self.full_order or n_rows * n_columns**2 <= QUICK_ORDER:
            return n_columns
        if rule.who in ("BestCount", "BeyondChance"):
            return self.best_n_features_
        return min(most_wanted(rule, n_columns), n_columns)

    def _search(
        self, search: MRMRSearch, relevance: Floats, pairs: PairStatistics, count: int
    ) -> None:
        """Continue a search until `count` columns are in order."""
        order, criterion, repeated = search.order, search.criterion, search.repeated
        left = np.setdiff1d(np.arange(relevance.size), order)

        def likely() -> NDArray[np.intp]:
            return left[np.argsort(-criterion[left], kind="stable")]

        for _ in self.steps("columns", range(len(order), count), count):
            newest = int(left[self._first_best(criterion[left], relevance[left])])
            left = left[left != newest]
            if left.size:
                repeated[left] += pairs.relations(newest, left, likely)
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
