"""Exact nearest rows without a matrix of all distances, and statistics of neighbourhoods."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tamis._runtime.compilation import announce_compilation
from tamis._runtime.threads import run_kernel, run_parts, split_evenly, threads_for
from tamis.statistics.block import Floats

Rows = NDArray[np.int64]
Range = tuple[int, int]

DEFAULT_LIMIT = 64 * 2**20
# Columns that enter a product at a time, so that wide tables need no second copy.
CHUNK = 2048
# A tile smaller than this wastes more time than the memory it spares is worth.
LEAST_SIDE = 64
# Rows of a tile turned round at a time: few enough to stay in the cache.
TURNED_ROWS = 64
# Distances computed per row and block, as a multiple of the neighbours wanted and 8, above which
# single precision leaves too much in doubt.
DOUBTFUL = 4
# Below this many rows the products take so little time that single precision cannot gain any.
LEAST_ROWS = 1000
# Rows on which single precision is tried out first.
TRIAL_ROWS = 16
NO_ROW = np.iinfo(np.int64).max
# Work space of a block of neighbourhoods, in numbers.
BLOCK_NUMBERS = 2**22
# Up to this many rows all scalar products are made once, by one matrix product.
ROWS_AT_ONCE = 2048


def nearest_rows(
    X: Floats, n_neighbors: int, *, memory_limit: int | None = None, n_jobs: int | None = None
) -> tuple[Rows, Floats]:
    """Indices of the nearest other rows of every row, and their squared Euclidean distances.

    `X` has no missing or infinite values and finite sums of squares. Equal distances go by lower
    row; equal rows have a distance of exactly 0. `memory_limit` bounds the bytes of the work space,
    64 MiB for ``None``, but a tile has 64 rows at least.

    Scalar products of centred rows, whose rounding error is bounded, say which rows may be near.
    The distances of these are summed from the differences, so that neither the order nor the zeros
    suffer from cancellation. Half of the products are computed, since they are symmetric; in single
    precision, as long as that leaves few rows in doubt, which changes the time but not the result.
    """
    n_rows, n_columns = X.shape
    X = np.ascontiguousarray(X, dtype=np.float64).view()
    X.flags.writeable = False  # always: to a compiler a table that can be written is another type
    k = max(0, min(n_neighbors, n_rows - 1))
    distances, indices = np.full((n_rows, k), np.inf), np.full((n_rows, k), NO_ROW)
    if k == 0:
        return indices, distances
    from tamis.statistics._neighbor_kernels import offer, sort_heaps

    search = _Search(X, distances, indices, n_jobs)
    blocks = _blocks(n_rows, n_columns, memory_limit)
    with announce_compilation(offer):
        search.try_single(blocks[0])
        for i, rows in enumerate(blocks):
            for others in blocks[i:]:
                search.tile(rows, others)
        sort_heaps(distances, indices)
    return indices, distances


class _Precision(NamedTuple):
    """In which type products are computed, of rows in which unit, and how far off they can be."""

    dtype: type[np.floating[Any]]
    unit: float
    error: tuple[float, float, float]

    @classmethod
    def of(cls, dtype: type[np.floating[Any]], n_columns: int, largest: float) -> _Precision:
        # A power of 2 that brings every centred row to a length of at most 1, without rounding.
        unit = float(np.ldexp(1.0, -int(np.frexp(np.sqrt(largest))[1]))) if largest > 0 else 1.0
        back = 1.0 / unit / unit
        limits = np.finfo(dtype)
        # Roundings of the sum, a few of centring, unit and norms; then what underflow loses.
        relative = (n_columns + 16) * float(limits.eps)
        absolute = 8.0 * n_columns * float(limits.tiny) * back
        return cls(dtype, unit, (back, relative, absolute))


class _Search:
    """What the tiles share: the table, its norms, and the nearest rows found so far."""

    def __init__(self, X: Floats, distances: Floats, indices: Rows, n_jobs: int | None):
        self.X, self.distances, self.indices, self.n_jobs = X, distances, indices, n_jobs
        self.centre = X.mean(axis=0)
        self.norms = np.zeros(X.shape[0])
        for first, last in _blocks(X.shape[0], X.shape[1], None):
            for columns in _chunks(X.shape[1]):
                centred = X[first:last, columns] - self.centre[columns]
                self.norms[first:last] += np.einsum("ij,ij->i", centred, centred)
        largest = float(self.norms.max())
        self.double = _Precision.of(np.float64, X.shape[1], largest)
        self.precision = self.double
        if X.shape[0] >= LEAST_ROWS:
            self.precision = _Precision.of(np.float32, X.shape[1], largest)

    def try_single(self, block: Range) -> None:
        """See on a few rows whether single precision will do; they are offered again later."""
        if self.precision is self.double:
            return
        rows = (block[0], min(block[1], block[0] + TRIAL_ROWS))
        n_computed: list[int] = []
        self._offer(*rows, self._products(rows, block), block[0], n_computed)
        self._judge(n_computed, rows[1] - rows[0])
        self.distances[slice(*rows)], self.indices[slice(*rows)] = np.inf, NO_ROW

    def _judge(self, n_computed: list[int], n_rows: int) -> None:
        if sum(n_computed) > DOUBTFUL * (self.distances.shape[1] + 8) * n_rows:
            self.precision = self.double

    def tile(self, rows: Range, others: Range) -> None:
        """Offer two blocks of rows to each other."""
        products = self._products(rows, others)
        n_threads = threads_for(products.size, self.n_jobs)
        n_computed: list[int] = []
        pieces = split_evenly(*rows, n_threads)
        parts = [(a, b, products[a - rows[0] : b - rows[0]], others[0]) for a, b in pieces]
        if rows != others:
            pieces = split_evenly(*others, -(-products.shape[1] // TURNED_ROWS))
            turned = products.T
            parts += [(a, b, turned[a - others[0] : b - others[0]], rows[0]) for a, b in pieces]
        run_parts(self._offer, [(*part, n_computed) for part in parts], n_threads)
        self._judge(n_computed, rows[1] - rows[0] + (others[1] - others[0]))

    def _offer(
        self, first: int, last: int, products: Any, first_other: int, n_computed: list[int]
    ) -> None:
        from tamis.statistics._neighbor_kernels import offer

        n_computed.append(
            offer(
                np.ascontiguousarray(products), self.X, self.norms, first, first_other,
                self.precision.error, self.distances, self.indices,
            )
        )  # fmt: skip

    def _products(self, rows: Range, others: Range) -> NDArray[Any]:
        """Scalar products of the centred rows of two blocks, times the unit squared."""
        total: Any = None
        for columns in _chunks(self.X.shape[1]):
            left = self._centred(rows, columns)
            right = left if rows == others else self._centred(others, columns)
            part = left @ right.T
            total = part if total is None else np.add(total, part, out=total)
        return np.asarray(total)

    def _centred(self, rows: Range, columns: slice) -> NDArray[Any]:
        centred = self.X[slice(*rows), columns] - self.centre[columns]
        centred *= self.precision.unit
        return centred.astype(self.precision.dtype, copy=False)


def _chunks(n_columns: int) -> list[slice]:
    return [slice(first, first + CHUNK) for first in range(0, max(n_columns, 1), CHUNK)]


def _blocks(n_rows: int, n_columns: int, memory_limit: int | None) -> list[Range]:
    """Blocks of rows of which any two, and their products, fit the memory."""
    numbers = (DEFAULT_LIMIT if memory_limit is None else memory_limit) / 8
    # Two centred blocks, the products, their next chunk: 2 side width + 2 side^2 numbers.
    width = min(n_columns, CHUNK)
    side = max(LEAST_SIDE, int((np.sqrt(width**2 + 2.0 * numbers) - width) / 2.0))
    return split_evenly(0, n_rows, -(-n_rows // side))


class Edges(NamedTuple):
    """Every edge of an undirected graph of rows once, and the degrees of the rows."""

    tails: NDArray[np.int64]
    heads: NDArray[np.int64]
    weights: Floats
    degree: Floats

    @classmethod
    def of(cls, graph: sparse.csr_array) -> Edges:
        """Edges of a symmetric matrix of affinities."""
        upper = sparse.triu(graph, 1, format="coo")
        tails, heads = upper.row.astype(np.int64), upper.col.astype(np.int64)
        return cls(tails, heads, upper.data, np.asarray(graph.sum(axis=1)))


def smoothness(values: Floats, edges: Edges) -> tuple[Floats, Floats]:
    """``f'Lf`` and ``f'Df`` of every column f of `values`, which is overwritten."""
    from tamis.statistics._neighbor_kernels import smoothness as kernel

    rough, spread = np.zeros(values.shape[1]), np.zeros(values.shape[1])
    graph = (edges.degree, edges.tails, edges.heads, edges.weights)
    run_kernel(kernel, kernel, [(values, *graph, rough, spread)], 1)
    return rough, spread


def centred_grams(X: Floats, groups: Rows, first: int = 0) -> Iterator[tuple[slice, Floats]]:
    """``Xc Xc'`` of every group of rows, less their mean from member `first` on, in blocks."""
    size = groups.shape[1]
    products = X @ X.T if X.shape[0] <= ROWS_AT_ONCE else None
    width = size if products is not None else max(size, X.shape[1])
    step = max(1, BLOCK_NUMBERS // (size * width))
    for start in range(0, groups.shape[0], step):
        block = slice(start, start + step)
        rows = groups[block]
        if products is not None:
            yield block, double_centred(products[rows[:, :, None], rows[:, None, :]], first)
        else:
            local = X[rows]
            local -= local[:, first:].mean(axis=1, keepdims=True)
            yield block, local @ local.transpose(0, 2, 1)


def double_centred(grams: Floats, first: int = 0) -> Floats:
    """``H G H'`` of every matrix of a stack, where H takes off the mean from `first` on."""
    grams = grams - grams[:, first:].mean(axis=1, keepdims=True)
    grams -= grams[:, :, first:].mean(axis=2, keepdims=True)
    return grams


def ridge_inverses(grams: Floats, ridge: float) -> Floats:
    """``H (G + ridge I)^-1 H`` of a stack of centred Gram matrices."""
    inverses = np.linalg.inv(grams + ridge * np.eye(grams.shape[1]))
    return double_centred(np.asarray(inverses, dtype=np.float64))
