"""Moments of the rows of a sparse block, for statistics with and without classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.threads import run_kernel
from tamis.statistics.block import Block
from tamis.statistics.class_moments import Tables, merge_tables


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
