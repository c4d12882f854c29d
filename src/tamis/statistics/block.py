"""Block: some rows of a table, and how threads go through it; Ranges of its columns."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tamis._runtime.threads import run_kernel, split_evenly, threads_for
from tamis.statistics.state import Stateful

Floats = NDArray[np.float64]


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


def kernel_for(
    block: Block, name: str, rows: str = "_kernels", columns: str = "_column_bin_kernels"
) -> Any:
    """Kernel of a statistic for the layout of a block; `rows` and `columns` are its modules."""
    module = {"rows": rows, "columns": columns, "sparse": "_sparse_kernels"}[block.layout]
    return getattr(import_module(f"tamis.statistics.{module}"), f"{name}_{block.layout}")


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
        kernel = kernel_for(block, "ranges", "_range_kernels", "_column_kernels")
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
