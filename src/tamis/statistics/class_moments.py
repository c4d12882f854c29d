"""ClassMoments: weight, mean and variance of every column within every class.

WithRanges: such a statistic and the ranges of the columns, from one pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.threads import run_kernel, split_evenly, threads_for
from tamis.statistics.block import Block, Floats, Ranges, RangesResult, kernel_for
from tamis.statistics.state import Stateful, StatefulByClass

# Weight, mean and sum of squared deviations, ``[class, column]``.
Tables = tuple[Floats, Floats, Floats]

# Columns that a thread works on at a time: with 64 rows they fit the second-level cache.
TILE_COLUMNS = 512


class ClassMomentsResult(NamedTuple):
    """Finished moments, ``[class, column]``; mean and variance are NaN where nothing was observed.

    `class_weight` is the weight of all rows of a class, whether their cells are missing or not.
    """

    weight: Floats
    mean: Floats
    variance: Floats
    class_weight: Floats

    def compare(self) -> ClassComparison:
        """Differences between the classes."""
        weight = self.weight
        mean, variance = np.nan_to_num(self.mean), np.nan_to_num(self.variance)
        total = np.where(weight.sum(axis=0) > 0, weight.sum(axis=0), 1.0)
        # Relative to the mean of a class, so that a large offset leaves no rounding in the gaps.
        largest = weight.argmax(axis=0)
        gap = np.where(weight > 0, mean - mean[largest, np.arange(total.size)], 0.0)
        gap = np.where(weight > 0, gap - (weight * gap).sum(axis=0) / total, 0.0)
        between, within = (weight * gap * gap).sum(axis=0), (weight * variance).sum(axis=0)
        return ClassComparison(weight, gap, variance, between, within, np.abs(mean).max(axis=0))


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


class ClassMoments(StatefulByClass):
    """Weight, mean and population variance per class and column; NaN is passed over.

    Parameters
    ----------
    n_columns : int
        Number of columns of every block.
    n_classes : int
        Number of classes; the target of a block holds codes below it.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.statistics import Block, ClassMoments
    >>> block = Block.of(np.array([[1.0], [3.0], [8.0]]), target=np.array([0, 0, 1], np.int32))
    >>> result = ClassMoments(1, n_classes=2).update(block).finish()
    >>> result.mean[:, 0], result.variance[:, 0]
    (array([2., 8.]), array([1., 0.]))
    """

    state_names: ClassVar[tuple[str, ...]] = ("weight", "mean", "spread", "class_weight")
    class_axes: ClassVar[dict[str, int]] = dict.fromkeys(state_names, 0)

    def __init__(self, n_columns: int, n_classes: int):
        self.weight = np.zeros((n_classes, n_columns))
        self.mean = np.zeros((n_classes, n_columns))
        self.spread = np.zeros((n_classes, n_columns))
        self.class_weight = np.zeros(n_classes)

    @property
    def _tables(self) -> Tables:
        return self.weight, self.mean, self.spread

    def update(self, block: Block, n_jobs: int | None = 1) -> ClassMoments:
        """Take in the rows of a block."""
        codes = block.target_slice
        class_weight = np.bincount(codes, block.weight_slice, self.class_weight.size)
        self.class_weight += class_weight
        if block.layout == "sparse":
            from tamis.statistics.moments import add_sparse

            add_sparse(block, block.target, class_weight, self._tables)
            return self
        rows: tuple[Any, ...] = (block.dense, block.start, block.stop, block.target)
        if block.layout == "rows":
            order = np.argsort(codes, kind="stable") + block.start
            ends = np.cumsum(np.bincount(codes, minlength=self.class_weight.size))
            rows = (block.X, order, np.concatenate([[0], ends]))
        kernel = kernel_for(block, "class_moments", "_class_kernels", "_column_kernels")
        add_dense(kernel, rows, block, self._tables, n_jobs)
        return self

    def merge(self, other: ClassMoments) -> ClassMoments:
        """Take in what another object has seen of the same classes."""
        from tamis.statistics.moments import merge_tables

        self.class_weight += other.class_weight
        merge_tables(self._tables, *other._tables)
        return self

    def finish(self) -> ClassMomentsResult:
        """Moments of all rows seen."""
        return ClassMomentsResult(*finish_tables(*self._tables), self.class_weight.copy())


def add_dense(
    kernel: Any, rows: tuple[Any, ...], block: Block, tables: Tables, n_jobs: int | None
) -> None:
    """Merge the rows of a block, given as the kernel wants them, into tables."""
    threads = threads_for(block.n_rows * block.n_columns, n_jobs)
    n_tiles = max(-(-block.n_columns // TILE_COLUMNS), threads)
    arguments = (*rows, block.weights, *tables)
    parts = [(*arguments, *tile) for tile in split_evenly(0, block.n_columns, n_tiles)]
    run_kernel(kernel, kernel, parts, threads, block.X.dtype)


def finish_tables(weight: Floats, mean: Floats, spread: Floats) -> Tables:
    """Weight, mean and population variance; NaN where there is no weight."""
    seen = weight > 0
    variance = np.divide(spread, weight, out=np.full_like(mean, np.nan), where=seen)
    return weight.copy(), np.where(seen, mean, np.nan), variance


@dataclass
class WithRanges(Stateful):
    """Ranges of the columns and another statistic, both empty at first, from one pass.

    Parameters
    ----------
    ranges, other : Ranges and another statistic
        Values whose squares overflow are left to the ranges to report.
    weight_seen : float, default=0.0
        Total weight of the rows taken in.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.statistics import Block, Moments, Ranges, WithRanges
    >>> both = WithRanges(Ranges(1), Moments(1)).update(Block.of(np.array([[1.0], [3.0]])))
    >>> both.ranges.finish().high, both.other.finish().mean
    (array([3.]), array([2.]))
    """

    state_names: ClassVar[tuple[str, ...]] = ("ranges", "other", "weight_seen")

    ranges: Ranges
    other: Any
    weight_seen: float = 0.0

    def update(self, block: Block, n_jobs: int | None = 1) -> WithRanges:
        """Take in the rows of a block."""
        self.ranges.update(block, n_jobs)
        with np.errstate(over="ignore", invalid="ignore"):
            self.other.update(block, n_jobs)
        self.weight_seen += float(block.weight_slice.sum())
        return self

    def merge(self, other: WithRanges) -> WithRanges:
        """Take in what another object has seen."""
        self.ranges.merge(other.ranges)
        with np.errstate(over="ignore", invalid="ignore"):
            self.other.merge(other.other)
        self.weight_seen += other.weight_seen
        return self

    def add_classes(self, positions: NDArray[np.intp], n_classes: int) -> None:
        """Make room for classes met later, in a statistic of classes."""
        self.other.add_classes(positions, n_classes)

    def finish(self) -> tuple[RangesResult, Any]:
        """Both results."""
        return self.ranges.finish(), self.other.finish()
