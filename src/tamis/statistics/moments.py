"""Moments: weight, mean and variance of every column, without cancellation."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.compilation import announce_compilation
from tamis._runtime.threads import run_parts, split_evenly, threads_for
from tamis.statistics.block import Block
from tamis.statistics.state import Stateful

Floats = NDArray[np.float64]


class MomentsResult(NamedTuple):
    """Finished moments of the observed cells of every column; NaN where there is none."""

    weight: Floats
    mean: Floats
    variance: Floats


class Moments(Stateful):
    """Weight, mean and population variance per column; NaN is passed over.

    Parameters
    ----------
    n_columns : int
        Number of columns of every block.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.statistics import Block, Moments
    >>> block = Block.of(np.array([[1e9 + 1], [1e9 + 2], [1e9 + 3], [np.nan]]))
    >>> result = Moments(1).update(block).finish()
    >>> result.weight, result.mean - 1e9, result.variance
    (array([3.]), array([2.]), array([0.66666667]))
    """

    state_names: ClassVar[tuple[str, ...]] = ("weight", "mean", "spread")

    def __init__(self, n_columns: int):
        self.weight = np.zeros(n_columns)
        self.mean = np.zeros(n_columns)
        self.spread = np.zeros(n_columns)

    def update(self, block: Block, n_jobs: int | None = 1) -> Moments:
        """Take in the rows of a block."""
        from tamis.statistics import _sum_kernels as kernels

        if block.layout == "sparse":
            return self._merge(*self._sparse(block))
        with announce_compilation(kernels.moments_rows, block.X.dtype):
            threads = threads_for(block.n_rows * block.n_columns, n_jobs)
            X = block.X  # numba indexes column-major data as it is; the tiles keep it in cache
            state = (block.weights, self.weight, self.mean, self.spread)
            run_parts(
                lambda first, last: kernels.moments_rows(
                    X, block.start, block.stop, *state, first, last
                ),
                split_evenly(0, block.n_columns, threads),
                threads,
            )
        return self

    def _sparse(self, block: Block) -> tuple[Floats, Floats, Floats]:
        """Moments of a sparse block: stored entries, then the zeros around them in one merge."""
        from tamis.statistics import _sum_kernels as kernels

        part = Moments(block.n_columns)
        data, indices, indptr = block.stored
        kernels.moments_sparse(
            data, indices, indptr, block.start, block.stop, block.weights,
            part.weight, part.mean, part.spread,
        )  # fmt: skip
        rows = np.repeat(block.weight_slice, np.diff(indptr[block.start : block.stop + 1]))
        inside = slice(indptr[block.start], indptr[block.stop])
        stored = np.bincount(indices[inside], rows, minlength=block.n_columns)
        # Where every row is stored, what is left of the weights is rounding, not zeros.
        full = np.bincount(indices[inside], minlength=block.n_columns) == block.n_rows
        zeros = np.where(full, 0.0, np.maximum(block.weight_slice.sum() - stored, 0.0))
        nothing = np.zeros(block.n_columns)
        part._merge(zeros, nothing, nothing)
        return part.weight, part.mean, part.spread

    def _merge(self, weight: Floats, mean: Floats, spread: Floats) -> Moments:
        total = self.weight + weight
        share = np.divide(weight, total, out=np.zeros_like(total), where=total > 0)
        gap = mean - self.mean
        self.spread += spread + gap * gap * self.weight * share
        self.mean += gap * share
        self.weight = total
        return self

    def merge(self, other: Moments) -> Moments:
        """Take in what another object has seen."""
        return self._merge(other.weight, other.mean, other.spread)

    def finish(self) -> MomentsResult:
        """Moments of all rows seen."""
        seen = self.weight > 0
        mean = np.where(seen, self.mean, np.nan)
        variance = np.divide(self.spread, self.weight, out=np.full_like(mean, np.nan), where=seen)
        return MomentsResult(self.weight.copy(), mean, variance)
