"""Factors: vectors, one per column of a table, whose products are correlations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tamis._runtime.compilation import announce_compilation
from tamis._runtime.threads import run_parts, split_evenly, threads_for

Floats = NDArray[np.float64]
Range = tuple[int, int]
# Makes factors of a tile: values (one column per row), room for the factors.
Fill = Callable[[NDArray[Any], NDArray[Any]], None]

TILE = 64
# Columns looked at together for missing cells, so that no mask of the table is made.
MASK_COLUMNS = 256
# Columns that stay below it are scaled up.
TINY = 1e-120
# A target told without any error has this share left unexplained, so that F stays finite.
LEAST_ERROR = 1e-12


class Factors:
    """Vectors of length one, one per column of a table, whose products are correlations.

    All zeros of a sparse column share the value `zero` times `root`, the roots of the weights of
    the rows; `vectors` is then a CSR matrix of what is left.
    """

    def __init__(self, vectors: Any, zero: Any = None, root: Any = None):
        self.vectors, self.zero, self.root = vectors, zero, root

    def take(self, columns: Range) -> NDArray[Any]:
        """Dense vectors of a range of columns."""
        part = self.vectors[slice(*columns)]
        if not sparse.issparse(part):
            return part
        return part.toarray() + self.zero[slice(*columns), None] * self.root

    def block(self, rows: Range, columns: Range) -> NDArray[Any]:
        """Absolute correlations between two ranges of columns."""
        return absolute_products(self.take(rows), self.take(columns))


def absolute_products(left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    """Absolute correlations of columns from their factors, here or on a worker."""
    product = left @ right.T
    return np.abs(product, out=product)


def rank_factors(X: Any, weight: Floats, dtype: Any, n_jobs: int | None) -> Factors:
    """Factors of Spearman's correlation; ties share their average rank, missing cells get 0."""
    from tamis.statistics import _rank_kernels as kernels

    is_plain = bool((weight == 1.0).all())
    # As many low bits as number the rows.
    mask = np.uint64((1 << max(X.shape[0] - 1, 1).bit_length()) - 1)

    def fill(values: NDArray[Any], out: NDArray[Any]) -> None:
        # Sorting whole numbers with the position inside is three times as fast as argsort.
        keys = np.empty(values.shape, dtype=np.uint64)
        with announce_compilation(kernels.centred_ranks, out.dtype):
            kernels.sortable_keys(values, values.view(np.uint64), mask, keys)
            keys.sort(axis=1)
            kernels.centred_ranks(values, keys, mask, weight, is_plain, out)

    return _factors(X, weight, dtype, n_jobs, fill)


def linear_factors(X: Any, weight: Floats, dtype: Any, n_jobs: int | None) -> Factors:
    """Factors of Pearson's correlation; missing cells get 0."""
    root = np.sqrt(weight)

    def fill(values: NDArray[Any], out: NDArray[Any]) -> None:
        seen = ~np.isnan(values)
        part = np.where(seen, values, 0.0).astype(np.float64)
        mean = (part @ weight) / (seen @ weight)
        part = np.where(seen, part - mean[:, None], 0.0)
        # Squares of tiny values are 0; a power of 2 is exact.
        part = np.ldexp(part, -np.frexp(np.abs(part).max(axis=1, keepdims=True))[1]) * root
        norm = np.sqrt((part**2).sum(axis=1))
        out[:] = part / norm[:, None]

    return _factors(X, weight, dtype, n_jobs, fill)


