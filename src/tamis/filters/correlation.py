"""Correlation: size of the linear or rank correlation with the target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tamis._base import BlockSelector, Scores
from tamis._columns import find_constant
from tamis._facts import BOTH_TASKS, SelectorFacts
from tamis._partial_fit import Gathered
from tamis._runtime.threads import effective_jobs, run_parts, split_evenly
from tamis._validation import N_JOBS, Choice, Constraint
from tamis.data.partitioned import check_in_memory
from tamis.data.target import Target
from tamis.data.task import TASK
from tamis.exceptions import InputError
from tamis.passes.memory import Opened
from tamis.statistics import WithRanges
from tamis.statistics.co_moments import CoMomentsResult
from tamis.statistics.correlations import rank_factors
from tamis.statistics.law_of_f import f_p_values
from tamis.statistics.permuted import complete
from tamis.statistics.permuted_sums import (
    PermutedSums,
    class_vectors,
    indicator_vectors,
    value_vector,
)

Floats = NDArray[np.float64]

# Ranks of fewer rows do not follow the law of normal errors closely enough.
FEW_ROWS = 20
# Columns that a thread ranks at a time, and cells at most.
TILE_COLUMNS, TILE_CELLS = 64, 2**20


@dataclass(kw_only=True, eq=False, repr=False)
class Correlation(BlockSelector):
    """Size of the correlation of every column with the target, linear or of ranks.

    The target is numeric, or it is one indicator per class. Pearson's correlation takes one pass
    over the rows; Spearman's sorts the columns, sees any monotone relation and is robust to
    outliers. Each column is judged by itself.

    Parameters
    ----------
    kind : {"pearson", "spearman"}, default="pearson"
        Correlation of values or of ranks; ties share their average rank.
    classes : {"multiple", "max", "mean"}, default="multiple"
        How the correlations with three or more classes become one score: the multiple correlation
        with all indicators together, the largest size, or the mean size over the classes.
    task : {"auto", "classification", "regression"}, default="auto"
        What the target is; ``"auto"`` infers it (:func:`tamis.data.infer_task`).
    n_features_to_select : "auto", int, float, "elbow", "all" or rule, default="auto"
        The cut; see :mod:`tamis.cutoff`.
    n_jobs : int or None, default=None
        Threads; ``None`` uses all cores. The result does not depend on it.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Size of the correlation, in [0, 1].
    correlations_ : ndarray of shape (n_classes, n_features) or (1, n_features)
        Correlations with their sign: with the indicator of each of three or more classes, of the
        second of two classes, or with a numeric target. 0 where column or target never vary.
    classes_ : ndarray of shape (n_classes,)
        The labels of the target, if it holds classes.
    order_, ranking_, support_, n_selected_, constant_, cut_details_
        As for every selector.

    Notes
    -----
    O(n_samples n_features) time in one pass, with memory for about ``8 n_features n_classes``
    numbers beside the data; ranks take O(n_samples log(n_samples) n_features) and tiles of columns.
    An offset of 1e8 deviations leaves nine digits.

    The multiple correlation is that with the best linear combination of the indicators; its square
    is the share of the column's variance (or that of its ranks) that lies between the classes. It
    orders complete columns as the F statistic does. Its value by chance grows with the number of
    classes.

    Missing values take no part: both means, both variances and the ranks of column and target come
    from the rows in which the column is observed. Zeros of a sparse matrix are counted without
    being visited for ``"pearson"``; ranks make tiles of columns dense.

    References
    ----------
    Pearson, K. (1895). Note on regression and inheritance in the case of two parents. Proceedings
    of the Royal Society of London 58, 240-242. https://doi.org/10.1098/rspl.1895.0041

    Spearman, C. (1904). The proof and measurement of association between two things. The American
    Journal of Psychology 15(1), 72-101. https://doi.org/10.2307/1412159

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from tamis import Correlation
    >>> data = load_diabetes(as_frame=True)
    >>> selector = Correlation(n_features_to_select=2, task="regression")
    >>> selector.fit(data.data, data.target).get_feature_names_out()
    array(['bmi', 's5'], dtype=object)
    >>> selector.correlations_[0, :3].round(2)
    array([0.19, 0.04, 0.59])
    """

    kind: str = "pearson"
    classes: str = "multiple"
    task: str = "auto"
    n_features_to_select: Any = "auto"
    n_jobs: int | None = None

    facts: ClassVar[SelectorFacts] = SelectorFacts(
        summary="Absolute Pearson or Spearman correlation with the target.",
        tasks=BOTH_TASKS,
        cost="T n",
        reference="Pearson 1895, Spearman 1904",
        nonlinear="Spearman: monotone",
    )

    _constraints: ClassVar[dict[str, Constraint]] = {
        "kind": Choice(("pearson", "spearman")),
        "classes": Choice(("multiple", "max", "mean")),
        "task": TASK,
        "n_jobs": N_JOBS,
    }

    def _score(self, X: Any, y: Any, weight: Floats | None) -> Scores:
        if self.kind == "pearson":
            return super()._score(X, y, weight)
        check_in_memory(X, type(self).__name__, "kind='spearman'", "kind='pearson'")
        outcome = Target.of(y, self.task, weight, X.shape[0], type(self).__name__)
        self._note_target(outcome)
        constant = find_constant(self, X, weight)
        correlations, multiple, weights = self._rank_correlations(X, outcome, weight, ~constant)
        return self._join(correlations, multiple, weights), constant

    def _finish(self, statistic: WithRanges, constant: NDArray[np.bool_]) -> Floats:
        result, varies = statistic.other.finish(), ~constant
        if isinstance(result, CoMomentsResult):
            self._observed = result.weight[None]
            self.correlations_ = np.where(varies, result.correlation, 0.0)[None, :]
            return np.abs(self.correlations_[0])
        table = result.compare()
        correlations, multiple = indicator_correlations(
            table.weight, table.weight * table.gap, table.between + table.within
        )
        return self._join(np.where(varies, correlations, 0.0), multiple, table.weight)

    def _join(self, correlations: Floats, multiple: Floats, weight: Floats) -> Floats:
        """Keep the correlations and make one score of those with every class."""
        self._observed = weight
        self.correlations_ = correlations if len(correlations) != 2 else correlations[1:]
        size = np.abs(self.correlations_)
        if self.classes == "max" or len(size) == 1:
            return size.max(axis=0)
        if self.classes == "multiple":
            return multiple
        return size.sum(axis=0) / np.maximum((weight > 0).sum(axis=0), 1)

    def _rank_correlations(
        self, X: Any, outcome: Target, weight: Floats | None, varies: NDArray[np.bool_]
    ) -> tuple[Floats, Floats, Floats]:
        """Correlations of ranks, their multiple, and weights; rows are sorted by the target."""
        target: Any = outcome.codes if outcome.is_classes else outcome.values
        weight = np.ones(X.shape[0]) if weight is None else weight
        rows = np.argsort(target, kind="stable")
        rows = rows[weight[rows] > 0]
        weight = weight[rows]
        starts = np.concatenate([[0], np.flatnonzero(np.diff(target[rows])) + 1])
        X = X.tocsc() if sparse.issparse(X) else X
        shape = (max(outcome.n_classes, 1), X.shape[1])
        correlations, weights = np.zeros(shape), np.zeros(shape)
        multiple = np.zeros(X.shape[1])

        def work(columns: NDArray[np.intp]) -> None:
            tile = X[:, columns]
            tile = (tile.toarray() if sparse.issparse(tile) else tile)[rows]
            sums, seen = rank_sums(tile, weight, starts)
            if outcome.is_classes:
                weights[:, columns] = seen.T
                correlations[:, columns], multiple[columns] = indicator_correlations(
                    weights[:, columns], sums.T, np.ones(columns.size)
                )
            else:
                weights[0, columns] = seen.sum(axis=1)
                correlations[0, columns] = correlation_of_ranks(seen, sums)

        chosen = np.flatnonzero(varies)
        width = min(max(TILE_CELLS // X.shape[0], 1), TILE_COLUMNS)
        tiles = [(chosen[a : a + width],) for a in range(0, chosen.size, width)]
        n_threads = effective_jobs(self.n_jobs)
        # The first tile goes alone: it may compile.
        rounds = [tiles[:1], *(tiles[a : a + n_threads] for a in range(1, len(tiles), n_threads))]
        for some in self.steps("ranks", rounds, len(rounds)):
            run_parts(work, some, n_threads)
        return correlations, multiple, weights

    def _may_have_law(self) -> bool:
        return True

    def _law_p_values(self) -> Floats | None:
        n_classes = len(self._observed)
        if np.isnan(self._unit_weight) or (n_classes > 2 and self.classes != "multiple"):
            return None
        rows, share = self._observed.sum(axis=0) / self._unit_weight, self.scores_**2
        between = np.ones(rows.size)
        if n_classes > 1:
            between = (self._observed > 0).sum(axis=0) - 1.0
        return f_p_values(share / np.maximum(1.0 - share, 1e-300), between, rows - between - 1.0)

    def _law_is_rough(self) -> bool:
        # Ranks of few rows have few values.
        few = self._observed.sum(axis=0)[~self.constant_].min() / self._unit_weight < FEW_ROWS
        return self.kind == "spearman" and bool(few)

    def _permuted(self, X: Any, y: Any, weight: Floats | None) -> PermutedSums | None:
        if not complete(X, weight, self.n_jobs):
            return None
        outcome = Target.of(y, self.task_, weight, X.shape[0], type(self).__name__)
        ranked = self.kind == "spearman"
        table = average_ranks(X, self.n_jobs) if ranked else X
        if outcome.values is not None:
            values = average_ranks(outcome.values[:, None])[:, 0] if ranked else outcome.values
            vectors = value_vector(values)
        else:
            assert outcome.codes is not None
            together = self.classes == "multiple" or outcome.n_classes == 2
            vectors = (class_vectors if together else indicator_vectors)(outcome.codes)
        reduce = "length" if self.classes == "multiple" else self.classes
        return PermutedSums(
            X=table, vectors=vectors, constant=self.constant_, reduce=reduce, n_jobs=self.n_jobs
        )

    def _check_block(self, gathered: Gathered, table: Opened) -> None:
        if self.kind == "spearman":
            raise InputError(
                "Correlation: expected kind='pearson' for partial_fit, got 'spearman', whose ranks "
                "need all rows at once. Use fit."
            )


def average_ranks(X: NDArray[Any], n_jobs: int | None = 1) -> Floats:
    """Ranks of the values of every column; ties share their average rank."""
    from scipy.stats import rankdata

    ranks = np.empty(X.shape)

    def work(first: int, last: int) -> None:
        ranks[:, first:last] = rankdata(X[:, first:last], axis=0)

    threads = effective_jobs(n_jobs)
    run_parts(work, split_evenly(0, X.shape[1], -(-X.shape[1] // TILE_COLUMNS)), threads)
    return ranks


def indicator_correlations(weight: Floats, sums: Floats, spread: Floats) -> tuple[Floats, Floats]:
    """Correlation of every column with the indicator of every class, and with all together.

    `sums` of the centred column, ``[class, column]``, and `spread`, the sum of its squares: with
    weights W_k of W, the covariance is sums_k / W, the indicator's variance W_k (W - W_k) / W^2.
    """
    total = weight.sum(axis=0)
    rest = np.maximum(total - weight, 0.0)
    share = np.divide(weight * rest, total, out=np.zeros_like(weight), where=total > 0)
    scale = np.sqrt(share) * np.sqrt(spread)
    r = np.divide(sums, scale, out=np.zeros_like(scale), where=scale > 0)
    # A class without others has sum 0 but for rounding.
    between = np.divide(sums**2, weight, out=np.zeros_like(sums), where=share > 0).sum(axis=0)
    explained = np.divide(between, spread, out=np.zeros_like(spread), where=spread > 0)
    return np.clip(r, -1.0, 1.0), np.sqrt(np.minimum(explained, 1.0))


def rank_sums(tile: NDArray[Any], weight: Floats, starts: NDArray[np.intp]) -> tuple[Any, Any]:
    """Sum of the centred ranks and observed weight, ``[column, group]``, of groups of rows."""
    ranks = rank_factors(tile, weight, np.float64, 1).vectors
    sums = np.add.reduceat(ranks * np.sqrt(weight), starts, axis=1)
    missing = np.isnan(tile.T)
    seen = np.where(missing, 0.0, weight) if missing.any() else weight[None, :]
    return sums, np.add.reduceat(seen, starts, axis=1)


def correlation_of_ranks(seen: Floats, sums: Floats) -> Floats:
    """Correlation with the ranks of the target, whose values are the groups, in order."""
    total = seen.sum(axis=1, keepdims=True)
    centred = np.cumsum(seen, axis=1) - (seen + total) / 2.0
    product = (sums * centred).sum(axis=1)
    scale = np.broadcast_to(np.sqrt((seen * centred**2).sum(axis=1)), product.shape)
    r = np.divide(product, scale, out=np.zeros_like(product), where=scale > 0)
    return np.clip(r, -1.0, 1.0, out=r)
