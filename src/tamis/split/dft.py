"""DFT: the discriminant feature test; SplitSelector: the best cut of every column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis._base import BlockSelector, Scores
from tamis._binned import BINS
from tamis._facts import SelectorFacts
from tamis._runtime.threads import run_kernel, split_evenly, threads_for
from tamis._validation import N_JOBS, Constraint, Custom, Number
from tamis.passes.memory import Opened
from tamis.split._beside_fit import BesideClassFitMixin, BesideFitMixin
from tamis.statistics import Bins, ClassHistogram, Ranges
from tamis.statistics.block import Floats
from tamis.statistics.histogram import find_suspects

# Up to this many rows, n log n comes from a table (2 MiB at most).
LARGEST_LOG_TABLE = 2**18


class BestCuts(NamedTuple):
    """Loss and position of the best cuts, and losses without: of observed rows, and of all rows."""

    loss: Floats
    base: Floats
    best: NDArray[np.int64]
    overall: float


class SplitSelector(BesideFitMixin, BlockSelector):
    """Score every column by its single best cut.

    `_by_bin` makes the statistic, `_best_cuts` finds the best cuts in it, and `_losses` all losses
    of one column, and that without a cut.
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_bins": Number(int, low=2, high=1_000_000),
        "bins": BINS,
        "ranges": Custom(
            lambda value: value is None or (hasattr(value, "__len__") and len(value) == 2),
            "None or a pair (low, high) of numbers or arrays",
        ),
        "n_jobs": N_JOBS,
    }
    _passes: ClassVar[tuple[str, ...]] = ("ranges", "cuts")
    _n_stages: ClassVar[int | None] = 2
    _needs_ranges: ClassVar[bool] = True
    _unit: ClassVar[str] = "loss"

    def _statistic(self: Any, table: Opened, first: Ranges) -> Any:
        if self.ranges is not None or self.bins == "quantile":
            return self._by_bin(table, self._other_bins(table))
        return self._by_bin(table, Bins.between(*first.finish(), self.n_bins))

    def _score(self: Any, X: Any, y: Any, weight: Floats | None) -> Scores:
        found = super()._score(X, y, weight)
        if self._suspects.size and self.bins == "uniform":
            self._note_stretched(X, weight)
        return found

    def _finish(self: Any, statistic: Any, constant: NDArray[np.bool_]) -> Floats:
        cuts, bins = self._best_cuts(statistic), statistic.bins
        base = np.where(np.isnan(cuts.base), cuts.overall, cuts.base)
        self.loss_ = np.where(constant, base, cuts.loss)
        self.thresholds_ = np.where(constant, np.nan, bins.cuts()[np.arange(base.size), cuts.best])
        by_bin = self._weight_by_bin(statistic)
        below, self._suspects = np.cumsum(by_bin, axis=1), find_suspects(by_bin)
        self._sides = below[:, -1], below[np.arange(base.size), cuts.best]  # all, and left
        self._class_sizes = getattr(statistic, "class_weight", np.ones(1))
        scores = np.divide(base - self.loss_, base, out=np.zeros_like(base), where=base > 0)
        return np.clip(scores, 0.0, 1.0, out=scores)

    def _run_cuts(self: Any, kernel: Any, arguments: Any, n_columns: int, base: float) -> BestCuts:
        """Best cuts by a kernel, which threads run over blocks of columns of the first argument."""
        found = np.empty(n_columns), np.empty(n_columns), np.empty(n_columns, int)
        threads = threads_for(arguments[0].size, self.n_jobs)

        def work(first: int, last: int) -> None:
            kernel(*arguments, *found, first, last)

        run_kernel(kernel, work, split_evenly(0, n_columns, threads), threads)
        return BestCuts(*found, base)