def _factors(X: Any, weight: Floats, dtype: Any, n_jobs: int | None, fill: Fill) -> Factors:
    """Fill factors tile by tile; threads take tiles."""
    tiles = split_evenly(0, X.shape[1], -(-X.shape[1] // TILE))
    if sparse.issparse(X):
        return _sparse_factors(X.tocsc(), np.sqrt(weight), dtype, fill, tiles)
    out = np.empty(X.shape[::-1], dtype=dtype)

    def tile(a: int, b: int) -> None:
        fill(np.ascontiguousarray(X[:, a:b].T, dtype=np.float64), out[a:b])

    tile(*tiles[0])  # compile once, not once per thread
    run_parts(tile, tiles[1:], threads_for(X.size * 8, n_jobs))
    return Factors(out)


def _sparse_factors(X: Any, root: Floats, dtype: Any, fill: Fill, tiles: list[Range]) -> Factors:
    """Factors of sparse columns: the zeros of a column share one value, kept apart."""
    zero = np.zeros(X.shape[1])
    data = np.empty(X.nnz, dtype=dtype)
    for a, b in tiles:
        values = np.ascontiguousarray(X[:, a:b].toarray().T, dtype=np.float64)
        out = np.empty(values.shape)
        fill(values, out)
        is_zero = values == 0
        rows, first = np.arange(b - a), is_zero.argmax(axis=1)
        zero[a:b] = np.where(is_zero[rows, first], out[rows, first] / root[first], 0.0)
        rest = out - zero[a:b, None] * root
        inside = slice(X.indptr[a], X.indptr[b])
        data[inside] = rest[np.repeat(rows, np.diff(X.indptr[a : b + 1])), X.indices[inside]]
    vectors = sparse.csr_array((data, X.indices, X.indptr), shape=X.shape[::-1])
    return Factors(vectors, zero.astype(dtype), root.astype(dtype))


class LinearColumns:
    """Columns as vectors whose products are Pearson correlations; a missing cell is at the mean."""

    def __init__(self, X: Any, weight: Floats, n_jobs: int | None):
        X = _without_tiny(X)
        self.X, self.weight, self.root = X, weight, np.sqrt(weight)
        self.factors = linear_factors(X, weight, np.float64, n_jobs)

    def products(self, side: Floats) -> Floats:
        """Products of all columns with one vector, or with the columns of a matrix."""
        product = self.factors.vectors @ side
        if self.factors.zero is None:
            return product
        # The zeros of a sparse column share one value, which is kept apart.
        return product + np.multiply.outer(self.factors.zero, self.root @ side)

    def correlations(self, j: int) -> Floats:
        """Absolute correlation of every column with column `j`."""
        return np.abs(self.products(self.factors.take((j, j + 1))[0]))

    def between_classes(self, codes: NDArray[Any], n_classes: int) -> tuple[Floats, Floats]:
        """Share of variance between classes, over the rows where the cell is known, and F."""
        member = (codes[:, None] == np.arange(n_classes)).astype(np.float64)
        sums = self.products(self.root[:, None] * member)
        weights = self._observed(self.weight[:, None] * member)
        seen = weights > 0
        share = np.divide(sums**2, weights, out=np.zeros_like(sums), where=seen).sum(axis=1)
        n_groups = np.broadcast_to(seen.sum(axis=1), share.shape)
        return with_f(share, np.broadcast_to(weights.sum(axis=1), share.shape), n_groups)

    def along_line(self, values: Floats) -> tuple[Floats, Floats]:
        """Squared correlation with a regression target, and its F statistic."""
        values = values - self.weight @ values / self.weight.sum()
        peak = np.abs(values).max()
        values = values / peak  # so that no square underflows
        moments = np.column_stack([np.ones_like(values), values, values**2])
        total, first, second = self._observed(self.weight[:, None] * moments).T
        # The target is centred in the rows where the cell is known, so that what rounding left of
        # the mean of a column does not count.
        rest, product = self.products(self.root[:, None] * moments[:, :2]).T
        product = product - rest * first / np.maximum(total, 1e-300)
        spread = second - first**2 / np.maximum(total, 1e-300)
        usable = spread > 1e-12 * np.maximum(second, 1e-300)
        share = np.divide(product**2, spread, out=np.zeros_like(product), where=usable)
        return with_f(share, np.broadcast_to(total, share.shape), np.full(share.shape, 2))

    def _observed(self, side: Floats) -> Floats:
        """Sums of `side` over the rows where a cell is known; one for all if none is missing."""
        whole = side.sum(axis=0, keepdims=True)
        if sparse.issparse(self.X):
            missing = self.X.copy()
            missing.data = np.isnan(missing.data).astype(np.float64)
            if not missing.data.any():
                return whole
            left = whole - missing.T @ side
            # What rounding leaves of a class that is missing altogether is not a row.
            return np.where(np.abs(left) < 1e-12 * np.abs(side).sum(axis=0), 0.0, left)
        if self.X.dtype.kind != "f" or not np.isnan(self.X.min()):
            return whole
        tiles = split_evenly(0, self.X.shape[1], -(-self.X.shape[1] // MASK_COLUMNS))
        return np.concatenate([(~np.isnan(self.X[:, a:b])).T @ side for a, b in tiles])


def _without_tiny(X: Any) -> Any:
    """The table, with columns of tiny numbers scaled up, for their squares would underflow."""
    if X.dtype.kind != "f":
        return X
    if sparse.issparse(X):
        peak = abs(X).max(axis=0).toarray().ravel()
    else:
        peak = np.maximum(np.fmax.reduce(X, axis=0), -np.fmin.reduce(X, axis=0))
    factor = np.where(peak < TINY, 1.0 / np.maximum(peak.astype(np.float64), 1e-300), 1.0)
    if (factor == 1.0).all():
        return X
    return X @ sparse.diags_array(factor) if sparse.issparse(X) else X * factor


def with_f(share: Floats, total: Floats, n_groups: NDArray[Any]) -> tuple[Floats, Floats]:
    """A share of variance in [0, 1], and F from it; total weight counts as the number of rows."""
    share = np.where(n_groups > 1, np.minimum(share, 1.0), 0.0)
    freedom = np.maximum(total - n_groups, 1.0) / np.maximum(n_groups - 1, 1)
    return share, share / np.maximum(1.0 - share, LEAST_ERROR) * freedom
