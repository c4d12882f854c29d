"""Ranges: smallest and largest value of every column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.threads import run_kernel, split_evenly, threads_for
from tamis.statistics.block import Block, Floats
from tamis.statistics.state import Stateful


class RangesResult(NamedTuple):
    """Finished ranges; both are NaN where a column has no observed value."""

    low: Floats
    high: Floats

    @property
    def constant(self) -> NDArray[np.bool_]:
        """Columns that never vary: one value, or none at all."""
        return ~(self.high > self.low)

    @property
    def infinite(self) -> NDArray[np.bool_]:
        """Columns that hold an infinite value, or whose extent is one."""
        with np.errstate(over="ignore", invalid="ignore"):
            extent = self.high - self.low
        return np.isinf(self.low) | np.isinf(self.high) | np.isinf(extent)


class Ranges(Stateful):
    """Smallest and largest observed value per column; NaN is passed over.

    Parameters
    ----------
    n_columns : int
        Number of columns of every block.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.statistics import Block, Ranges
    >>> first, second = Ranges(2), Ranges(2)
    >>> _ = first.update(Block.of(np.array([[1.0, 5.0], [2.0, np.nan]])))
    >>> _ = second.update(Block.of(np.array([[0.0, 7.0]])))
    >>> first.merge(second).finish()
    RangesResult(low=array([0., 5.]), high=array([2., 7.]))
    """

    state_names: ClassVar[tuple[str, ...]] = ("low", "high", "stored", "n_rows")

    def __init__(self, n_columns: int):
        self.low = np.full(n_columns, np.inf)
        self.high = np.full(n_columns, -np.inf)
        self.stored = np.zeros(n_columns, dtype=np.int64)
        self.n_rows = 0

    def update(self, block: Block, n_jobs: int | None = 1) -> Ranges:
        """Take in the rows of a block."""
        if block.n_rows == 0:
            return self
        self.n_rows += block.n_rows
        if block.layout == "sparse":
            from tamis.statistics._sparse_kernels import ranges_sparse as kernel

            rest = (block.start, block.stop, self.low, self.high, self.stored)
            run_kernel(kernel, kernel, [(block.stored, *rest)], 1, block.X.dtype)
            return self
        self.stored += block.n_rows
        self._update_dense(block, threads_for(block.n_rows * block.n_columns, n_jobs))
        return self

    def _update_dense(self, block: Block, threads: int) -> None:
        from tamis.statistics import _kernels as kernels

        dense, dtype, kernel = (
            block.dense,
            block.X.dtype,
            getattr(kernels, f"ranges_{block.layout}"),
        )
        if block.layout == "columns":
            rest = (block.start, block.stop, self.low, self.high)
            parts = [(dense, *rest, *piece) for piece in split_evenly(0, block.n_columns, threads)]
            return run_kernel(kernel, kernel, parts, threads, dtype)
        # Extremes do not depend on who found them: one row range and one result per thread.
        pieces = split_evenly(block.start, block.stop, threads)
        found = [(self.low, self.high), *((self.low.copy(), self.high.copy()) for _ in pieces[1:])]
        parts = [(dense, *piece, *one) for piece, one in zip(pieces, found, strict=True)]
        run_kernel(kernel, kernel, parts, threads, dtype)
        for low, high in found[1:]:
            np.minimum(self.low, low, out=self.low)
            np.maximum(self.high, high, out=self.high)

    def merge(self, other: Ranges) -> Ranges:
        """Take in what another object has seen."""
        self.low = np.minimum(self.low, other.low)
        self.high = np.maximum(self.high, other.high)
        self.stored += other.stored
        self.n_rows += other.n_rows
        return self

    def finish(self) -> RangesResult:
        """Find the ranges of all rows seen; what a sparse block does not store is zero."""
        low, high = self.low, self.high
        implicit = self.stored < self.n_rows
        if implicit.any():
            low = np.where(implicit, np.minimum(low, 0.0), low)
            high = np.where(implicit, np.maximum(high, 0.0), high)
        unseen = low > high
        return RangesResult(np.where(unseen, np.nan, low), np.where(unseen, np.nan, high))


@dataclass
class WithRanges(Stateful):
    """Ranges of the columns and another statistic, from one pass.

    Parameters
    ----------
    ranges : Ranges
        That have seen nothing.
    other : Statistic
        That has seen nothing; values whose squares overflow are left to the ranges to report.
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
