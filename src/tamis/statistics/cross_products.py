"""CrossProducts: sums of products of a few columns with all columns, after centring."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.threads import run_parts, split_evenly, threads_for
from tamis.statistics.block import Block, Floats
from tamis.statistics.state import Stateful

# Rows and cells that are centred at a time.
TILE_ROWS, TILE_CELLS = 4096, 2**19


class CrossProducts(Stateful):
    """Weighted sums of products of a batch of columns with all columns; missing cells count as 0.

    A column is taken as ``(x - centre) * scale``. With its mean and the reciprocal of the root of
    its sum of squares, the products are correlations, with missing cells at the mean.

    Parameters
    ----------
    batch : ndarray of int
        The columns that all columns are multiplied with.
    centre, scale : ndarray of shape (n_columns,)
        Taken off every column, and then multiplied by.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.statistics import Block, CrossProducts
    >>> block = Block.of(np.array([[1.0, 5.0], [3.0, np.nan], [5.0, 9.0]]))
    >>> products = CrossProducts(np.array([0]), np.array([3.0, 7.0]), np.ones(2))
    >>> products.update(block).finish()
    array([[8., 8.]])
    """

    state_names: ClassVar[tuple[str, ...]] = ("products",)

    def __init__(self, batch: NDArray[np.intp], centre: Floats, scale: Floats):
        self.batch, self.centre, self.scale = batch, centre, scale
        self.products = np.zeros((batch.size, centre.size))

    def update(self, block: Block, n_jobs: int | None = 1) -> CrossProducts:
        """Take in the rows of a block."""
        X, start, stop = block.dense_rows()
        weight = block.weight_slice
        for a in range(start, stop, TILE_ROWS):
            b = min(a + TILE_ROWS, stop)
            left = self._centred(X[a:b], self.batch) * weight[a - start : b - start, None]
            self._multiply(left.T, X[a:b], n_jobs)
        return self

    def _multiply(self, left: Floats, X: NDArray[Any], n_jobs: int | None) -> None:
        n_rows, n_columns = X.shape

        def tile(first: int, last: int) -> None:
            self.products[:, first:last] += left @ self._centred(X, slice(first, last))

        n_tiles = -(-n_columns * n_rows // TILE_CELLS)
        threads = threads_for(4 * n_rows * n_columns, n_jobs)
        run_parts(tile, split_evenly(0, n_columns, n_tiles), threads)

    def _centred(self, X: NDArray[Any], columns: Any) -> Floats:
        # Subtracting from float64 gives float64, whatever the type of the table.
        values = X[:, columns] - self.centre[columns]
        values *= self.scale[columns]
        values[np.isnan(values)] = 0.0
        return values

    def merge(self, other: CrossProducts) -> CrossProducts:
        """Take in what another object has seen of the same columns."""
        self.products += other.products
        return self

    def finish(self) -> Floats:
        """Sums of products, ``[batch, column]``."""
        return self.products
