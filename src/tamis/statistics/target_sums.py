"""TargetSums: weight, sum and sum of squares of a numeric target by bin of every column."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.statistics._walk import walk_block
from tamis.statistics.bins import Bins
from tamis.statistics.block import Block

Floats = NDArray[np.float64]


class TargetSumsResult(NamedTuple):
    """Finished sums: ``sums[column, bin, :]`` holds w, w (t - centre) and w (t - centre)^2."""

    sums: Floats
    centre: float


class TargetSums:
    """Weight, sum and sum of squares of the target, about `centre`, per column and bin.

    Parameters
    ----------
    bins : Bins
        Where the bins of every column lie.
    centre : float, default=0.0
        Subtracted from the target by the caller of :meth:`update`; a value near the mean keeps
        squares from cancelling. Objects with different centres merge.
    lanes : int, default=1
        Private tables that threads fill from different rows.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.statistics import Bins, Block, TargetSums
    >>> block = Block.of(np.array([[0.0], [1.0], [4.0]]), target=np.array([1.0, 3.0, 5.0]))
    >>> TargetSums(Bins.between([0.0], [4.0], 2)).update(block).finish().sums[0]
    array([[ 2.,  4., 10.],
           [ 1.,  5., 25.]])
    """

    def __init__(self, bins: Bins, centre: float = 0.0, lanes: int = 1):
        self.bins = bins
        self.centre = centre
        self.lanes = np.zeros((lanes, bins.low.shape[0], bins.n_bins + 1, 3))
        self.total = np.zeros(3)
        self.has_sparse = False

    def update(self, block: Block, n_jobs: int | None = 1) -> TargetSums:
        """Take in the rows of a block, whose target is already centred."""
        from tamis.statistics import _kernels as kernels

        assert block.target is not None
        target, weights = block.target, block.weights
        rows = slice(block.start, block.stop)
        self.total += [
            weights[rows].sum(),
            weights[rows] @ target[rows],
            weights[rows] @ target[rows] ** 2,
        ]
        self.has_sparse |= block.layout == "sparse"
        by_layout = {
            "rows": kernels.target_sums_rows,
            "columns": kernels.target_sums_columns,
            "sparse": kernels.target_sums_sparse,
        }
        walk_block(
            by_layout[block.layout], block, (target, weights, self.bins), self.lanes, n_jobs
        )
        return self

    def merge(self, other: TargetSums) -> TargetSums:
        """Take in what another object has seen with the same bins."""
        shift = other.centre - self.centre
        self.lanes[0] += _recentre(other.lanes.sum(axis=0), shift)
        self.total += _recentre(other.total, shift)
        self.has_sparse |= other.has_sparse
        return self

    def finish(self) -> TargetSumsResult:
        """Sums over all rows seen; zeros that a sparse block does not store are filled in."""
        table = self.lanes[0] if len(self.lanes) == 1 else self.lanes.sum(axis=0)
        if self.has_sparse:
            table = table.copy() if len(self.lanes) == 1 else table
            zeros = self.total - table.sum(axis=1)
            zeros[:, ::2] = np.maximum(zeros[:, ::2], 0.0)
            table[np.arange(table.shape[0]), self.bins.zero_slots()] += zeros
        return TargetSumsResult(table[:, :-1], self.centre)


def _recentre(sums: Floats, shift: float) -> Floats:
    """Sums about ``c`` from sums about ``c + shift``."""
    if shift == 0.0:
        return sums
    weight, first, second = sums[..., 0], sums[..., 1], sums[..., 2]
    moved = first + shift * weight
    return np.stack([weight, moved, second + shift * (first + moved)], axis=-1)
