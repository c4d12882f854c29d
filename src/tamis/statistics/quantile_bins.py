"""QuantileBins: bins of equal shares of the rows, where one extreme value moves no other cut."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tamis._runtime.threads import run_kernel, split_evenly, threads_for
from tamis.statistics.block import Block, Floats
from tamis.statistics.histogram import ROUNDING, Bins

# Columns sorted at a time by one thread.
TILE = 16
# Columns placed at a time: their cuts stay in the first-level cache.
WIDTH = 64


class QuantileBins:
    """Bins that hold nearly equal weight, in place of :class:`Bins`.

    A value goes where the middle of its weight lies among all values, so equal values stay
    together and bins may merge; a column of at most `n_bins` distinct values has a bin for each.
    A cut is the least value above it.

    Blocks are replaced by numbers of bins, counted from the bin of zero, before they reach a
    kernel: zeros that a sparse matrix does not store are still zeros, and the kernels see bins of
    width 1.

    Parameters
    ----------
    edges : ndarray of shape (n_columns, n_bins - 1)
        Ascending cuts of every column; one with fewer repeats its last one, and one without any
        has infinite ones.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.statistics.quantile_bins import QuantileBins
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [99999.0]])
    >>> QuantileBins.of(X, n_bins=2).cuts()
    array([[2.]])
    """

    def __init__(self, edges: Floats):
        self.edges, self.n_bins = edges, edges.shape[1] + 1
        self.zero = (edges <= 0.0).sum(axis=1)
        self.unit = Bins.between(-self.zero, self.n_bins - self.zero, self.n_bins)
        self.low = self.unit.low

    def __iter__(self) -> Iterator[Any]:
        return iter(self.unit)

    @classmethod
    def of(
        cls, X: Any, weight: Floats | None = None, *, n_bins: int, n_jobs: int | None = None
    ) -> QuantileBins:
        """Bins of a table in memory; NaN takes no part, nor do rows of weight 0."""
        from tamis.statistics import _code_kernels as kernels

        if weight is not None:
            kept = weight > 0
            X, weight = (X, weight) if kept.all() else (X[kept], weight[kept])
            weight = weight if weight.size and weight.min() < weight.max() else None
        n_rows, n_columns = X.shape
        edges = np.full((n_columns, n_bins - 1), np.inf)
        X = X.tocsc() if sparse.issparse(X) else X
        width = 1 if sparse.issparse(X) else TILE

        def tile(first: int, last: int) -> None:
            part = _stored(X, first, weight) if width == 1 else _sorted(X[:, first:last], weight)
            kernels.quantile_cuts(*part, n_bins, edges[first:last])

        tiles = split_evenly(0, n_columns, -(-n_columns // width))
        threads = threads_for(n_rows * n_columns * 8, n_jobs)
        run_kernel(kernels.quantile_cuts, tile, tiles[:1], 1, X.dtype)  # compiles once
        run_kernel(kernels.quantile_cuts, tile, tiles[1:], threads, X.dtype)
        return cls(edges)

    def cuts(self) -> Floats:
        """Candidate cuts, one row per column; see `edges`."""
        return self.edges

    def zero_slots(self) -> NDArray[np.int64]:
        """Bin that holds the value zero, for every column."""
        return self.zero

    def placed(self, block: Block, n_jobs: int | None = 1) -> Block:
        """The block as numbers of bins, counted from that of zero."""
        from tamis.statistics import _place_kernels as kernels

        known = np.ascontiguousarray(self.edges.T), self.zero.astype(np.float32)
        if block.layout == "sparse":
            rows = block.X[block.start : block.stop]
            data = np.empty(rows.data.shape, np.float32)
            kernels.place_entries(rows.data, rows.indices, *known, data)
            X: Any = sparse.csr_array((data, rows.indices, rows.indptr), shape=rows.shape)
        else:
            in_rows = block.layout == "rows"
            X = np.empty((block.n_rows, block.n_columns), np.float32, order="C" if in_rows else "F")
            kernel = kernels.place_rows if in_rows else kernels.place_columns
            out = X if in_rows else X.T
            threads = threads_for(X.size, n_jobs)
            tiles = split_evenly(0, block.n_columns, max(threads, -(-block.n_columns // WIDTH)))
            table = (block.dense, block.start, block.stop, *known)
            parts = [(*table, *tile, out) for tile in tiles]
            run_kernel(kernel, kernel, parts, threads, block.X.dtype)
        target = None if block.target is None else block.target_slice
        weight = None if block.weight is None else block.weight_slice
        return Block(X, 0, block.n_rows, target, weight)


def _sorted(part: NDArray[Any], weight: Floats | None) -> tuple[NDArray[Any], Floats]:
    """Some columns as sorted rows, and weights in the same order; one row of weights if equal."""
    dtype = part.dtype if part.dtype in (np.float32, np.float64) else np.float64
    values = np.array(part.T, dtype=dtype, order="C")
    if weight is None:
        values.sort(axis=1)
        return values, np.ones((1, values.shape[1]))
    order = np.argsort(values, axis=1)
    return np.take_along_axis(values, order, axis=1), weight[order]


def _stored(X: Any, column: int, weight: Floats | None) -> tuple[NDArray[Any], Floats]:
    """As `_sorted` for one column of a CSC matrix: zeros that are not stored are one value."""
    entries = slice(X.indptr[column], X.indptr[column + 1])
    weight = np.ones(X.shape[0]) if weight is None else weight
    values, own = X.data[entries].astype(np.float64), weight[X.indices[entries]]
    zeros = weight.sum() - own.sum()
    if zeros > ROUNDING * weight.sum():
        values, own = np.append(values, 0.0), np.append(own, zeros)
    order = np.argsort(values)
    return values[order][None], own[order][None]
