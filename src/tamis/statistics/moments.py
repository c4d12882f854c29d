"""Moments: weight, mean and variance of every column, without cancellation."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.threads import run_kernel
from tamis.statistics.block import Block, Floats
from tamis.statistics.class_moments import Tables, add_dense, finish_tables
from tamis.statistics.state import Stateful


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

    @property
    def _tables(self) -> Tables:
        """All rows as those of one class."""
        return self.weight[None], self.mean[None], self.spread[None]

    def update(self, block: Block, n_jobs: int | None = 1) -> Moments:
        """Take in the rows of a block."""
        from tamis.statistics._class_kernels import class_moments_rows as kernel

        if block.layout == "sparse":
            codes = np.zeros(block.X.shape[0], dtype=np.int32)
            add_sparse(block, codes, block.weight_slice.sum(keepdims=True), self._tables)
            return self
        # Column-major data too: the tiles keep it in cache.
        rows = (block.X, np.arange(block.start, block.stop), np.array([0, block.n_rows]))
        add_dense(kernel, rows, block, self._tables, n_jobs)
        return self

    def merge(self, other: Moments) -> Moments:
        """Take in what another object has seen."""
        merge_tables(self._tables, *other._tables)
        return self

    def finish(self) -> MomentsResult:
        """Moments of all rows seen."""
        return MomentsResult(*finish_tables(self.weight, self.mean, self.spread))


def add_sparse(
    block: Block, codes: NDArray[Any] | None, class_weight: NDArray[Any], tables: Tables
) -> None:
    """Merge a block into tables: its stored entries, then the zeros around them in one merge."""
    from tamis.statistics._sparse_kernels import class_moments_sparse as kernel

    assert codes is not None
    shape = tables[0].shape
    part = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    stored, n_stored = np.zeros(shape), np.zeros(shape, dtype=np.int64)
    arguments = (block.stored, block.start, block.stop, codes, block.weights)
    run_kernel(kernel, kernel, [(*arguments, *part, stored, n_stored)], 1, block.X.dtype)
    n_rows = np.bincount(codes[block.start : block.stop], minlength=shape[0])
    # Where every row is stored, what is left of the weights is rounding, not zeros.
    zeros = np.maximum(class_weight[:, None] - stored, 0.0)
    zeros[n_stored == n_rows[:, None]] = 0.0
    merge_tables(part, zeros, np.zeros(shape), np.zeros(shape))
    merge_tables(tables, *part)


def merge_tables(tables: Tables, weight: Floats, mean: Floats, spread: Floats) -> None:
    """Merge other moments into tables by the formula of Chan, Golub and LeVeque."""
    total = tables[0] + weight
    share = np.divide(weight, total, out=np.zeros_like(total), where=total > 0)
    with np.errstate(over="ignore", invalid="ignore"):  # infinite values stay visible
        gap = mean - tables[1]
        tables[2][:] += spread + gap * gap * tables[0] * share
        tables[1][:] += gap * share
    tables[0][:] = total
