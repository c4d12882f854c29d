"""PermutedSums: scores that are functions of sums over rows, for many orders of the target."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.threads import run_kernel, run_parts, split_evenly, threads_for
from tamis.statistics.permuted import Floats, Orders, Rotations

Singles = NDArray[np.float32]
# Columns per task of making columns ready; the result does not depend on it.
TASK_COLUMNS = 128
# Columns that are multiplied at a time, by one thread.
TILE_COLUMNS = 32
# A sum of n products in float32 is known to this many roundings times the root of n.
ROUNDINGS = 4


class PermutedSums:
    """Correlation of every column with a permuted target, by products of matrices.

    Columns are centred and scaled once. A target is one or more vectors: the score is a function of
    the length of a column's projection on them (or of its largest or mean coordinate).

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns)
        The table, without missing values.
    vectors : ndarray of shape (n_rows, n_vectors)
        The target: vectors with mean 0 and length 1, orthogonal for ``reduce="length"``.
    constant : ndarray of bool of shape (n_columns,)
        Columns that never vary.
    reduce : {"length", "max", "mean"}, default="length"
        How the correlations with the vectors become one number.
    scores, inverse : callable or None, default=None
        Scores of values of the statistic, and the other way round; None if they are equal.
    n_jobs : int or None, default=None
        Threads.

    Notes
    -----
    Memory: a float32 copy of the table, and the vectors for the orders at hand.
    """

    rotates = True

    def __init__(
        self,
        X: NDArray[Any],
        vectors: Floats,
        constant: NDArray[np.bool_],
        *,
        reduce: str = "length",
        scores: Callable[[Floats], Floats] | None = None,
        inverse: Callable[[Floats], Floats] | None = None,
        n_jobs: int | None = None,
    ):
        self.X, self.constant, self.n_jobs = X, constant, n_jobs
        self.vectors = vectors.astype(np.float32)
        self.reduce, self._scores, self._inverse = reduce, scores, inverse
        self.columns: Singles | None = None

    def targets(self, orders: Orders | Rotations) -> Any:
        """Vectors in every order, ``[vector, row, order]``, or the transform of one order."""
        if isinstance(orders, Rotations):
            self._arrange(orders.rows)
            return _Transform(self.vectors[orders.rows], orders)
        if self.columns is None:
            self._arrange(np.arange(self.X.shape[0], dtype=np.int32))
        return np.ascontiguousarray(self.vectors[orders.T].transpose(2, 0, 1))

    def statistic(self, columns: NDArray[np.intp], targets: Any) -> Singles:
        """Correlation of some columns with the target in every order."""
        assert self.columns is not None
        ready = self.columns
        multiply = targets if isinstance(targets, _Transform) else _Product(targets)
        out = np.empty((columns.size, multiply.n_orders), np.float32)

        def work(first: int, last: int) -> None:
            self._fill(ready[columns[first:last]], multiply, out[first:last])

        parts = split_evenly(0, columns.size, -(-columns.size // TILE_COLUMNS))
        with blas_threads().limit(limits=1, user_api="blas"):
            run_parts(work, parts, threads_for(out.size * TILE_COLUMNS, self.n_jobs))
        return out

    def _fill(self, columns: Singles, multiply: Any, out: Singles) -> None:
        """Write the statistic of some columns, made ready, for every order."""
        sums = multiply(columns)
        for one in sums:
            np.abs(one, out=one)
        if len(sums) == 1:
            out[:] = sums[0]
        elif self.reduce == "max":
            np.maximum.reduce(sums, out=out)
        elif self.reduce == "mean":
            np.multiply(np.add.reduce(sums), np.float32(1 / len(sums)), out=out)
        else:
            np.sqrt(np.add.reduce([np.square(one, out=one) for one in sums]), out=out)

    def least(self, scores: Floats) -> Singles:
        """Correlation that reaches a score, less what rounding may take away from another."""
        own = scores if self._inverse is None else self._inverse(scores)
        rounding = ROUNDINGS * np.finfo(np.float32).eps * np.sqrt(self.X.shape[0])
        return (own - rounding * (1.0 + own)).astype(np.float32)

    def scores(self, statistic: NDArray[Any]) -> Floats:
        """Scores that belong to correlations."""
        found = np.clip(statistic.astype(np.float64), 0.0, 1.0)
        return found if self._scores is None else self._scores(found)

    def _arrange(self, rows: NDArray[np.int32]) -> None:
        """Centre and scale the columns, with the rows in a sequence of their own."""
        from tamis.statistics._permuted_kernels import standardise

        X = self.X if self.X.dtype in (np.float32, np.float64) else self.X.astype(np.float64)
        out = np.empty((X.shape[1], X.shape[0]), np.float32)
        threads = threads_for(X.size, self.n_jobs)
        tasks = split_evenly(0, X.shape[1], -(-X.shape[1] // TASK_COLUMNS))

        def work(first: int, last: int) -> None:
            standardise(X, rows, self.constant, first, last, out)

        run_kernel(standardise, work, tasks, threads, f"{X.dtype}{X.flags.c_contiguous}")
        self.columns = out


class PermutedVariances(PermutedSums):
    """Fisher's plain ratio for classes of unequal size, which needs sums of squares as well.

    Parameters
    ----------
    X, constant, scores, inverse, n_jobs
        As for :class:`PermutedSums`.
    codes : ndarray of int of shape (n_rows,)
        Class of every row.
    """

    def __init__(self, X: NDArray[Any], codes: NDArray[Any], constant: Any, **rest: Any):
        sizes = np.bincount(codes)
        order = np.argsort(sizes, kind="stable")  # the largest class follows from the others
        self.sizes = sizes[order]
        member = codes[:, None] == order[:-1]
        super().__init__(X, member.astype(np.float64), constant, **rest)

    def _fill(self, columns: Singles, multiply: Any, out: Singles) -> None:
        """Root of the share of the variance between classes, as the plain ratio counts it."""
        from tamis.statistics._permuted_kernels import variance_shares

        sums, squares = multiply(columns), multiply(np.square(columns))
        variance_shares(tuple(sums), tuple(squares), self.sizes, out)


class _Product:
    """Sums for all orders as products of matrices."""

    def __init__(self, vectors: Singles):
        self.vectors, self.n_orders = vectors, vectors.shape[2]

    def __call__(self, columns: Singles) -> list[Singles]:
        return [columns @ vector for vector in self.vectors]


class _Transform:
    """Sums for all rotations as circular correlations, by fast Fourier transforms."""

    def __init__(self, vectors: Singles, rotations: Rotations):
        from scipy.fft import rfft

        self.shape = rotations.n_orbits, rotations.length
        self.n_moved = rotations.n_orbits * rotations.length
        moved = vectors[: self.n_moved].T.reshape(-1, *self.shape)
        self.n_orders = rotations.length
        self.spectra = np.conj(rfft(moved, axis=-1))
        self.fixed = np.ascontiguousarray(vectors[self.n_moved :])

    def __call__(self, columns: Singles) -> list[Singles]:
        from scipy.fft import irfft, rfft

        from tamis.statistics._permuted_kernels import sum_products

        moved = columns[:, : self.n_moved].reshape(len(columns), *self.shape)
        spectrum = rfft(moved, axis=-1)
        rest = columns[:, self.n_moved :] @ self.fixed
        product, found = np.empty((len(columns), spectrum.shape[2]), np.complex64), []
        for vector, one in enumerate(self.spectra):
            sum_products(spectrum, one, product)
            sums = irfft(product, n=self.n_orders, axis=-1)
            found.append(sums + rest[:, vector, None] if self.fixed.size else sums)
        return found


@cache
def blas_threads() -> Any:
    """What sets the number of threads of the BLAS: columns are spread over threads of ours."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def class_vectors(codes: NDArray[Any]) -> Floats:
    """Orthonormal vectors of mean 0, constant within classes, that span what classes explain."""
    sizes = np.bincount(codes).astype(np.float64)
    share = np.sqrt(sizes / sizes.sum())
    # The first vector of the basis is the constant; the others are orthogonal to it.
    basis = np.linalg.qr(np.column_stack([share, np.eye(sizes.size)[:, :-1]]))[0][:, 1:]
    return np.asarray((basis / np.sqrt(sizes)[:, None])[codes])


def indicator_vectors(codes: NDArray[Any]) -> Floats:
    """Indicator of every class, with mean 0 and length 1."""
    member = (codes[:, None] == np.arange(codes.max() + 1)).astype(np.float64)
    return _unit(member)


def value_vector(values: Floats) -> Floats:
    """Values with mean 0 and length 1, as one vector."""
    return _unit(values[:, None])


def _unit(vectors: Floats) -> Floats:
    centred = vectors - vectors.mean(axis=0)
    centred -= centred.mean(axis=0)
    return np.asarray(centred / np.sqrt((centred**2).sum(axis=0)))
