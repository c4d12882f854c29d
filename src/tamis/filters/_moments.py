"""What filters share that need only means, variances and covariances: one pass over the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis._base import Scores
from tamis._runtime.threads import run_parts, split_evenly, threads_for
from tamis._streaming import StreamingSelector, rows_seen
from tamis.data import checks
from tamis.data.target import infer_task_of_first_block
from tamis.exceptions import InputError
from tamis.passes import MemoryEngine, run_pass
from tamis.passes.engine import Opened
from tamis.statistics import Block, ClassMoments, Moments, Ranges, Stateful
from tamis.statistics.class_moments import ClassMomentsResult

Floats = NDArray[np.float64]

# Score of a column that explains the target completely; no score is larger.
PERFECT = 1e30
# A mean is known to this share of itself, so smaller deviations from it are rounding.
ROUNDING = 64 * 2.0**-52
# Rows that are summed in one go, and columns that a thread takes.
TILE_ROWS, TILE_COLUMNS = 512, 1024
# Sums of columns with a mean of so many deviations are centred; others lose no more digits.
LARGEST_OFFSET = 1e3
# Cells that are centred in one go.
TILE_CELLS = 2**19


class MomentsSelector(StreamingSelector):
    """Base of the filters that score a column by its moments and those of the target.

    A subclass writes ``_scores_of``, and ``_check_target`` if it asks more of a target.
    """

    _n_stages: ClassVar[int | None] = 1

    def _scores_of(self, result: Any, varies: NDArray[np.bool_]) -> Floats:
        """Scores from finished moments; those of columns that never vary are not looked at."""
        raise NotImplementedError

    def _check_target(self, opened: Opened) -> None:
        """Raise if a whole target does not suffice."""

    def _score(self, X: Any, y: Any, weight: Floats | None) -> Scores:
        engine, gathered = self._begin(X, y, weight)
        try:
            self._run_pass("moments", gathered, engine)
        except KeyboardInterrupt:
            if gathered.weight_seen > 0:
                where = rows_seen(gathered.weight_seen)
                self._keep_unfinished(*self._finish(gathered), where)
            raise
        return self._finish(gathered)

    def _begin(self, X: Any, y: Any, weight: Floats | None) -> tuple[Any, Gathered]:
        """Engine with the target as the statistics want it, and statistics that saw nothing."""
        n_columns = X.shape[1]
        if not self._supervised:
            engine = self._open_table(X, None, weight, None).engine
            return engine, Gathered(Ranges(n_columns), Moments(n_columns))
        opened = self._open_table(X, y, weight, getattr(self, "task", "classification"))
        self._check_target(opened)
        self._note_target(opened)
        if opened.classes is not None:
            return opened.engine, Gathered.of_classes(n_columns, opened.n_classes)
        return opened.engine, Gathered(Ranges(n_columns), CoMoments(n_columns))

    def _finish(self, gathered: Gathered) -> Scores:
        varies = ~self._check(gathered)
        scores = self._scores_of(gathered.moments.finish(), varies)
        return np.where(varies, scores, 0.0), ~varies

    def _check(self, gathered: Gathered) -> NDArray[np.bool_]:
        """Which columns never vary; values that cannot be computed with are an error."""
        ranges = gathered.ranges.finish()
        checks.check_finite_columns(self, ranges.infinite)
        with np.errstate(invalid="ignore"):  # NaN marks empty columns
            size = np.where(ranges.constant, 0.0, np.maximum(-ranges.low, ranges.high))
        column = int(size.argmax())
        if size[column] > 1e150:
            names = checks.names_of(self)
            raise InputError(
                f"{type(self).__name__}: expected values below 1e150, got {size[column]:.3g} in "
                f"column {column if names is None else names[column]!r}, whose square overflows. "
                "Rescale the column."
            )
        return ranges.constant

    def _partial_fit(self, X: Any, y: Any, sample_weight: Any) -> Any:
        """Add a block to what earlier ones have left, then rank by all rows seen."""
        stream, X = self._open_stream(X, lambda n_columns: Stream())
        weight = checks.check_weight(sample_weight, X.shape[0], type(self).__name__)
        classes, target, part = self._read_block(stream, X, y, weight)
        run_pass(part, MemoryEngine(X, target, weight), n_jobs=self.n_jobs)
        self._check(part)  # until here a block that is refused leaves nothing behind
        stream.is_numeric = self._supervised and classes is None
        if self._supervised:
            self.task_ = "regression" if stream.is_numeric else "classification"
        if classes is not None:
            self._add_classes(stream, part, classes)
        stream.gathered = part if stream.gathered is None else stream.gathered.merge(part)
        self._rank(*self._finish(stream.gathered))
        self._cut(self._rule(), None)
        return self

    def _read_block(
        self, stream: Stream, X: Any, y: Any, weight: Floats | None
    ) -> tuple[Any, NDArray[Any] | None, Gathered]:
        """Classes of a block (or None), its target, and statistics that have seen nothing."""
        n_rows, n_columns = X.shape
        who = type(self).__name__
        if not self._supervised:
            return None, None, Gathered(Ranges(n_columns), Moments(n_columns))
        is_numeric = stream.is_numeric
        if is_numeric is None:
            is_numeric = self._is_numeric(checks.check_target(y, n_rows, who))
        if not is_numeric:
            classes, codes = checks.check_weighted_classes(y, weight, n_rows, who)
            return classes, codes, Gathered.of_classes(n_columns, classes.size)
        values = checks.check_numbers(y, n_rows, who)
        if stream.gathered is None:  # near enough to the mean of all to save the digits
            stream.centre = float(np.average(values, weights=weight))
        gathered = Gathered(Ranges(n_columns), CoMoments(n_columns))
        return None, values - stream.centre, gathered

    def _is_numeric(self, y: NDArray[Any]) -> bool:
        task = getattr(self, "task", "classification")
        if task == "auto":
            task = infer_task_of_first_block(y, type(self).__name__)
        return bool(task == "regression")

    def _add_classes(self, stream: Stream, part: Gathered, found: NDArray[Any]) -> None:
        """Give the block and what came before it the same list of classes."""
        known = found[:0] if stream.gathered is None else self.classes_
        self.classes_ = np.union1d(known, found)
        n_classes = self.classes_.size
        part.moments.add_classes(np.searchsorted(self.classes_, found), n_classes)
        if stream.gathered is not None:
            places = np.searchsorted(self.classes_, known)
            stream.gathered.moments.add_classes(places, n_classes)


@dataclass
class Gathered(Stateful):
    """What one pass learns together: ranges of the columns, and moments."""

    state_names: ClassVar[tuple[str, ...]] = ("ranges", "moments", "weight_seen")

    ranges: Ranges
    moments: Any
    weight_seen: float = 0.0

    @classmethod
    def of_classes(cls, n_columns: int, n_classes: int) -> Gathered:
        """Ranges and moments of every class."""
        return cls(Ranges(n_columns), ClassMoments(n_columns, n_classes))

    def update(self, block: Block, n_jobs: int | None = 1) -> Gathered:
        """Take in the rows of a block."""
        self.ranges.update(block, n_jobs)
        with np.errstate(over="ignore", invalid="ignore"):  # the ranges tell what is wrong
            self.moments.update(block, n_jobs)
        self.weight_seen += float(block.weight_slice.sum())
        return self

    def merge(self, other: Gathered) -> Gathered:
        """Take in what another object has seen."""
        self.ranges.merge(other.ranges)
        self.moments.merge(other.moments)
        self.weight_seen += other.weight_seen
        return self

    def finish(self) -> Gathered:
        """The object itself: its parts are finished one by one."""
        return self


@dataclass
class Stream:
    """What the blocks of `partial_fit` have left, and how their target is read."""

    gathered: Gathered | None = None
    is_numeric: bool | None = None
    centre: float = 0.0


class CoMomentsResult(NamedTuple):
    """Weight, variances and covariance over the rows in which a column is observed."""

    weight: Floats
    variance: Floats
    target_variance: Floats
    covariance: Floats

    @property
    def correlation(self) -> Floats:
        """Pearson's correlation; 0 where column or target never vary."""
        # Roots first: the product of two tiny variances may be 0.
        scale = np.sqrt(self.variance) * np.sqrt(self.target_variance)
        r = np.divide(self.covariance, scale, out=np.zeros_like(scale), where=scale > 0)
        return np.clip(r, -1.0, 1.0, out=r)


