"""What DFT and RFT do beside a plain fit.

Given ranges and class weights, ranges and rows block by block, and the loss of every cut.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from tamis._binned import BinnedMixin
from tamis.cutoff.groups import resolve
from tamis.data import checks
from tamis.data.target import Target
from tamis.data.values import check_weight
from tamis.exceptions import InputError
from tamis.passes import MemoryEngine, run_pass
from tamis.passes.memory import Opened, open_table
from tamis.statistics import Bins, ClassHistogram
from tamis.statistics.block import Floats, RangesResult
from tamis.statistics.law_of_f import f_p_values
from tamis.statistics.laws import FEW_ROWS, g_p_values
from tamis.statistics.permuted import PermutedScores, complete
from tamis.statistics.permuted_counts import MOST_BINS, PermutedCuts, PermutedGains
from tamis.statistics.permuted_sums import value_vector
from tamis.statistics.quantile_bins import QuantileBins

# Share of the variance that a cut leaves at least, but for rounding.
UNEXPLAINED = 1e-13


class LossCurve(NamedTuple):
    """Loss of one column for every candidate cut."""

    thresholds: Floats
    losses: Floats
    base: float
    feature: str
    unit: str


class BesideFitMixin(BinnedMixin):
    """Methods of a `SplitSelector` that a fit does not need."""

    def _p_value_bounds(self: Any) -> Floats | None:
        """Law of a single cut, times the number of cuts.

        Cuts of which a side expects fewer than 5 rows of a class have no known law: 1.
        """
        if np.isnan(self._unit_weight) or getattr(self, "class_weight", None) is not None:
            return None
        total, left = (weight / self._unit_weight for weight in self._sides)
        sizes = self._class_sizes[self._class_sizes > 0]
        fewest = np.minimum(left, total - left) * sizes.min() / sizes.sum()
        if hasattr(self, "classes_"):
            share = sizes / sizes.sum()
            base = np.where(
                self.scores_ < 1.0,
                self.loss_ / np.where(self.scores_ < 1.0, 1.0 - self.scores_, 1.0),
                -(share * np.log2(share)).sum(),
            )
            freedom = np.full(total.size, sizes.size - 1.0)
            p_values = g_p_values(np.log(2.0) * base * self.scores_, total, freedom)
        else:
            ratio = self.scores_ / np.maximum(1.0 - self.scores_, UNEXPLAINED)
            p_values = f_p_values(ratio, np.ones(total.size), total - 2.0)
        return np.where(fewest >= FEW_ROWS, np.minimum((self.n_bins - 1) * p_values, 1.0), 1.0)

    def _other_bins(self: Any, table: Opened) -> Bins | QuantileBins:
        """Bins of quantiles or of given ranges."""
        if self.ranges is None:
            return self._bins_of(table.engine.X, table.engine.weight)
        who = type(self).__name__
        if self.bins == "quantile":
            raise InputError(
                f"{who}: bins='quantile' expected no ranges, because quantiles come from the rows, "
                f"got {self.ranges!r}. Use bins='uniform', or leave out ranges."
            )
        return Bins.between(*given_ranges(self.ranges, table.n_columns, who), self.n_bins)

    def _permuted(self: Any, X: Any, y: Any, weight: Floats | None) -> PermutedScores | None:
        plain = self.n_bins <= MOST_BINS and getattr(self, "class_weight", None) is None
        if not plain or not complete(X, weight, self.n_jobs):
            return None
        target = Target.of(y, self._task, weight, X.shape[0], type(self).__name__)
        table = Opened(MemoryEngine(X), X.shape[0], float(X.shape[0]))
        bins = self._bins_of(X) if self.ranges is None else self._other_bins(table)
        if target.codes is None:
            values: Any = target.values
            return PermutedCuts(X, bins, value_vector(values)[:, 0], n_jobs=self.n_jobs)
        share = np.bincount(target.codes) / target.codes.size
        entropy = float(-(share * np.log(share)).sum())
        return PermutedGains(
            X, bins, target.codes, cumulative=True, unit=entropy, n_jobs=self.n_jobs
        )

    @available_if(lambda self: self._takes_blocks())  # type: ignore[untyped-decorator]
    def learn_ranges(self: Any, X: Any) -> Any:
        """Take in a block in a first pass that only learns the ranges of the columns.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            A block of rows.

        Returns
        -------
        self : object
            Ready for more blocks, or for :meth:`partial_fit` in a second pass.
        """
        gathered, X = self._open_gathered(X)
        table = Opened(MemoryEngine(X), X.shape[0], float(X.shape[0]))
        return self._learn(gathered, table, "learn_ranges")

    def loss_curve(
        self: Any, X: Any, y: Any, *, feature: int | str, sample_weight: Any = None
    ) -> LossCurve:
        """Loss of every candidate cut of one column.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            The table that was fitted.
        y : array-like of shape (n_samples,)
            Its target.
        feature : int or str
            Index or name of the column.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        curve : LossCurve
            Cuts, their losses and the loss without a cut.
        """
        ranking = self.ranking_record()
        column = int(resolve([feature], ranking, f"{type(self).__name__}: feature")[0])
        X = checks.check_table(self, X, reset=False)
        weight = check_weight(sample_weight, X.shape[0], type(self).__name__)
        table = open_table(self, X[:, [column]], y, weight, self._task)
        bins = self._bins_of(X[:, [column]], weight)
        if self.ranges is not None:
            given = given_ranges(self.ranges, self.n_features_in_, type(self).__name__)
            bins = Bins.between(given.low[[column]], given.high[[column]], self.n_bins)
        losses, base = self._losses(run_pass(self._by_bin(table, bins), table.engine), 0)
        cuts, first = np.unique(bins.cuts()[0], return_index=True)
        return LossCurve(cuts, losses[first], float(base), ranking.name(column), self._unit)


class BesideClassFitMixin:
    """The same for classes: weights of theirs, and `partial_fit` that may be told all of them."""

    def _fractional_cuts(self: Any, table: Floats, base: float) -> Any:
        """Best cuts of counts that are too many for a table of logarithms, or not whole."""
        from tamis.split._kernels import best_entropy_cuts

        return self._run_cuts(best_entropy_cuts, (table, self.n_bins), table.shape[1], base)

    def _losses(self: Any, statistic: ClassHistogram, column: int) -> tuple[Any, float]:
        from tamis.split._kernels import entropy_losses

        return entropy_losses(self._counts(statistic)[0], self.n_bins, column)

    def _weighted(self: Any, statistic: ClassHistogram) -> tuple[Floats, Floats, bool]:
        """Counts and class sizes after `class_weight`, which are no whole numbers."""
        table, per_class = statistic.finish().table, statistic.class_weight
        factors = class_factors(self.class_weight, self.classes_, per_class)
        return table * factors[:, None, None], per_class * factors, False

    @available_if(lambda self: self._takes_blocks())  # type: ignore[untyped-decorator]
    def partial_fit(
        self: Any, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Any:
        """Take in a block of rows, then rank by all rows seen.

        The cuts are placed by `ranges`, by the blocks that :meth:`learn_ranges` saw, or else by the
        first block, and stay there.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            A block of rows.
        y : array-like of shape (n_samples,)
            Its classes; new ones may appear in any block.
        classes : array-like or None, default=None
            All classes, if they are known beforehand.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        self : object
            The selector, ranked by what it has seen.
        """
        self._partial_fit(X, y, sample_weight, classes)
        return self


def given_ranges(ranges: Any, n_columns: int, who: str) -> RangesResult:
    """Ends of every column as the user gave them, checked."""
    try:
        low, high = (np.broadcast_to(np.asarray(end, np.float64), n_columns) for end in ranges)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{who}: ranges must be a pair (low, high) of numbers or of arrays with one value per "
            f"column ({n_columns}), got {ranges!r}."
        ) from error
    with np.errstate(over="ignore", invalid="ignore"):
        bad = np.flatnonzero(~(np.isfinite(high - low) & (low <= high)))
    if bad.size:
        raise InputError(
            f"{who}: ranges must be finite with low <= high, got ({low[bad[0]]}, {high[bad[0]]}) "
            f"for column {int(bad[0])}."
        )
    return RangesResult(low, high)


def class_factors(class_weight: Any, classes: NDArray[Any], per_class: Floats) -> Floats:
    """Factor of every class, from ``"balanced"`` or a dict; `per_class` are the sizes so far."""
    if not isinstance(class_weight, Mapping):
        mean = per_class.sum() / per_class.size
        return np.divide(mean, per_class, out=np.zeros_like(per_class), where=per_class > 0)
    labels = classes.tolist()
    unknown = [label for label in class_weight if label not in labels]
    factors = np.array([float(class_weight.get(label, 1.0)) for label in labels])
    if unknown or not (np.isfinite(factors) & (factors >= 0)).all() or not factors.any():
        raise InputError(
            f"DFT: class_weight must map labels of the target ({labels!r}) to weights that are "
            f"not negative, got {class_weight!r}."
        )
    return factors
