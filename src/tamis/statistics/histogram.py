"""ClassHistogram: weight of every class in every bin of every column; Bins: where the bins lie."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tamis.statistics.block import Block, Floats, kernel_for, lanes_for, sum_block
from tamis.statistics.state import StatefulByClass

# Sums of weights in different orders may differ by this share.
ROUNDING = 1e-12


class Bins(NamedTuple):
    """``n_bins`` equal bins per column, with cuts at ``low + b * step`` for b from 1.

    Parameters
    ----------
    low, step, scale : ndarray of shape (n_columns,)
        Lower end of the range, width of a bin and its reciprocal.
    origin : ndarray of shape (n_columns,)
        A quarter of a bin above `low`, from where the kernels guess.
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

    @property
    def missing(self) -> Floats:
        """Weight of the missing cells per class and column."""
        return self.table[:, :, -1]


class ClassHistogram(StatefulByClass):
    """Sum of the weights per class, column and bin; missing cells are counted apart.

    Parameters
    ----------
    bins : Bins
        Where the bins of every column lie.
    n_classes : int
        Number of classes; the target of a block holds codes below it.
    lanes : int, default=1
        Private tables that threads fill from different rows. The number of lanes, not that of
        threads, decides the order of summation.

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
