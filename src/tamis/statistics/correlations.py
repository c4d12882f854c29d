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


class Factors:
    """Vectors of length one, one per column of a table, whose products are correlations.

    Parameters
    ----------
    vectors : ndarray or CSR matrix of shape (n_columns, n_rows)
        For sparse data, what is left after `zero` is taken off.
    zero : ndarray of shape (n_columns,) or None
        Value that all zeros of a sparse column share.
    root : ndarray of shape (n_rows,) or None
        Roots of the weights, by which `zero` is multiplied.
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
        product = self.take(rows) @ self.take(columns).T
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
        part = np.where(seen, part - mean[:, None], 0.0) * root
        norm = np.sqrt((part**2).sum(axis=1))
        out[:] = part / norm[:, None]

    return _factors(X, weight, dtype, n_jobs, fill)


def _factors(X: Any, weight: Floats, dtype: Any, n_jobs: int | None, fill: Fill) -> Factors:
    """Fill factors tile by tile; threads take tiles."""
    n_rows, n_columns = X.shape
    if sparse.issparse(X):
        return _sparse_factors(X, weight, dtype, fill)
    out = np.empty((n_columns, n_rows), dtype=dtype)

    def tile(a: int, b: int) -> None:
        fill(np.ascontiguousarray(X[:, a:b].T, dtype=np.float64), out[a:b])

    tiles = split_evenly(0, n_columns, -(-n_columns // TILE))
    tile(*tiles[0])  # compile once, not once per thread
    run_parts(tile, tiles[1:], threads_for(X.size * 8, n_jobs))
    return Factors(out)


def _sparse_factors(X: Any, weight: Floats, dtype: Any, fill: Fill) -> Factors:
    """Factors of sparse columns: the zeros of a column share one value, kept apart."""
    X = X.tocsc()
    n_rows, n_columns = X.shape
    root = np.sqrt(weight)
    zero = np.zeros(n_columns)
    parts = []
    for a, b in split_evenly(0, n_columns, -(-n_columns // TILE)):
        tile = X[:, a:b]
        values = np.ascontiguousarray(tile.toarray().T, dtype=np.float64)
        out = np.empty(values.shape)
        fill(values, out)
        is_zero = values == 0
        first = is_zero.argmax(axis=1)
        rows = np.arange(b - a)
        zero[a:b] = np.where(is_zero[rows, first], out[rows, first] / root[first], 0.0)
        rest = out - zero[a:b, None] * root
        stored = np.repeat(rows, np.diff(tile.indptr))
        parts.append(
            sparse.csr_array(
                (rest[stored, tile.indices].astype(dtype), tile.indices, tile.indptr),
                shape=(b - a, n_rows),
            )
        )
    vectors = sparse.vstack(parts, format="csr")
    return Factors(vectors, zero.astype(dtype), root.astype(dtype))
