"""SplitSelector: what DFT and RFT share: ranges, bins, passes over the rows, best cuts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis._base import Scores
from tamis._runtime.compilation import announce_compilation
from tamis._runtime.threads import run_parts, split_evenly, threads_for
from tamis._streaming import StreamingSelector, rows_seen
from tamis._validation import N_JOBS, Constraint, Custom, Number
from tamis.cutoff._rule import resolve
from tamis.data import checks
from tamis.exceptions import InputError
from tamis.passes import MemoryEngine, run_pass
from tamis.statistics import Bins, Ranges
from tamis.statistics.ranges import RangesResult

# Private tables of all threads together may take this share of the data's size.
LANE_SHARE = 0.02
MOST_LANES = 8


@dataclass
class Stream:
    """What `partial_fit` has gathered: observed and learned ranges, and the running summary."""

    observed: Ranges
    learned: Ranges | None = None
    summary: Any = None


class BestCuts(NamedTuple):
    """Loss and position of the best cut of every column; what the target loses without a cut.

    `base` belongs to the observed rows of the column (NaN if there are none), `overall` to all
    rows.
    """

    loss: NDArray[np.float64]
    base: NDArray[np.float64]
    best: NDArray[np.int64]
    overall: float

    @classmethod
    def empty(cls, n_columns: int, overall: float) -> BestCuts:
        """Room for the results of a kernel."""
        return cls(np.empty(n_columns), np.empty(n_columns), np.empty(n_columns, int), overall)


class LossCurve(NamedTuple):
    """Loss of one column for every candidate cut."""

    thresholds: NDArray[np.float64]
    losses: NDArray[np.float64]
    base: float
    feature: str
    unit: str


def _is_ranges(value: Any) -> bool:
    return value is None or (hasattr(value, "__len__") and len(value) == 2)


class SplitSelector(StreamingSelector):
    """Score every column by its single best cut; see DFT and RFT."""

    _n_stages: ClassVar[int | None] = 2
    _needs_ranges: ClassVar[bool] = True
    _unit: ClassVar[str] = "loss"
    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_bins": Number(int, low=2),
        "ranges": Custom(_is_ranges, "None or a pair (low, high) of numbers or arrays"),
        "n_jobs": N_JOBS,
    }

    def _encode(self, y: Any, weight: NDArray[np.float64] | None, n_rows: int) -> Any:
        """Target as the summary wants it, as a tuple (values, rest for `_summary`)."""
        raise NotImplementedError

    def _summary(self, bins: Bins, rest: Any, lanes: int = 1) -> Any:
        """Empty summary of the target by bin."""
        raise NotImplementedError

    def _best_cuts(self, summary: Any) -> BestCuts:
        """Best cut of every column."""
        raise NotImplementedError

    def _loss_curve(self, summary: Any, column: int) -> tuple[NDArray[np.float64], float]:
        """Loss of every cut of one column, and that without a cut."""
        raise NotImplementedError

    def _over_columns(self, kernel: Any, arguments: Any, cuts: BestCuts, work: int) -> None:
        """Run a kernel over blocks of columns, one per thread."""
        threads = threads_for(work, self.n_jobs)
        with announce_compilation(kernel):
            run_parts(
                lambda a, b: kernel(*arguments, cuts.loss, cuts.base, cuts.best, a, b),
                split_evenly(0, cuts.loss.size, threads),
                threads,
            )

    def _score(self, X: Any, y: Any, weight: NDArray[np.float64] | None) -> Scores:
        engine, rest = self._open(X, y, weight)
        ranges = self._find_ranges(engine).finish()
        bins = self._bins(ranges)
        summary = self._summary(bins, rest, self._lanes(engine, rest))
        try:
            self._run_pass("cuts", summary, engine)
        except KeyboardInterrupt:
            if summary.weight_seen > 0:
                scores = self._finish(summary, ranges.constant)
                self._keep_unfinished(*scores, rows_seen(summary.weight_seen))
            raise
        return self._finish(summary, ranges.constant)

    def _open(self, X: Any, y: Any, weight: NDArray[np.float64] | None) -> tuple[Any, Any]:
        """Engine with the target as the summary wants it, and the rest for `_summary`."""
        raise NotImplementedError

    def _lanes(self, engine: Any, rest: Any) -> int:
        """Private tables for threads, a power of two that depends on the data alone."""
        one = self._summary_bytes(engine.n_columns, rest)
        affordable = int(min(LANE_SHARE * engine.n_bytes / one, MOST_LANES))
        return 1 << max(affordable, 1).bit_length() - 1

    def _summary_bytes(self, n_columns: int, rest: Any) -> int:
        raise NotImplementedError

    def _bins(
        self, ranges: RangesResult, column: int | None = None, n_columns: int | None = None
    ) -> Bins:
        """Bins of all columns, or of one `column` out of `n_columns`."""
        low, high = ranges
        checks.check_finite_columns(self, ranges.infinite)
        if self.ranges is not None:
            low, high = self._given_ranges(n_columns or low.size)
            if column is not None:
                low, high = low[[column]], high[[column]]
        return Bins.between(low, high, self.n_bins)

    def _given_ranges(self, n_columns: int) -> tuple[NDArray[Any], NDArray[Any]]:
        try:
            low, high = (np.asarray(end, dtype=np.float64) for end in self.ranges)
            low, high = (np.broadcast_to(end, n_columns) for end in (low, high))
        except (TypeError, ValueError) as error:
            raise InputError(
                f"{type(self).__name__}: ranges must be a pair (low, high) of numbers or of arrays "
                f"with one value per column ({n_columns}), got {self.ranges!r}."
            ) from error
        with np.errstate(over="ignore", invalid="ignore"):
            bad = np.flatnonzero(~(np.isfinite(high - low) & (low <= high)))
        if bad.size:
            raise InputError(
                f"{type(self).__name__}: ranges must be finite with low <= high, got "
                f"({low[bad[0]]}, {high[bad[0]]}) for column {int(bad[0])}."
            )
        return low, high

    def _finish(self, summary: Any, constant: NDArray[np.bool_]) -> Scores:
        """Best cut of every column, its loss, and the share of the target that it explains."""
        cuts, bins = self._best_cuts(summary), summary.bins
        base = np.where(np.isnan(cuts.base), cuts.overall, cuts.base)
        self.loss_ = np.where(constant, base, cuts.loss)
        self.thresholds_ = np.where(constant, np.nan, bins.low + (cuts.best + 1.0) * bins.step)
        gain = base - self.loss_
        scores = np.divide(gain, base, out=np.zeros_like(base), where=base > 0)
        return np.clip(scores, 0.0, 1.0, out=scores), constant

    def loss_curve(
        self, X: Any, y: Any, *, feature: int | str, sample_weight: Any = None
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
        X = checks.check_table(self, X, reset=False)[:, [column]]
        weight = checks.check_weight(sample_weight, X.shape[0], type(self).__name__)
        values, rest = self._encode(y, weight, X.shape[0])
        engine = MemoryEngine(X, values, weight)
        bins = self._bins(run_pass(Ranges(1), engine).finish(), column, self.n_features_in_)
        losses, base = self._loss_curve(run_pass(self._summary(bins, rest), engine), 0)
        return LossCurve(bins.cuts()[0], losses, float(base), ranking.name(column), self._unit)

    def learn_ranges(self, X: Any) -> Any:
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
        stream, X = self._open_stream(X, lambda n_columns: Stream(Ranges(n_columns)))
        if stream.summary is not None:
            raise InputError(
                f"{type(self).__name__}: expected learn_ranges before partial_fit, because cuts "
                "stay where they are once rows were counted. Start from sklearn.base.clone(...)."
            )
        stream.learned = stream.learned or Ranges(X.shape[1])
        part = run_pass(Ranges(X.shape[1]), MemoryEngine(X), n_jobs=self.n_jobs)
        checks.check_finite_columns(self, part.finish().infinite)
        stream.learned.merge(part)
        return self

    def _partial_fit(self, X: Any, y: Any, sample_weight: Any, encode: Any) -> Any:
        stream, X = self._open_stream(X, lambda n_columns: Stream(Ranges(n_columns)))
        weight = checks.check_weight(sample_weight, X.shape[0], type(self).__name__)
        values, rest = encode(y, weight, X.shape[0])
        engine = MemoryEngine(X, values, weight)
        part = run_pass(Ranges(X.shape[1]), engine, n_jobs=self.n_jobs)
        checks.check_finite_columns(self, part.finish().infinite)
        stream.observed.merge(part)
        if stream.summary is None:
            stream.summary = self._summary(self._bins((stream.learned or part).finish()), rest)
        run_pass(stream.summary, engine, n_jobs=self.n_jobs)
        self._rank(*self._finish(stream.summary, stream.observed.finish().constant))
        self._cut(self._rule(), None)
        return self