@dataclass(kw_only=True, eq=False, repr=False)
class DFT(BesideClassFitMixin, SplitSelector):
    """Discriminant feature test: how well one cut of a column separates the classes.

    The range of every column is cut into equal bins. For each border between two bins, the loss is
    the entropy of the classes below and above it, weighted by their sizes; a column's loss is that
    of its best border. Two passes over the rows score all columns, of wide and long tables alike.

    Parameters
    ----------
    n_bins : int, default=16
        Number of bins, so ``n_bins - 1`` candidate cuts per column.
    bins : {"uniform", "quantile"}, default="uniform"
        Bins of equal width, as in the paper, or of equal shares of the rows, which outliers and
        monotone transformations leave alone, and which need a table in memory.
    class_weight : "balanced", dict or None, default=None
        ``"balanced"`` gives every class the same total weight; a dict maps labels to factors.
    ranges : pair (low, high) or None, default=None
        Known ranges of the columns, as numbers or arrays; ``None`` learns them from the data.
    n_features_to_select : "auto", int, float, "elbow", "all" or rule, default="auto"
        The cut; see :mod:`tamis.cutoff`.
    n_jobs : int or None, default=None
        Threads; ``None`` uses all cores. The result does not depend on it.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Share of the target's entropy that the best cut removes, in [0, 1].
    loss_ : ndarray of shape (n_features,)
        Entropy in bits that is left after the best cut.
    thresholds_ : ndarray of shape (n_features,)
        The best cut: values below it go left. NaN for constant columns.
    classes_ : ndarray of shape (n_classes,)
        The labels of the target.
    order_, ranking_, support_, n_selected_, constant_, cut_details_
        As for every selector.

    Notes
    -----
    O(n_samples n_features + n_features n_bins n_classes) time; memory for ``n_features * n_classes
    * (n_bins + 1)`` numbers. Missing values take no part. The paper assumes classes of equal size;
    ``class_weight="balanced"`` restores that for other data.

    References
    ----------
    Yang, Y., Wang, W., Fu, H. and Kuo, C.-C. J. (2022). On supervised feature selection from high
    dimensional feature spaces. APSIPA Transactions on Signal and Information Processing 11(1).
    https://doi.org/10.1561/116.00000016

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamis import DFT
    >>> data = load_iris(as_frame=True)
    >>> selector = DFT(n_features_to_select=2).fit(data.data, data.target)
    >>> selector.get_feature_names_out()
    array(['petal length (cm)', 'petal width (cm)'], dtype=object)
    >>> selector.scores_
    array([0.35, 0.18, 0.58, 0.58])
    """

    n_bins: int = 16
    bins: str = "uniform"
    class_weight: Any = None
    ranges: Any = None
    n_features_to_select: Any = "auto"
    n_jobs: int | None = None

    facts: ClassVar[SelectorFacts] = SelectorFacts(
        summary="Share of the class entropy that the best single threshold removes.",
        tasks=("classification",),
        cost="T n + n B K",
        reference="Yang et al. 2022",
        nonlinear="yes, one threshold",
    )

    _constraints: ClassVar[dict[str, Constraint]] = {
        **SplitSelector._constraints,
        "class_weight": Custom(
            lambda value: value is None or value == "balanced" or isinstance(value, Mapping),
            "'balanced', a dict from labels to weights, or None",
        ),
    }
    _unit: ClassVar[str] = "entropy (bits)"

    def _by_bin(self, table: Opened, bins: Bins) -> ClassHistogram:
        return ClassHistogram.for_table(bins, table.n_classes, table.engine.n_bytes)

    def _best_cuts(self, statistic: ClassHistogram) -> BestCuts:
        table, per_class, whole = self._counts(statistic)
        n_columns, total = table.shape[1], per_class.sum()
        share = per_class[per_class > 0] / total
        overall = float(-(share * np.log2(share)).sum())
        if whole and total <= LARGEST_LOG_TABLE:
            from tamis.split._count_kernels import best_whole_cuts

            n = np.arange(int(total) + 1, dtype=np.float64)
            n[1:] *= np.log2(n[1:])
            return self._run_cuts(best_whole_cuts, (table, self.n_bins, n), n_columns, overall)
        return self._fractional_cuts(table, overall)

    def _weight_by_bin(self, statistic: ClassHistogram) -> Floats:
        return statistic.finish().counts[:, :, : self.n_bins].sum(axis=0)

    def _counts(self, statistic: ClassHistogram) -> tuple[Floats, Floats, bool]:
        """Counts and class sizes, and whether they are whole numbers."""
        if self.class_weight is not None:
            return self._weighted(statistic)
        table, whole = statistic.finish()
        return table, statistic.class_weight, whole
