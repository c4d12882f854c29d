"""Ranges: smallest and largest value of every column."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.threads import run_kernel, split_evenly, threads_for
from tamis.statistics.block import Block, Floats, kernel_for
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

    @property
    def size(self) -> Floats:
        """Largest absolute value of every column that varies; 0 for the others."""
        with np.errstate(invalid="ignore"):  # NaN marks empty columns
            return np.where(self.constant, 0.0, np.maximum(-self.low, self.high))


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
        kernel = kernel_for(block, "ranges")
        threads = threads_for(block.n_rows * block.n_columns, n_jobs)
        found = [(self.low, self.high)]
        parts: list[tuple[Any, ...]]
        if block.layout == "sparse":
            parts = [(block.stored, block.start, block.stop, *found[0], self.stored)]
        elif block.layout == "columns":
            tiles = split_evenly(0, block.n_columns, threads)
            parts = [(block.dense, block.start, block.stop, *found[0], *tile) for tile in tiles]
        else:
            # Extremes do not depend on who found them: one row range and one result per thread.
            pieces = split_evenly(block.start, block.stop, threads)
            found += [(self.low.copy(), self.high.copy()) for _ in pieces[1:]]
            parts = [(block.dense, *piece, *one) for piece, one in zip(pieces, found, strict=True)]
        run_kernel(kernel, kernel, parts, threads, block.X.dtype)
        for low, high in found[1:]:
            np.minimum(self.low, low, out=self.low)
            np.maximum(self.high, high, out=self.high)
        if block.layout != "sparse":
            self.stored += block.n_rows
        return self

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
