"""UDFS: columns that tell neighbourhoods apart, found together under a row-sparse norm."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from tamis._base import BaseSelector, Scores
from tamis._columns import centred_columns
from tamis._facts import BOTH_TASKS, SelectorFacts
from tamis._runtime.warning import warn
from tamis._validation import N_JOBS, Constraint, Number
from tamis.filters._neighbor_graph import largest_vectors
from tamis.statistics.neighbors import centred_grams, nearest_rows, ridge_inverses

Floats = NDArray[np.float64]
Product = Callable[[Floats], Floats]

# Norm below which a row of W counts as this one in its weight 1 / (2 norm).
FLOOR = 1e-10
# Eigenvalues closer than this share of the largest are one.
TIE = 1e-10
# Below this many columns LAPACK finds the eigenvectors faster than Lanczos steps.
DENSE_COLUMNS = 256


@dataclass(kw_only=True, eq=False, repr=False)
class UDFS(BaseSelector):
    """Unsupervised discriminative feature selection with the l2,1 norm.

    A projection is sought in which every row and its nearest neighbours are as discriminative as
    possible: little scatter inside the neighbourhood that is not explained by differences between
    its rows. The l2,1 norm makes it rest on few columns, chosen together. It needs no target.

    Parameters
    ----------
    n_clusters : int, default=5
        Directions of the projection, c in the paper; at most the number of columns that vary less
        one.
    n_neighbors : int, default=5
        Nearest rows that make up a neighbourhood with the row itself, k in the paper; at most
        ``n_samples - 1``.
    gamma : float, default=0.001
        Weight of the norm; the larger, the fewer columns have a score that differs from 0.
    regularization : float, default=1.0
        Ridge on the scatter of a neighbourhood, lambda in the paper; at least 1e-10, since less
        is lost in rounding.
    max_iter : int, default=200
        Most eigenproblems.
    tol : float, default=1e-6
        They end when the objective falls by no more than this share of itself.
    n_features_to_select : int, float, "elbow", "all" or rule, default="elbow"
        The cut; see :mod:`tamis.cutoff`.
    n_jobs : int or None, default=None
        Threads of the neighbour search; ``None`` uses all cores. The result does not depend on it.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Length of the column's row in the projection, between 0 and 1; 0 for constant columns.
    objective_ : ndarray of shape (n_steps,)
        ``Tr(W'MW) + gamma ||W||_{2,1}`` after every eigenproblem; it never rises.
    n_iter_ : int
        Eigenproblems solved.
    order_, ranking_, support_, n_selected_, constant_, cut_details_
        As for every selector.

    Notes
    -----
    Columns are standardised first, so that `gamma` and `regularization` mean the same for all
    tables. Missing cells are at the mean of their column; sparse tables are made dense.

    ``O(n_samples^2 n_features)`` for the neighbours; an eigenproblem costs ``O(n_features^3 +
    n_features^2 n_clusters)`` for long tables, ``O(n_samples^2 n_features)`` for wide ones. Memory:
    ``n_samples n_neighbors^2`` numbers, a copy of the table, and the square of the smaller side.

    The paper starts from a matrix D of ones. With more columns than rows, many projections tie for
    the first place; D is computed from the row lengths averaged over all of them, as for later ties
    of tables of up to 256 columns. Lengths below 1e-10 count as 1e-10 in D, so that scores near 0
    still say which columns come next. Two equal columns are not equal to a single one: their
    difference is a direction without any scatter, which this method favours.

    References
    ----------
    Yang, Y., Shen, H. T., Ma, Z., Huang, Z. and Zhou, X. (2011). l2,1-norm regularized
    discriminative feature selection for unsupervised learning. IJCAI, 1589-1594.
    https://doi.org/10.5591/978-1-57735-516-8/IJCAI11-267

    Examples
    --------
    >>> import numpy as np
    >>> from tamis import UDFS
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(90, 10))
    >>> X[:, :3] += 6 * np.repeat(np.eye(3), 30, axis=0)
    >>> UDFS(n_clusters=2, n_features_to_select=3).fit(X).get_support(indices=True)
    array([0, 1, 2])
    """

    n_clusters: int = 5
    n_neighbors: int = 5
    gamma: float = 0.001
    regularization: float = 1.0
    max_iter: int = 200
    tol: float = 1e-6
    n_features_to_select: Any = "elbow"
    n_jobs: int | None = None

    facts: ClassVar[SelectorFacts] = SelectorFacts(
        summary="Weight in directions that separate neighbourhoods, under an l2,1 penalty.",
        tasks=BOTH_TASKS,
        cost="rounds of T^2 n, or n^3",
        reference="Yang et al. 2011",
        scope="jointly",
        redundancy="yes",
    )

    _supervised: ClassVar[bool] = False
    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_clusters": Number(int, low=1),
        "n_neighbors": Number(int, low=1),
        "gamma": Number(float, low=0, open_low=True),
        "regularization": Number(float, low=1e-10),
        "max_iter": Number(int, low=1),
        "tol": Number(float, low=0),
        "n_jobs": N_JOBS,
    }

    def _score(self, X: Any, y: Any, weight: NDArray[np.float64] | None) -> Scores:
        constant = self._find_constant(X, weight)
        scores = np.zeros(constant.size)
        table = centred_columns(X, ~constant, scale=True)
        n_vectors = min(self.n_clusters, max(1, table.shape[1] - 1))
        B = local_scatter(table, self.n_neighbors, self.regularization, self.n_jobs)
        solver = RowSparseVectors(form_of(table, B, n_vectors), n_vectors, self.gamma)
        for _ in self.steps("projection", solver.iterate(self.max_iter, self.tol), self.max_iter):
            pass
        self.objective_, self.n_iter_ = np.array(solver.path), solver.n_steps
        if self.n_iter_ == self.max_iter and not solver.converged:
            warn(
                f"UDFS: the objective was still falling after {self.max_iter} eigenproblems. "
                "Raise max_iter or tol."
            )
        scores[~constant] = solver.norms
        return scores, constant


def local_scatter(X: Floats, n_neighbors: int, regularization: float, n_jobs: Any = None) -> Any:
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
        return np.asarray(np.sqrt(null * n_vectors / (self.n_columns - kept.sum())))

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
    """Row norms of the vectors of the smallest values, averaged over all choices where they tie."""
    squares = vectors**2
    last, near = values[n_vectors - 1], TIE * np.abs(values).max()
    below = values < last - near
    tied = ~below & (values <= last + near)
    share = (n_vectors - below.sum()) / tied.sum()
    return np.asarray(np.sqrt(squares[:, below].sum(axis=1) + share * squares[:, tied].sum(axis=1)))


def form_of(X: Floats, B: Any, n_vectors: int) -> TallForm | WideForm:
    """The cheaper of the two forms; the wide one needs more null vectors than are asked for."""
    n_rows, n_columns = X.shape
    return WideForm(X, B) if n_columns > 1.5 * n_rows + n_vectors else TallForm(X, B)


class RowSparseVectors:
    """``min Tr(W'MW) + gamma ||W||_{2,1}`` over ``W'W = I`` by reweighted eigenproblems."""

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
                self.norms = np.sqrt((W**2).sum(axis=1))
                self.path.append(self.form.trace(W) + self.gamma * float(self.norms.sum()))
                gain = self.path[-2] - self.path[-1] if len(self.path) > 1 else np.inf
                self.converged = gain <= tol * self.path[-1]
            yield step
            if self.converged:
                return

    def _smallest(self, delta: Floats) -> Floats | None:
        """Eigenvectors of ``diag(1 / delta) + M``; None if they tie: norms are averaged then."""
        n_columns, product = self.form.n_columns, self.form.inverse(delta)
        if n_columns > max(DENSE_COLUMNS, 4 * self.n_vectors):
            breadth, limit = 4 * self.n_vectors + 8, 100 * n_columns
            return largest_vectors(product, n_columns, self.n_vectors, breadth, maxiter=limit)[1]
        inverse = product(np.eye(n_columns))
        inverse = (inverse + inverse.T) / 2.0
        first = max(0, n_columns - self.n_vectors - 1)
        values, vectors = linalg.eigh(inverse, subset_by_index=(first, n_columns - 1))
        n_more = values.size - self.n_vectors
        if n_more and values[1] - values[0] <= TIE * values[-1]:
            values, vectors = linalg.eigh(-inverse)
            self.norms = averaged_norms(values, vectors, self.n_vectors)
            return None
        return np.asarray(vectors[:, n_more:])