class CoMoments(Stateful):
    """Moments of every column, of the target in its observed rows, and of both together.

    Blocks are merged by the formula of Chan, Golub and LeVeque, from deviations from the means of
    the block, so nothing cancels.
    """

    state_names: ClassVar[tuple[str, ...]] = ("columns", "target_mean", "target_spread", "product")

    def __init__(self, n_columns: int):
        self.columns = Moments(n_columns)
        self.target_mean = np.zeros(n_columns)
        self.target_spread = np.zeros(n_columns)
        self.product = np.zeros(n_columns)

    def update(self, block: Block, n_jobs: int | None = 1) -> CoMoments:
        """Take in the rows of a block."""
        assert block.target is not None
        if block.n_rows == 0:
            return self
        part = CoMoments(block.n_columns)
        part.columns.update(block, n_jobs)
        weight = block.weight_slice
        target = block.target[block.start : block.stop]
        mean = float(np.average(target, weights=weight))
        target = target - mean  # sums to 0, so the means of the columns do not matter
        part.target_mean[:] = mean
        part.target_spread[:] = (weight * target) @ target
        if block.layout == "sparse":
            part._multiply_sparse(block, weight * target)
        else:
            part._multiply_dense(block, weight * target, n_jobs)
        part._multiply_again(block, target, n_jobs)
        return self.merge(part)

    def _multiply_dense(self, block: Block, weighted: Floats, n_jobs: int | None) -> None:
        """Sums of target times column; NaN for columns with holes."""

        def tile(first: int, last: int) -> None:
            product = self.product[first:last]
            for a in range(block.start, block.stop, TILE_ROWS):
                b = min(a + TILE_ROWS, block.stop)
                part = weighted[a - block.start : b - block.start]
                # Not a product of the BLAS, which need not sum all columns in the same order.
                with np.errstate(over="ignore", invalid="ignore"):
                    product += np.einsum("i,ij->j", part, block.X[a:b, first:last])

        # As wide for any number of threads, and never a single column, which sums otherwise.
        n_tiles = -(-block.n_columns // TILE_COLUMNS)
        threads = threads_for(block.n_rows * block.n_columns, n_jobs)
        run_parts(tile, split_evenly(0, block.n_columns, n_tiles), threads)

    def _multiply_sparse(self, block: Block, weighted: Floats) -> None:
        """As `_multiply_dense`, from the stored entries."""
        data, indices, indptr = block.stored
        inside = slice(indptr[block.start], indptr[block.stop])
        row = np.repeat(weighted, np.diff(indptr[block.start : block.stop + 1]))
        self.product += np.bincount(indices[inside], row * data[inside], minlength=block.n_columns)

    def _in_doubt(self) -> NDArray[np.intp]:
        """Columns with holes, and those whose mean is too large for sums that are not centred."""
        weight, mean, variance = self.columns.finish()
        far = np.abs(mean) > LARGEST_OFFSET * np.sqrt(variance)
        return np.flatnonzero(np.isnan(self.product) | ((weight > 0) & far))

    def _multiply_again(self, block: Block, target: Floats, n_jobs: int | None) -> None:
        """Centre the columns in doubt, and the target by its mean in their observed rows."""
        columns = self._in_doubt()
        rows, weight = slice(block.start, block.stop), block.weight_slice[:, None]

        def part(a: int, b: int) -> None:
            chosen = columns[a:b]
            values = block.X[rows][:, chosen]
            values = values.toarray() if block.layout == "sparse" else values
            seen = ~np.isnan(values)
            share = np.where(seen, weight, 0.0)
            total = share.sum(axis=0)
            total[total == 0.0] = 1.0
            with np.errstate(over="ignore", invalid="ignore"):
                shift = (share * target[:, None]).sum(axis=0) / total
                gap = target[:, None] - shift
                deviation = np.where(seen, values - self.columns.mean[chosen], 0.0)
                self.target_mean[chosen] += shift
                self.target_spread[chosen] = (share * gap * gap).sum(axis=0)
                self.product[chosen] = (share * gap * deviation).sum(axis=0)

        width = max(2, TILE_CELLS // block.n_rows)
        threads = threads_for(4 * block.n_rows * columns.size, n_jobs)
        if columns.size:
            run_parts(part, split_evenly(0, columns.size, -(-columns.size // width)), threads)

    def merge(self, other: CoMoments) -> CoMoments:
        """Take in what another object has seen."""
        total = self.columns.weight + other.columns.weight
        share = np.divide(other.columns.weight, total, out=np.zeros_like(total), where=total > 0)
        both = self.columns.weight * share
        gap = other.target_mean - self.target_mean
        self.product += other.product + gap * (other.columns.mean - self.columns.mean) * both
        self.target_spread += other.target_spread + gap * gap * both
        self.target_mean += gap * share
        self.columns.merge(other.columns)
        return self

    def finish(self) -> CoMomentsResult:
        """Moments of all rows seen; a target that is constant but for rounding has variance 0."""
        weight, _, variance = self.columns.finish()
        total = np.where(weight > 0, weight, 1.0)
        target_variance = self.target_spread / total
        target_variance[target_variance <= (ROUNDING * self.target_mean) ** 2] = 0.0
        return CoMomentsResult(
            weight, np.nan_to_num(variance), target_variance, self.product / total
        )


class ClassComparison(NamedTuple):
    """How the classes of every column differ.

    `weight` and `gap` (class mean less overall mean, 0 where nothing was observed) are
    ``[class, column]``; sums of squares `between` and `within` and the largest class mean in size
    are per column.
    """

    weight: Floats
    gap: Floats
    variance: Floats
    between: Floats
    within: Floats
    size: Floats

    @property
    def total(self) -> Floats:
        """Observed weight of every column."""
        return self.weight.sum(axis=0)


def compare_classes(moments: ClassMomentsResult) -> ClassComparison:
    """Differences between the classes, from the moments of each."""
    weight = moments.weight
    mean, variance = np.nan_to_num(moments.mean), np.nan_to_num(moments.variance)
    total = np.where(weight.sum(axis=0) > 0, weight.sum(axis=0), 1.0)
    # Relative to the mean of a class, so that a large offset leaves no rounding in the gaps.
    largest = weight.argmax(axis=0)
    gap = np.where(weight > 0, mean - mean[largest, np.arange(total.size)], 0.0)
    gap = np.where(weight > 0, gap - (weight * gap).sum(axis=0) / total, 0.0)
    between, within = (weight * gap * gap).sum(axis=0), (weight * variance).sum(axis=0)
    return ClassComparison(weight, gap, variance, between, within, np.abs(mean).max(axis=0))


def finite_ratio(between: Floats, within: Floats, rounding: Floats) -> Floats:
    """``between / within``, or `PERFECT` where there is nothing within but rounding.

    `rounding` is what `within` may be for values that are equal within every class; a column that
    hardly differs between the classes either is left as it is.
    """
    clear = (within == 0.0) | ((within <= rounding) & (between > 1e4 * rounding))
    perfect = (between > 0.0) & clear
    with np.errstate(over="ignore"):
        ratio = np.divide(between, within, out=np.zeros_like(between), where=within > 0.0)
    return np.where(perfect, PERFECT, np.minimum(ratio, PERFECT))
