"""FewValues: the distinct values of columns that have only a few."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.threads import run_kernel, split_evenly, threads_for
from tamis.statistics.block import Block
from tamis.statistics.state import Stateful


class FewValuesResult(NamedTuple):
    """Values of every column, ascending, in the first `n_values` places; -1 stands for too many."""

    values: NDArray[np.float64]
    n_values: NDArray[np.int64]


class FewValues(Stateful):
    """Distinct values of every column, as long as they are few; NaN is passed over.

    Parameters
    ----------
    n_columns : int
        Number of columns of every block.
    most : int
        A column with more values is not followed any further.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.statistics import Block, FewValues
    >>> block = Block.of(np.array([[3.0, 1.0], [1.0, 2.0], [3.0, 3.0]]))
    >>> result = FewValues(2, most=2).update(block).finish()
    >>> result.n_values, result.values[0]
    (array([ 2, -1]), array([1., 3.]))
    """

    state_names: ClassVar[tuple[str, ...]] = ("values", "count")

    def __init__(self, n_columns: int, most: int):
        self.values = np.zeros((n_columns, most))
        self.count = np.zeros(n_columns, dtype=np.int64)

    def update(self, block: Block, n_jobs: int | None = 1) -> FewValues:
        """Take in the rows of a block."""
        from tamis.statistics import _pair_kernels as kernels

        columns = np.flatnonzero(self.count <= self.values.shape[1])
        if not columns.size or not block.n_rows:
            return self
        X, start, stop = block.dense_rows()
        threads = threads_for(block.n_rows * columns.size, n_jobs)
        parts = [
            (X, start, stop, columns, *piece, self.values, self.count)
            for piece in split_evenly(0, columns.size, threads)
        ]
        run_kernel(kernels.few_values, kernels.few_values, parts, threads, X.dtype)
        return self

    def merge(self, other: FewValues) -> FewValues:
        """Take in what another object has seen."""
        most = self.values.shape[1]
        too_many = other.count > most
        known = np.where(too_many, 0, other.count)[:, None] > np.arange(most)
        self.update(Block.of(np.ascontiguousarray(np.where(known, other.values, np.nan).T)))
        self.count[too_many] = most + 1
        return self

    def _check_state(self) -> None:
        most = self.values.shape[1] + 1  # one more stands for too many
        if self.count.size and not 0 <= self.count.min() <= self.count.max() <= most:
            raise ValueError("FewValues.count out of range")

    def finish(self) -> FewValuesResult:
        """Values of all rows seen."""
        too_many = self.count > self.values.shape[1]
        return FewValuesResult(self.values.copy(), np.where(too_many, -1, self.count))
