"""PermutedSums: scores that are functions of sums over rows, for many orders of the target."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from threading import local
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.compilation import announce_compilation
from tamis._runtime.threads import run_parts, split_evenly, threads_for
from tamis.statistics.permuted import Floats, Orders, Rotations

Singles = NDArray[np.float32]
# Cells and columns at least per task of making columns ready; the result does not depend on it.
TASK_CELLS, TASK_COLUMNS = 2**16, 64
# Columns that one thread multiplies or transforms at a time: a product gets the target ready anew.
PRODUCT_COLUMNS, TRANSFORM_COLUMNS = 512, 64
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
        self.rooms = local()

    def targets(self, orders: Orders | Rotations) -> Any:
        """Vectors in every order, to multiply with; for rotations, the statistic itself."""
        if isinstance(orders, Rotations):
            return self._rotate(orders)
        if self.columns is None:
            self._arrange()
        return _Product(
            [np.ascontiguousarray(vector[orders].T) for vector in self.vectors.T.copy()]
        )

    def statistic(self, columns: NDArray[np.intp], targets: Any) -> Singles:
        """Correlation of some columns with the target in every order.

        The next call writes to the same memory.
        """
        if isinstance(targets, np.ndarray):
            return targets[columns]
        assert self.columns is not None
        ready, out = self.columns, self._room("out", (columns.size, targets.n_orders))

        def work(first: int, last: int) -> None:
            self._fill(ready[columns[first:last]], targets, out[first:last])

        self._over_tiles(work, out, PRODUCT_COLUMNS)
        return out

    def _rotate(self, rotations: Rotations) -> Singles:
        """Statistic of all columns for all rotations: at most a quarter of the table."""
        transform = _Transform(self.vectors[rotations.rows], rotations)
        out = np.empty((self.X.shape[1], rotations.length), np.float32)
        standardise, X = self._standardise()

        def work(first: int, last: int) -> None:
            ready = self._room("ready", (X.shape[0], last - first))
            standardise(X, rotations.rows, self.constant, first, last, ready)
            self._fill(ready.T, transform, out[first:last])

        self._over_tiles(work, out, TRANSFORM_COLUMNS)
        return out

    def _room(self, name: str, shape: tuple[int, ...]) -> Singles:
        """Memory of this thread that is used again: fresh pages cost more than what is computed."""
        rooms, size = self.rooms.__dict__, prod(shape)
        if name not in rooms or rooms[name].size < size:
            rooms[name] = np.empty(size, np.float32)
        return np.asarray(rooms[name][:size].reshape(shape))

    def _over_tiles(self, work: Callable[[int, int], None], out: Singles, most: int) -> None:
        """Let threads go through tiles of the columns, at least one for each."""
        threads = threads_for(32 * out.size, self.n_jobs)
        tiles = split_evenly(0, len(out), max(-(-len(out) // most), threads))
        run_parts(work, tiles, threads)

    def _fill(self, columns: Singles, multiply: Any, out: Singles) -> None:
        """Write the statistic of some columns, made ready, for every order."""
        sums = multiply(columns, out)
        for one in sums:
            np.abs(one, out=one)
        if len(sums) == 1:
            return
        if self.reduce == "max":
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

    def _arrange(self) -> None:
        """Centre and scale the columns."""
        standardise, X = self._standardise()
        out = np.empty((X.shape[1], X.shape[0]), np.float32)
        rows = np.arange(X.shape[0], dtype=np.int32)

        def work(first: int, last: int) -> None:
            tile = self._room("tile", (X.shape[0], last - first))
            standardise(X, rows, self.constant, first, last, tile)
            out[first:last] = tile.T

        width = max(TASK_COLUMNS, TASK_CELLS // X.shape[0])
        tasks = split_evenly(0, X.shape[1], -(-X.shape[1] // width))
        run_parts(work, tasks, threads_for(X.size, self.n_jobs))
        self.columns = out

    def _standardise(self) -> tuple[Any, NDArray[Any]]:
        """Kernel that centres and scales columns, and the table as it takes it."""
        from tamis.statistics._permuted_kernels import standardise

        X = self.X if self.X.dtype in (np.float32, np.float64) else self.X.astype(np.float64)
        with announce_compilation(standardise, f"{X.dtype}{X.flags.c_contiguous}"):
            few = X[:1], np.zeros(1, np.int32), self.constant
            standardise(*few, 0, 1, np.empty((1, 1), np.float32))
        return standardise, X


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

        sums = multiply(columns, self._room("sums", out.shape))
        squares = multiply(np.square(columns), self._room("squares", out.shape))
        variance_shares(tuple(sums), tuple(squares), self.sizes, out)


class _Product:
    """Sums for all orders as products of matrices."""

    def __init__(self, vectors: list[Singles]):
        self.vectors, self.n_orders = vectors, vectors[0].shape[1]

    def __call__(self, columns: Singles, out: Singles) -> list[Singles]:
        """Sums with every vector, those with the first one in `out`."""
        first = np.matmul(columns, self.vectors[0], out=out)
        return [first, *(columns @ vector for vector in self.vectors[1:])]


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

    def __call__(self, columns: Singles, out: Singles) -> list[Singles]:
        """Sums with every vector, those with the first one in `out`."""
        from scipy.fft import irfft, rfft

        from tamis.statistics._permuted_kernels import sum_products

        # Rows come first in memory, as they do in the table.
        spectrum = rfft(columns.T[: self.n_moved].reshape(*self.shape, -1), axis=1)
        rest = columns[:, self.n_moved :] @ self.fixed
        product, found = np.empty(spectrum.shape[1:], np.complex64), []
        for vector, target in enumerate(self.spectra):
            sum_products(spectrum, target, product)
            sums = irfft(product, n=self.n_orders, axis=0).T
            one = np.empty_like(out) if vector else out
            found.append(np.add(sums, rest[:, vector, None], out=one))
        return found


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
