"""The row-sparse eigenproblem of UDFS: local scatter, start, reweighted steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from tamis.filters._local_kernels import centred_grams, ridge_inverses
from tamis.statistics.neighbors import nearest_rows

Floats = NDArray[np.float64]
Product = Callable[[Floats], Floats]

# Norm below which a row of W counts as this one in its weight 1 / (2 norm).
FLOOR = 1e-10
# Eigenvalues closer than this share of the largest are one.
TIE = 1e-10
# Below this many columns LAPACK finds the eigenvectors faster than Lanczos steps.
DENSE_COLUMNS = 256


def local_scatter(
    X: Floats, n_neighbors: int, regularization: float, n_jobs: int | None = None
) -> Any:
    """``B = sum_i S_i H (X~_i' X~_i + lambda I)^-1 H S_i'``, a sparse matrix over the rows."""
    n_rows = X.shape[0]
    near, _ = nearest_rows(X, n_neighbors, n_jobs=n_jobs)
    groups = np.column_stack([np.arange(n_rows), near])
    total = sparse.csr_array((n_rows, n_rows))
    for block, grams in centred_grams(X, groups):
        rows = groups[block]
        values = ridge_inverses(grams, regularization)
        i = np.broadcast_to(rows[:, :, None], values.shape).ravel()
        j = np.broadcast_to(rows[:, None, :], values.shape).ravel()
        total = total + sparse.coo_array((values.ravel(), (i, j)), total.shape).tocsr()
    return total


class TallForm:
    """``M = X'BX`` as a matrix; for tables that are not much wider than long."""

    def __init__(self, X: Floats, B: Any):
        M = X.T @ (B @ X)
        self.M = (M + M.T) / 2.0
        self.n_columns = X.shape[1]
        self.is_zero = bool(np.trace(self.M) <= _rounding(X, B))

    def trace(self, W: Floats) -> float:
        """``Tr(W'MW)``."""
        return float(np.einsum("ij,ij->", W, self.M @ W))

    def first_norms(self, n_vectors: int) -> Floats:
        """Row norms of the smallest eigenvectors of M, averaged over what ties leave open."""
        values, vectors = linalg.eigh(self.M)
        return averaged_norms(values, vectors, n_vectors)

    def inverse(self, delta: Floats) -> Product:
        """A function for the product with ``(diag(1 / delta) + M)^-1``."""
        root = np.sqrt(delta)
        # Taking the scale out first keeps weights of very different size apart from rounding.
        inner = root[:, None] * self.M * root
        inner[np.diag_indices_from(inner)] += 1.0
        factor = linalg.cho_factor(inner, lower=True, overwrite_a=True, check_finite=False)

        def product(V: Floats) -> Floats:
            scaled = (V.T * root).T
            solved: Floats = linalg.cho_solve(factor, scaled, check_finite=False)
            return (solved.T * root).T

        return product


class WideForm:
    """``M = Z'Z`` with at most as many rows in Z as the table has; M itself is never made."""

    def __init__(self, X: Floats, B: Any):
        values, vectors = linalg.eigh(B.toarray())
        kept = values > TIE * values[-1]
        self.Z = (np.sqrt(values[kept]) * vectors[:, kept]).T @ X
        self.n_columns = X.shape[1]
        self.is_zero = bool((self.Z**2).sum() <= _rounding(X, B))

    def trace(self, W: Floats) -> float:
        """``Tr(W'MW)``."""
        return float(((self.Z @ W) ** 2).sum())

    def first_norms(self, n_vectors: int) -> Floats:
        """Row norms of a set of null vectors of M, averaged over all there are to choose from."""
        values, vectors = linalg.eigh(self.Z @ self.Z.T)
        kept = values > TIE * values[-1]
        basis = (vectors[:, kept] / np.sqrt(values[kept])).T @ self.Z
        null = np.maximum(1.0 - (basis**2).sum(axis=0), 0.0)
        norms: Floats = np.sqrt(null * n_vectors / (self.n_columns - kept.sum()))
        return norms

    def inverse(self, delta: Floats) -> Product:
        """A function for the product with ``(diag(1 / delta) + Z'Z)^-1``, by Woodbury."""
        scaled = self.Z * delta
        inner = scaled @ self.Z.T
        inner[np.diag_indices_from(inner)] += 1.0
        factor = linalg.cho_factor(inner, lower=True, overwrite_a=True, check_finite=False)

        def product(V: Floats) -> Floats:
            solved = linalg.cho_solve(factor, scaled @ V, check_finite=False)
            return (V.T * delta).T - scaled.T @ solved

        return product


def _rounding(X: Floats, B: Any) -> float:
    """What the trace of X'BX may be by rounding alone."""
    return float(np.finfo(float).eps * X.shape[0] * (X**2).sum() * B.diagonal().max())


def averaged_norms(values: Floats, vectors: Floats, n_vectors: int) -> Floats:
    """Row norms of the vectors of the smallest values, averaged over what ties leave open.

    Where the last of them ties with values that are not taken, any directions of the tied space
    would do: their squared rows are replaced by the mean over all choices.
    """
    squares = vectors**2
    last, near = values[n_vectors - 1], TIE * np.abs(values).max()
    below = values < last - near
    tied = ~below & (values <= last + near)
    share = (n_vectors - below.sum()) / tied.sum()
    norms: Floats = np.sqrt(squares[:, below].sum(axis=1) + share * squares[:, tied].sum(axis=1))
    return norms


def form_of(X: Floats, B: Any, n_vectors: int) -> TallForm | WideForm:
    """The cheaper of the two forms; the wide one needs more null vectors than are asked for."""
    n_rows, n_columns = X.shape
    return WideForm(X, B) if n_columns > 1.5 * n_rows + n_vectors else TallForm(X, B)


class RowSparseVectors:
    """``min Tr(W'MW) + gamma ||W||_{2,1}`` over ``W'W = I`` by reweighted eigenproblems.

    Parameters
    ----------
    form : TallForm or WideForm
        The matrix M.
    n_vectors : int
        Columns of W.
    gamma : float
        Weight of the norm.
    """

    def __init__(self, form: TallForm | WideForm, n_vectors: int, gamma: float):
        self.form, self.n_vectors, self.gamma = form, n_vectors, gamma
        self.norms = form.first_norms(n_vectors)
        self.path: list[float] = []
        self.n_steps, self.converged = 0, False

    def iterate(self, max_iter: int, tol: float) -> Iterator[int]:
        """Steps until the objective falls by no more than its share `tol`."""
        if self.form.is_zero:  # nothing tells the columns apart
            self.converged = True
            return
        for step in range(max_iter):
            before, self.n_steps = self.norms, step + 1
            W = self._smallest(2.0 * np.maximum(before, FLOOR) / self.gamma)
            if W is None:
                self.converged = bool(np.abs(self.norms - before).max() <= tol)
            else:
                self._take(W)
                self.converged = len(self.path) > 1 and self._gain() <= tol * self.path[-1]
            yield step
            if self.converged:
                return

    def _take(self, W: Floats) -> None:
        self.norms = np.sqrt((W**2).sum(axis=1))
        self.path.append(self.form.trace(W) + self.gamma * float(self.norms.sum()))

    def _gain(self) -> float:
        return self.path[-2] - self.path[-1]

    def _smallest(self, delta: Floats) -> Floats | None:
        """Eigenvectors of ``diag(1 / delta) + M``, as those of the largest values of the inverse.

        If it is a tie which ones these are, the norms become those averaged over all choices.
        """
        n_columns, product = self.form.n_columns, self.form.inverse(delta)
        if n_columns > max(DENSE_COLUMNS, 4 * self.n_vectors):
            return _largest_vectors(product, n_columns, self.n_vectors)
        inverse = product(np.eye(n_columns))
        inverse = (inverse + inverse.T) / 2.0
        first = max(0, n_columns - self.n_vectors - 1)
        values, vectors = linalg.eigh(inverse, subset_by_index=(first, n_columns - 1))
        n_more = values.size - self.n_vectors
        if n_more and values[1] - values[0] <= TIE * values[-1]:
            values, vectors = linalg.eigh(-inverse)
            self.norms = averaged_norms(values, vectors, self.n_vectors)
            return None
        chosen: Floats = vectors[:, n_more:]
        return chosen


def _largest_vectors(product: Product, n_columns: int, n_vectors: int) -> Floats:
    from scipy.sparse.linalg import LinearOperator, eigsh

    operator = LinearOperator((n_columns, n_columns), matvec=product, dtype=np.float64)
    # A start without any symmetry: one that duplicate columns share would hide their difference.
    start = np.random.default_rng(0).standard_normal(n_columns)
    _, vectors = eigsh(
        operator,
        k=n_vectors,
        which="LA",
        v0=start,
        ncv=min(n_columns, 4 * n_vectors + 8),
        maxiter=100 * n_columns,
    )
    return np.asarray(vectors)
