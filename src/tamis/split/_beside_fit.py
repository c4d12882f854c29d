"""What DFT and RFT do beside a plain fit.

Given ranges and class weights, ranges and rows block by block, and the loss of every cut.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.cutoff.groups import resolve
from tamis.data import checks
from tamis.data.target import Target
from tamis.data.values import check_weight
from tamis.exceptions import InputError
from tamis.passes import MemoryEngine, run_pass
from tamis.passes.memory import Opened, open_table
from tamis.statistics import Bins, Ranges
from tamis.statistics.block import Floats, RangesResult
from tamis.statistics.permuted import PermutedScores, complete
from tamis.statistics.permuted_counts import MOST_BINS, PermutedCuts, PermutedGains
from tamis.statistics.permuted_sums import value_vector


class LossCurve(NamedTuple):
    """Loss of one column for every candidate cut."""

    thresholds: Floats
    losses: Floats
    base: float
    feature: str
    unit: str


class BesideFitMixin:
    """Methods of a `SplitSelector` that a fit does not need."""

    def _bins_of(self: Any, X: Any) -> Bins:
        """Where the bins of a table in memory lie."""
        if self.ranges is not None:
            ends = given_ranges(self.ranges, X.shape[1], type(self).__name__)
        else:
            ends = run_pass(Ranges(X.shape[1]), MemoryEngine(X), n_jobs=self.n_jobs).finish()
        return Bins.between(*ends, self.n_bins)

    def _permuted(self: Any, X: Any, y: Any, weight: Floats | None) -> PermutedScores | None:
        plain = self.n_bins <= MOST_BINS and getattr(self, "class_weight", None) is None
        if not plain or not complete(X, weight, self.n_jobs):
            return None
        target = Target.of(y, self._task, weight, X.shape[0], type(self).__name__)
        bins = self._bins_of(X)
        if target.codes is None:
            values: Any = target.values
            return PermutedCuts(X, bins, value_vector(values)[:, 0], n_jobs=self.n_jobs)
        share = np.bincount(target.codes) / target.codes.size
        entropy = float(-(share * np.log(share)).sum())
        return PermutedGains(
            X, bins, target.codes, cumulative=True, unit=entropy, n_jobs=self.n_jobs
        )

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
        low, high = run_pass(Ranges(1), table.engine).finish()
        if self.ranges is not None:
            given = given_ranges(self.ranges, self.n_features_in_, type(self).__name__)
            low, high = (end[[column]] for end in given)
        bins = Bins.between(low, high, self.n_bins)
        losses, base = self._losses(run_pass(self._by_bin(table, bins), table.engine), 0)
        return LossCurve(bins.cuts()[0], losses, float(base), ranking.name(column), self._unit)


class ClassBlocksMixin:
    """`partial_fit` that may be told all classes beforehand."""

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
