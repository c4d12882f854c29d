"""Block: a range of rows of a table, and how a kernel and its threads go through it."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tamis._runtime.threads import run_kernel, split_evenly, threads_for

Floats = NDArray[np.float64]

# Columns in a tile: 8 to 16 KiB of every row are read in one go, and the tile's table of bins
# stays in the second-level cache.
TILE_COLUMNS = 1024
# Tiles begin at multiples of this, so that a kernel may share work within a group of columns and
# still add in the same order for any number of threads.
GROUP = 64
# Private tables of all threads together may take this share of the data's size.
LANE_SHARE = 0.02
MOST_LANES = 8


@dataclass(frozen=True)
class Block:
    """Rows `start` to `stop` of `X`, seen without copying.

    Parameters
    ----------
    X : ndarray of float32 or float64, C- or Fortran-ordered, or CSR matrix
        The whole table in memory, or a piece of it; never written to.
    start, stop : int
        The rows that belong to this block.
    target : ndarray of shape (n_rows_of_X,) or None
        Class codes (int32) or centred target values (float64), one per row of `X`.
    weight : ndarray of shape (n_rows_of_X,) or None
        Positive weights (float64), one per row of `X`; ``None`` means 1 for every row.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.statistics import Block
    >>> block = Block.of(np.arange(6.0).reshape(3, 2))
    >>> block.n_rows, block.layout
    (3, 'rows')
    """

    X: Any
    start: int
    stop: int
    target: NDArray[Any] | None = None
    weight: Floats | None = None

    @classmethod
    def of(cls, X: Any, target: NDArray[Any] | None = None, weight: Floats | None = None) -> Block:
        """Make a block of all rows of `X`, cast to a type that the kernels know."""
        return cls(as_kernel_input(X), 0, X.shape[0], target, weight)

    @property
    def n_rows(self) -> int:
        """Number of rows in the block."""
        return self.stop - self.start

    @property
    def n_columns(self) -> int:
        """Number of columns of the table."""
        return int(self.X.shape[1])

    @property
    def layout(self) -> str:
        """``"sparse"``, ``"rows"`` (C order) or ``"columns"`` (Fortran order)."""
        if sparse.issparse(self.X):
            return "sparse"
        return "rows" if self.X.flags.c_contiguous else "columns"

    @property
    def dense(self) -> NDArray[Any]:
        """The matrix as the kernels want it: C-ordered, transposed for column-major data."""
        return self.X if self.layout == "rows" else self.X.T

    def dense_rows(self) -> tuple[NDArray[Any], int, int]:
        """A dense matrix, and which of its rows are those of the block; sparse rows are copied."""
        if self.layout == "sparse":
            return self.X[self.start : self.stop].toarray(), 0, self.n_rows
        return self.X, self.start, self.stop

    @property
    def stored(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """The three arrays of a CSR matrix."""
        return self.X.data, self.X.indices, self.X.indptr

    @property
    def weights(self) -> Floats:
        """Weight of every row of `X`, ones when none were given."""
        return np.ones(self.X.shape[0]) if self.weight is None else self.weight

    @property
    def weight_slice(self) -> Floats:
        """Weights of the rows in the block."""
        return np.ones(self.n_rows) if self.weight is None else self.weight[self.start : self.stop]

    @property
    def target_slice(self) -> NDArray[Any]:
        """Targets of the rows in the block, which must have one."""
        assert self.target is not None
        return self.target[self.start : self.stop]


def as_kernel_input(X: Any) -> Any:
    """Contiguous float32 or float64 data (or CSR of it); a copy only where it must be one."""
    if sparse.issparse(X):
        X = X if X.format == "csr" else X.tocsr()
        return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
    dtype = X.dtype if X.dtype in (np.float32, np.float64) else np.float64
    if X.flags.c_contiguous or X.flags.f_contiguous:
        return X.astype(dtype, copy=False)
    return np.ascontiguousarray(X, dtype=dtype)


def lanes_for(data_bytes: int, table_bytes: int) -> int:
    """Private tables for threads, a power of two that depends on the data alone."""
    affordable = int(min(LANE_SHARE * data_bytes / table_bytes, MOST_LANES))
    return 1 << max(affordable, 1).bit_length() - 1


def kernel_for(
    block: Block, name: str, rows: str = "_kernels", columns: str = "_column_bin_kernels"
) -> Any:
    """Kernel of a statistic for the layout of a block; `rows` and `columns` are its modules."""
    module = {"rows": rows, "columns": columns, "sparse": "_sparse_kernels"}[block.layout]
    return getattr(import_module(f"tamis.statistics.{module}"), f"{name}_{block.layout}")


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
