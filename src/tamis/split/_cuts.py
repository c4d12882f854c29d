"""SplitMixin: what DFT and RFT share: bins of the columns, the best cut of each, its score."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.threads import run_kernel, split_evenly, threads_for
from tamis._validation import N_JOBS, Constraint, Custom, Number
from tamis.cutoff.groups import resolve
from tamis.data import checks
from tamis.exceptions import InputError
from tamis.passes import MemoryEngine, run_pass
from tamis.passes.memory import Opened
from tamis.statistics import Bins, Ranges
from tamis.statistics.ranges import RangesResult

Floats = NDArray[np.float64]


CONSTRAINTS: dict[str, Constraint] = {
    "n_bins": Number(int, low=2),
    "ranges": Custom(
        lambda value: value is None or (hasattr(value, "__len__") and len(value) == 2),
        "None or a pair (low, high) of numbers or arrays",
    ),
    "n_jobs": N_JOBS,
}


class BestCuts(NamedTuple):
    """Loss and position of the best cuts, and losses without: of observed rows, and of all rows."""

    loss: Floats
    base: Floats
    best: NDArray[np.int64]
    overall: float


class LossCurve(NamedTuple):
    """Loss of one column for every candidate cut."""

    thresholds: Floats
    losses: Floats
    base: float
    feature: str
    unit: str


class SplitMixin:
    """Score every column by its single best cut; a subclass of `BlockSelector` gives the loss.

    `_by_bin` makes the statistic of the target by bin of every column, `_best_cuts` finds the best
    cuts in it, and `_losses` all losses of one column, and that without a cut.
    """

    _passes: ClassVar[tuple[str, ...]] = ("ranges", "cuts")
    _n_stages: ClassVar[int | None] = 2
    _needs_ranges: ClassVar[bool] = True
    _unit: ClassVar[str] = "loss"

    def _statistic(self: Any, table: Opened, first: Ranges) -> Any:
        ends = first.finish()
        if self.ranges is not None:
            ends = given_ranges(self.ranges, table.n_columns, type(self).__name__)
        return self._by_bin(table, Bins.between(*ends, self.n_bins))

    def _finish(self: Any, statistic: Any, constant: NDArray[np.bool_]) -> Floats:
        cuts, bins = self._best_cuts(statistic), statistic.bins
        base = np.where(np.isnan(cuts.base), cuts.overall, cuts.base)
        self.loss_ = np.where(constant, base, cuts.loss)
        self.thresholds_ = np.where(constant, np.nan, bins.low + (cuts.best + 1.0) * bins.step)
        scores = np.divide(base - self.loss_, base, out=np.zeros_like(base), where=base > 0)
        return np.clip(scores, 0.0, 1.0, out=scores)

    def _bins_of(self: Any, X: Any) -> Bins:
        """Where the bins of a table in memory lie."""
        if self.ranges is not None:
            ends = given_ranges(self.ranges, X.shape[1], type(self).__name__)
        else:
            ends = run_pass(Ranges(X.shape[1]), MemoryEngine(X), n_jobs=self.n_jobs).finish()
        return Bins.between(*ends, self.n_bins)

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
        weight = checks.check_weight(sample_weight, X.shape[0], type(self).__name__)
        table = self._open_table(X[:, [column]], y, weight, self._task)
        low, high = run_pass(Ranges(1), table.engine).finish()
        if self.ranges is not None:
            given = given_ranges(self.ranges, self.n_features_in_, type(self).__name__)
            low, high = (end[[column]] for end in given)
        bins = Bins.between(low, high, self.n_bins)
        losses, base = self._losses(run_pass(self._by_bin(table, bins), table.engine), 0)
        return LossCurve(bins.cuts()[0], losses, float(base), ranking.name(column), self._unit)


def best_cuts(
    kernel: Any, arguments: tuple[Any, ...], n_columns: int, overall: float, n_jobs: int | None
) -> BestCuts:
    """Best cuts by a kernel, which threads run over blocks of columns of the first argument."""
    loss, base, best = np.empty(n_columns), np.empty(n_columns), np.empty(n_columns, int)
    threads = threads_for(arguments[0].size, n_jobs)

    def work(first: int, last: int) -> None:
        kernel(*arguments, loss, base, best, first, last)

    run_kernel(kernel, work, split_evenly(0, n_columns, threads), threads)
    return BestCuts(loss, base, best, overall)


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
