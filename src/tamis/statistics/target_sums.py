"""TargetSums: weight and sum of a numeric target by bin of every column, and its squares."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np

from tamis.statistics.block import Block, Floats, kernel_for
from tamis.statistics.histogram import ROUNDING, Bins, sum_block
from tamis.statistics.state import Stateful


class TargetSumsResult(NamedTuple):
    """Finished sums of the centred target t, of the observed cells.

    ``sums[column, bin, :]`` holds the sums of w and w t, ``squares[column]`` that of w t^2.
    """

    sums: Floats
    squares: Floats
    centre: float


class TargetSums(Stateful):
    """Weight and sum of the target about `centre`, per column and bin; its squares per column.

    Squares by bin are not needed: the loss of a cut follows from the two means and the variance
    of all rows.

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
    array([[2., 4.],
           [1., 5.]])
    """

    state_names: ClassVar[tuple[str, ...]] = ("lanes", "total", "sparse_squares", "has_sparse")

    def __init__(self, bins: Bins, centre: float = 0.0, lanes: int = 1):
        self.bins = bins
        self.centre = centre
        # Slots: the bins, missing cells, and one that holds squares (see the kernels).
        self.lanes = np.zeros((lanes, bins.low.shape[0], bins.n_bins + 2, 2))
        self.total = np.zeros(3)
        self.sparse_squares = 0.0
        self.has_sparse = False

    def update(self, block: Block, n_jobs: int | None = 1) -> TargetSums:
        """Take in the rows of a block, whose target is already centred."""
        block = self.bins.placed(block, n_jobs)
        target, weight = block.target_slice, block.weight_slice
        weighted = weight * target
        squares = float(weighted @ target)
        self.total += [weight.sum(), weighted.sum(), squares]
        if block.layout == "sparse":
            self.has_sparse = True
            self.sparse_squares += squares
        kernel = kernel_for(block, "target_sums", "_sum_kernels")
        arguments = (block.target, block.weights, tuple(self.bins))
        sum_block(kernel, block, arguments, self.lanes, n_jobs)
        return self

    @property
    def weight_seen(self) -> float:
        """Total weight of the rows taken in."""
        return float(self.total[0])

    def merge(self, other: TargetSums) -> TargetSums:
        """Take in what another object has seen with the same bins."""
        shift = other.centre - self.centre
        table = other._complete()
        weight, first = table[:, :-2].sum(axis=1).T
        table[:, -1, 0] += shift * (2 * first + shift * weight)
        table[:, :-1, 1] += shift * table[:, :-1, 0]
        self.lanes[0] += table
        weight, first, squares = other.total
        squares += shift * (2 * first + shift * weight)
        self.total += [weight, first + shift * weight, squares]
        return self

    def _complete(self) -> Floats:
        """One table in which the zeros that sparse blocks do not store are counted too."""
        table = self.lanes.sum(axis=0)
        if self.has_sparse:
            zeros = self.total[:2] - table[:, :-1].sum(axis=1)
            zeros[zeros[:, 0] < ROUNDING * self.total[0]] = 0.0  # rounding is not a row
            table[np.arange(table.shape[0]), self.bins.zero_slots()] += zeros
            table[:, -1, 0] += self.sparse_squares - table[:, -1, 1]
        table[:, -1, 1] = 0.0
        return table

    def finish(self) -> TargetSumsResult:
        """Sums over all rows seen."""
        table = self._complete()
        return TargetSumsResult(table[:, :-2], table[:, -1, 0], self.centre)
