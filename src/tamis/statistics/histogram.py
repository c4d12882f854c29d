"""ClassHistogram: weight of every class in every bin of every column; Bins: where the bins lie."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tamis._runtime.threads import run_kernel, split_evenly, threads_for
from tamis.statistics.block import Block, Floats, kernel_for
from tamis.statistics.state import StatefulByClass

# Sums of weights in different orders may differ by this share.
ROUNDING = 1e-12
# With a range of more interquartile ranges most rows share one or two equal bins.
STRETCHED = 20
# Columns in a tile: 8 to 16 KiB of every row are read in one go, and the tile's table of bins
# stays in the second-level cache.
TILE_COLUMNS = 1024
# Tiles begin at multiples of this, so that a kernel may share work within a group of columns and
# still add in the same order for any number of threads.
GROUP = 64
# Private tables of all threads together may take this share of the data's size.
LANE_SHARE = 0.02
MOST_LANES = 8


class Bins(NamedTuple):
    """``n_bins`` equal bins per column, with cuts at ``low + b * step`` for b from 1.

    Parameters
    ----------
    low, step, scale, origin : ndarray of shape (n_columns,)
        Lower end of the range; width of a bin, and its reciprocal; a quarter of a bin above `low`,
        from where the kernels guess.
    narrow : ndarray of int
        Columns whose bins are about as narrow as the spacing of floats there.
    n_bins : int
        Number of bins.

    Examples
    --------
    >>> from tamis.statistics import Bins
    >>> Bins.between([0.0, -1.0], [8.0, 1.0], n_bins=4).cuts()
    array([[ 2. ,  4. ,  6. ],
           [-0.5,  0. ,  0.5]])
    """

    low: Floats
    step: Floats
    scale: Floats
    origin: Floats
    narrow: NDArray[np.int64]
    n_bins: int

    @classmethod
    def between(cls, low: ArrayLike, high: ArrayLike, n_bins: int) -> Bins:
        """Bins of the ranges `low` to `high`, placed as ``numpy.linspace`` places them.

        A column with no extent (constant, or nothing observed) gets bins of width one, so that
        values met later still have a definite place.
        """
        low = np.array(low, dtype=np.float64)
        high = np.asarray(high, dtype=np.float64)
        with np.errstate(invalid="ignore"):
            step = (high - low) / n_bins
        # 1 / step overflows below the smallest normal number: nothing can be cut there.
        empty = ~(step >= np.finfo(np.float64).tiny)
        low[~np.isfinite(low)] = 0.0
        step[empty] = 1.0
        largest = np.maximum(np.abs(low), np.abs(low + n_bins * step))
        # Rounding of the cuts and of the origin must stay well below a quarter of a bin.
        narrow = np.flatnonzero(step < 16 * np.spacing(largest))
        return cls(low, step, 1.0 / step, low + step / 4, narrow, int(n_bins))

    def cuts(self) -> Floats:
        """Candidate cuts, one row per column."""
        return self.low[:, None] + np.arange(1.0, self.n_bins) * self.step[:, None]

    def zero_slots(self) -> NDArray[np.int64]:
        """Bin that holds the value zero, for every column."""
        return (self.cuts() <= 0.0).sum(axis=1)

    def placed(self, block: Block, n_jobs: int | None = 1) -> Block:
        """What the kernels bin: the block itself; see `QuantileBins`."""
        return block


class ClassHistogramResult(NamedTuple):
    """Finished histogram: ``table[class, column, slot]``; the last slot holds missing cells.

    `whole` says that all entries are whole numbers.
    """

    table: Floats
    whole: bool

    @property
    def counts(self) -> Floats:
        """Weight per class, column and bin."""
        return self.table[:, :, :-1]


def find_suspects(per_bin: Floats) -> NDArray[np.intp]:
    """Columns of which half lies in 1 / STRETCHED of the range, and nearly all in half of it."""
    n_bins, occupied = per_bin.shape[1], (per_bin > 0).sum(axis=1)
    few = np.flatnonzero((occupied > 1) & (occupied <= -(-n_bins // 2) + 3))
    below, width = np.cumsum(per_bin[few], axis=1), min(n_bins // STRETCHED + 2, n_bins)
    inside = below[:, width - 1 :] - np.pad(below[:, :-width], ((0, 0), (1, 0)))
    return few[inside.max(axis=1) >= 0.49 * below[:, -1]]


class ClassHistogram(StatefulByClass):
    """Sum of the weights per class, column and bin; missing cells are counted apart.

    Parameters
    ----------
    bins : Bins
        Where the bins of every column lie.
    n_classes : int
        Number of classes; the target of a block holds codes below it.
    lanes : int, default=1
        Private tables that threads fill from different rows; they decide the order of summation.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.statistics import Bins, Block, ClassHistogram
    >>> block = Block.of(np.array([[0.0], [1.0], [4.0]]), target=np.array([0, 0, 1], np.int32))
    >>> histogram = ClassHistogram(Bins.between([0.0], [4.0], 2), n_classes=2)
    >>> histogram.update(block).finish().counts[:, 0]
    array([[2., 0.],
           [0., 1.]])
    """

    state_names: ClassVar[tuple[str, ...]] = ("lanes", "class_weight", "has_sparse", "whole")
    class_axes: ClassVar[dict[str, int]] = {"lanes": 1, "class_weight": 0}

    def __init__(self, bins: Bins, n_classes: int, lanes: int = 1):
        self.bins = bins
        n_columns = bins.low.shape[0]
        self.lanes = np.zeros((lanes, n_classes, n_columns, bins.n_bins + 1))
        self.class_weight = np.zeros(n_classes)
        self.has_sparse = False
        self.whole = True

    @classmethod
    def for_table(cls, bins: Bins, n_classes: int, n_bytes: int) -> ClassHistogram:
        """An empty histogram with as many lanes as suit a table of `n_bytes`."""
        table_bytes = 8 * n_classes * bins.low.shape[0] * (bins.n_bins + 1)
        return cls(bins, n_classes, lanes_for(n_bytes, table_bytes))

    def update(self, block: Block, n_jobs: int | None = 1) -> ClassHistogram:
        """Take in the rows of a block."""
        block = self.bins.placed(block, n_jobs)
        weight = block.weight_slice
        self.class_weight += np.bincount(block.target_slice, weight, self.class_weight.size)
        self.has_sparse |= block.layout == "sparse"
        if block.weight is not None:
            self.whole &= bool((weight == np.floor(weight)).all())
        arguments = (block.target, block.weights, tuple(self.bins))
        sum_block(kernel_for(block, "class_counts"), block, arguments, self.lanes, n_jobs)
        return self

    def merge(self, other: ClassHistogram) -> ClassHistogram:
        """Take in what another object has seen with the same bins and classes."""
        self.lanes[0] += other.finish().table
        self.class_weight += other.class_weight
        self.whole &= other.whole
        return self

    @property
    def weight_seen(self) -> float:
        """Total weight of the rows taken in."""
        return float(self.class_weight.sum())

    def finish(self) -> ClassHistogramResult:
        """Count all rows seen; zeros that sparse blocks do not store are filled in."""
        table = self.lanes[0] if len(self.lanes) == 1 else self.lanes.sum(axis=0)
        if self.has_sparse:
            table = table.copy() if len(self.lanes) == 1 else table
            # All rows of a class minus those with a stored entry; rounding is not a row.
            zeros = self.class_weight[:, None] - table.sum(axis=2)
            zeros[zeros < ROUNDING * self.class_weight[:, None]] = 0.0
            columns = np.arange(table.shape[1])
            table[:, columns, self.bins.zero_slots()] += zeros
        return ClassHistogramResult(table, self.whole)


def lanes_for(data_bytes: int, table_bytes: int) -> int:
    """Private tables for threads, a power of two that depends on the data alone."""
    affordable = int(min(LANE_SHARE * data_bytes / table_bytes, MOST_LANES))
    return 1 << max(affordable, 1).bit_length() - 1


def sum_block(
    kernel: Any, block: Block, arguments: tuple[Any, ...], lanes: Floats, n_jobs: int | None
) -> None:
    """Add a block to `lanes` with a kernel of `tamis.statistics`.

    With one lane, threads take column tiles. With several, each lane takes its own share of the
    rows in memory order. Both give the same numbers whatever the number of threads.
    """
    threads = threads_for(block.n_rows * block.n_columns, n_jobs)
    parts: list[tuple[Any, ...]]
    if block.layout == "sparse":
        parts = [(block.stored, block.start, block.stop, *arguments, lanes[0])]
    else:
        rows = split_evenly(block.start, block.stop, len(lanes) if block.layout == "rows" else 1)
        n_groups, n_tiles = -(-block.n_columns // GROUP), -(-block.n_columns // TILE_COLUMNS)
        groups = split_evenly(0, n_groups, max(n_tiles, threads if len(lanes) == 1 else 1))
        columns = [(a * GROUP, min(b * GROUP, block.n_columns)) for a, b in groups]
        parts = [
            (block.dense, *piece, *arguments, lane, *tile)
            for piece, lane in zip(rows, lanes, strict=False)
            for tile in columns
        ]
    run_kernel(kernel, kernel, parts, threads, block.X.dtype)
