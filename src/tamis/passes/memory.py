"""MemoryEngine: walks a table in memory, row block by row block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tamis.passes.fold import fold
from tamis.statistics.block import Block, as_kernel_input

# A block is the unit of progress and of Ctrl-C: some 10 ms of work on data used in place.
BLOCK_BYTES = 64 * 2**20
# A block that must be cast or gathered first is a copy, so it is kept small.
COPY_BYTES = 4 * 2**20


class MemoryEngine:
    """Row blocks of a matrix in memory; the data is used in place wherever it can be.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_rows, n_columns)
        The table. Types other than float32 and float64 are cast block by block.
    target : ndarray of shape (n_rows,) or None
        Class codes or centred target values.
    weight : ndarray of shape (n_rows,) or None
        Weights; rows with weight 0 are left out as if they were not there.
    block_rows : int or None
        Rows per block; ``None`` chooses by size.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.passes import MemoryEngine
    >>> engine = MemoryEngine(np.eye(5), block_rows=2)
    >>> [(block.start, block.stop) for block in engine]
    [(0, 2), (2, 4), (4, 5)]
    """

    def __init__(
        self,
        X: Any,
        target: NDArray[Any] | None = None,
        weight: NDArray[np.float64] | None = None,
        *,
        block_rows: int | None = None,
    ):
        self.X, self.target, self.weight = X, target, weight
        self.kept = weight > 0 if weight is not None and not (weight > 0).all() else None
        self.in_place = self.kept is None and _usable_in_place(X)
        self.block_rows = block_rows or self._rows_per_block()

    def _rows_per_block(self) -> int:
        n_rows, n_columns = self.X.shape
        row_bytes = 8 * max(1, n_columns)
        if sparse.issparse(self.X):
            row_bytes = max(1, 16 * self.X.nnz // max(1, n_rows))
        return max(1, (BLOCK_BYTES if self.in_place else COPY_BYTES) // row_bytes)

    def __len__(self) -> int:
        return -(-self.X.shape[0] // self.block_rows)

    @property
    def n_bytes(self) -> int:
        """Size of the table, which a statistic may use to decide how much memory is little."""
        return int(self.X.data.nbytes if sparse.issparse(self.X) else self.X.nbytes)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.X.shape[1])

    def known_ranges(self) -> None:
        """Ranges are not known without a walk."""

    def fold(
        self, statistic: Any, name: str, *, n_jobs: int | None, steps: Callable[..., Any]
    ) -> Any:
        """Update `statistic` with all blocks.

        Parameters
        ----------
        statistic : Statistic
            Changed in place and returned.
        name : str
            Of the walk, for progress.
        n_jobs : int or None
            Threads inside a block.
        steps : callable
            Shows progress: ``steps(name, items, total)``.
        """
        blocks = steps(name, self, len(self))
        return fold(statistic, blocks, n_jobs=n_jobs, interruptible=len(self) > 1)

    def __iter__(self) -> Iterator[Block]:
        for start in range(0, self.X.shape[0], self.block_rows):
            stop = min(start + self.block_rows, self.X.shape[0])
            if self.in_place:
                yield Block(self.X, start, stop, self.target, self.weight)
            else:
                yield self._copied(start, stop)

    def _copied(self, start: int, stop: int) -> Block:
        rows = slice(start, stop)
        target = None if self.target is None else self.target[rows]
        weight = None if self.weight is None else self.weight[rows]
        X = self.X[rows]
        if self.kept is not None:
            kept = self.kept[rows]
            X = X[kept]
            target = None if target is None else target[kept]
            weight = None if weight is None else weight[kept]
        return Block.of(as_kernel_input(X), target, weight)


def _usable_in_place(X: Any) -> bool:
    if X.dtype not in (np.float32, np.float64):
        return False
    if sparse.issparse(X):
        return bool(X.format == "csr")
    return bool(X.flags.c_contiguous or X.flags.f_contiguous)
