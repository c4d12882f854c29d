"""FCBF: columns about which no better column says more than they say about the classes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tamis._base import Scores, WeightedSelector
from tamis._facts import SelectorFacts
from tamis._runtime.warning import warn
from tamis._validation import N_JOBS, Constraint, Number
from tamis.cutoff.best_count import BestCount
from tamis.filters.pairs import TIE, PairStatistics, order_as_scores, pair_statistics, rounded
from tamis.statistics.codes import N_BINS, STRATEGY, symmetrical

Floats = NDArray[np.float64]


@dataclass
class FCBFSearch:
    """What is found, and what is left, not yet compared with the last; kept between comparisons."""

    found: list[int]
    left: NDArray[np.intp]


@dataclass(kw_only=True, eq=False, repr=False)
class FCBF(WeightedSelector):
    """Fast correlation-based filter: drops a column if a better one says more about it.

    Columns are compared by symmetrical uncertainty, the information that two share over the mean
    of their entropies. From the column closest to the classes down, a column removes all later
    ones that are at least as close to it as to the classes. What is left, the predominant columns,
    is selected. Good for very wide tables with groups of redundant columns; it finds the number of
    columns by itself.

    Parameters
    ----------
    threshold : float, default=0.0
        Least symmetrical uncertainty with the classes, in [0, 1); columns that share nothing with
        the classes never count as predominant.
    strategy : {"mdl", "quantile", "uniform"}, default="mdl"
        How columns are put into levels: by cuts that tell the classes apart (Fayyad and Irani), in
        bins of equal weight, or of equal width.
    n_bins : int, default=10
        Levels of a column for the latter two; columns with fewer values keep them.
    n_features_to_select : "auto", int, float, "best", "elbow", "all" or rule, default="best"
        The cut; see :mod:`tamis.cutoff`. ``"best"`` keeps the predominant columns.
    n_jobs : int or None, default=None
        Threads; ``None`` uses all cores. The result does not depend on it.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Place in the order, counted from the end: the predominant columns, then the others, both by
        `criterion_`. Others that tie share a score.
    criterion_ : ndarray of shape (n_features,)
        Symmetrical uncertainty with the classes, in [0, 1].
    predominant_ : ndarray of bool of shape (n_features,)
        The columns that no better one removed.
    best_n_features_ : int
        How many they are; 1 if there is none.
    n_levels_ : ndarray of shape (n_features,)
        Levels of every column; 1 where no cut was worth its cost.
    classes_ : ndarray of shape (n_classes,)
        The labels of the target.
    order_, ranking_, support_, n_selected_, constant_, cut_details_
        As for every selector.

    Notes
    -----
    Time ``O(n_samples n_features (log(n_samples) + m))`` for m predominant columns; one byte per
    cell of memory. A row takes part in the uncertainty of a pair if both cells are known. Weights
    count as repeated rows, so that doubling all of them allows more cuts.

    Tables larger than memory are read as by :class:`~tamis.MRMR` with mutual information.

    If no column is predominant, ``"best"`` keeps the first of the order and warns, so that a
    pipeline can go on; in the paper the result is then empty.

    References
    ----------
    Yu, L. and Liu, H. (2004). Efficient feature selection via analysis of relevance and
    redundancy. Journal of Machine Learning Research 5.

    Fayyad, U. M. and Irani, K. B. (1993). Multi-interval discretization of continuous-valued
    attributes for classification learning. IJCAI.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamis import FCBF
    >>> data = load_iris(as_frame=True)
    >>> selector = FCBF().fit(data.data, data.target)
    >>> selector.get_feature_names_out()
    array(['petal length (cm)', 'petal width (cm)'], dtype=object)
    >>> selector.criterion_.round(2)
    array([0.42, 0.25, 0.86, 0.87])
    """

    threshold: float = 0.0
    strategy: str = "mdl"
    n_bins: int = 10
    n_features_to_select: Any = "best"
    n_jobs: int | None = None

    facts: ClassVar[SelectorFacts] = SelectorFacts(
        summary="Symmetrical uncertainty; features redundant to a better one come last.",
        tasks=("classification",),
        cost="T n m",
        reference="Yu and Liu 2004",
        scope="pairs with those kept",
        redundancy="yes",
        nonlinear="yes",
    )

    _streams: ClassVar[bool] = True
    _chooses_count: ClassVar[bool] = True
    _n_stages_vary: ClassVar[bool] = True
    _constraints: ClassVar[dict[str, Constraint]] = {
        "threshold": Number(float, low=0, high=1, open_high=True),
        "strategy": STRATEGY,
        "n_bins": N_BINS,
        "n_jobs": N_JOBS,
    }

    def _score(self, X: Any, y: Any, weight: Floats | None) -> Scores:
        pairs = pair_statistics(self, X, y, weight, "classification", symmetrical)
        columns, constant = pairs.columns, pairs.constant
        self.criterion_ = np.zeros(constant.size)
        relevance = pairs.with_target()
        self.criterion_[columns], self.n_levels_ = relevance, pairs.n_levels
        ranked = np.argsort(-rounded(relevance), kind="stable")
        passing = ranked[relevance[ranked] >= max(self.threshold, TIE)]
        search = pairs.resume(FCBFSearch([], passing))
        self._find_predominant(search, relevance, pairs)
        order = columns[search.found]
        self.predominant_ = np.zeros(constant.size, dtype=bool)
        self.predominant_[order] = True
        self.best_n_features_ = max(order.size, 1)
        if order.size == 0 and isinstance(self._rule(), BestCount):
            warn(
                f"{type(self).__name__}: expected a column with a symmetrical uncertainty of at "
                f"least {max(self.threshold, TIE):g} with the classes, got "
                f"{self.criterion_.max():.3g} at most. The first column of the order is kept; "
                "lower the threshold, or give a number of columns."
            )
        return order_as_scores(order, self.criterion_, constant)

    def _find_predominant(
        self, search: FCBFSearch, relevance: Floats, pairs: PairStatistics
    ) -> None:
        """Find the features that no better one removes, best first."""

        def rounds() -> Iterator[int]:
            while True:
                found, left = search.found, search.left
                if found and left.size:
                    shared = pairs.relations(found[-1], left, left.copy)
                    left = left[shared < relevance[left] - TIE]
                if not left.size:
                    return
                found.append(int(left[0]))
                search.left = left[1:]
                yield found[-1]

        for _ in self.steps("columns", rounds(), search.left.size):
            pass
