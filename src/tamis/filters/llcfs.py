"""LLCFS: weights of columns learned while neighbours predict each other's cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from tamis._base import BaseSelector, Scores
from tamis._columns import centred_columns
from tamis._facts import BOTH_TASKS, SelectorFacts
from tamis._validation import N_JOBS, Constraint, Number
from tamis.filters._neighbor_graph import largest_vectors
from tamis.statistics.neighbors import centred_grams, nearest_rows, ridge_inverses

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
Models = tuple[slice, Floats, Floats]

# Models of all rows are kept up to this size, in numbers; beyond they are made a second time.
KEPT_NUMBERS = 2**24
# Up to this many rows LAPACK finds the eigenvectors; beyond, shifted and inverted Lanczos steps.
DENSE_ROWS = 2000
# Up to this many rows the shifted matrix is factored as a dense one.
DENSE_FACTOR_ROWS = 5000
SHIFT = 1e-6
# Models that weigh no more than this are flat: rounding, not the columns, made them.
FLAT = 1e-10
TILE_NUMBERS = 2**21


@dataclass(kw_only=True, eq=False, repr=False)
class LLCFS(BaseSelector):
    """Feature selection for local learning-based clustering.

    In a good clustering, a ridge regression for every row predicts its cluster from those of its
    nearest rows. The method looks for cluster indicators that are predicted best, gives the columns
    that the regressions use more weight, and repeats both with the new weights in distances and
    regressions. It needs no target, and suits tables with many irrelevant columns, wide ones too.

    Parameters
    ----------
    n_clusters : int, default=5
        Number of cluster indicators, c in the paper; at least 2 are used, since the first one is
        constant, and at most `n_samples`.
    n_neighbors : int, default=15
        Rows from which the indicators of a row are predicted, k in the paper; at most
        ``n_samples - 1``.
    beta : float, default=1.0
        Weight of the errors of a regression against its penalty; small values give smooth models.
        At most 1e10, since a smaller penalty is lost in rounding.
    max_iter : int, default=20
        Most rounds.
    tol : float, default=1e-3
        The rounds end when the weights change by no more than this in sum; all sum to 1.
    n_features_to_select : int, float, "elbow", "all" or rule, default="elbow"
        The cut; see :mod:`tamis.cutoff`.
    n_jobs : int or None, default=None
        Threads of the neighbour search; ``None`` uses all cores. The result does not depend on it.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Weights of the columns, tau in the paper: not negative, sum 1; 0 for constant columns.
    objective_ : ndarray of shape (n_rounds,)
        Squared error of the predictions of the indicators, in every round, before the weights
        change.
    n_iter_ : int
        Rounds gone through.
    converged_ : bool
        Whether the weights had settled by then.
    order_, ranking_, support_, n_selected_, constant_, cut_details_
        As for every selector.

    Notes
    -----
    Columns are standardised first, with missing cells at the mean; sparse tables are made dense. A
    round costs ``O(n_samples^2 n_features)`` for the neighbours and as much or less for the
    regressions, ``O(n_samples n_neighbors^3)`` to solve them, and ``O(n_samples^3)`` for the
    indicators, with a sparse factorisation above 5,000 rows.

    The weights need not settle, and no warning is given for that: there is no objective that both
    halves of a round lower. If the clusters lie so far apart that no row has neighbours in another
    one, all regressions are flat and the weights stay; take more neighbours then. The paper takes
    mutual neighbours only, which may leave a row without any; here all nearest rows are used.

    References
    ----------
    Zeng, H. and Cheung, Y. (2011). Feature selection and kernel learning for local learning-based
    clustering. IEEE Transactions on Pattern Analysis and Machine Intelligence 33(8), 1532-1547.
    https://doi.org/10.1109/TPAMI.2010.215

    Examples
    --------
    >>> import numpy as np
    >>> from tamis import LLCFS
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(90, 10))
    >>> X[:, :3] += 6 * np.repeat(np.eye(3), 30, axis=0)
    >>> LLCFS(n_clusters=3, n_features_to_select=3).fit(X).get_support(indices=True)
    array([0, 1, 2])
    """

    n_clusters: int = 5
    n_neighbors: int = 15
    beta: float = 1.0
    max_iter: int = 20
    tol: float = 1e-3
    n_features_to_select: Any = "elbow"
    n_jobs: int | None = None

    facts: ClassVar[SelectorFacts] = SelectorFacts(
        summary="Weight in local regressions that predict clusters from neighbouring samples.",
        tasks=BOTH_TASKS,
        cost="rounds T^2 n",
        reference="Zeng and Cheung 2011",
        scope="jointly",
        nonlinear="partly",
    )

    _supervised: ClassVar[bool] = False
    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_clusters": Number(int, low=1),
        "n_neighbors": Number(int, low=1),
        "beta": Number(float, low=0, high=1e10, open_low=True),
        "max_iter": Number(int, low=1),
        "tol": Number(float, low=0),
        "n_jobs": N_JOBS,
    }

    def _score(self, X: Any, y: Any, weight: NDArray[np.float64] | None) -> Scores:
        constant = self._find_constant(X, weight)
        scores = np.zeros(constant.size)
        table = centred_columns(X, ~constant, scale=True)
        solver = LocalLearning(table, self.n_clusters, self.n_neighbors, self.beta, self.n_jobs)
        for _ in self.steps("weights", solver.iterate(self.max_iter, self.tol), self.max_iter):
            pass
        self.objective_ = np.array(solver.path)
        self.n_iter_, self.converged_ = len(solver.path), solver.converged
        scores[~constant] = solver.tau
        return scores, constant


class LocalLearning:
    """Alternate between cluster indicators and weights of columns of a standardised table."""

    def __init__(
        self, X: Floats, n_clusters: int, n_neighbors: int, beta: float, n_jobs: int | None
    ):
        self.X, self.beta, self.n_jobs = X, beta, n_jobs
        self.n_clusters = min(max(n_clusters, 2), X.shape[0])
        self.n_neighbors = min(n_neighbors, X.shape[0] - 1)
        self.tau = np.full(X.shape[1], 1.0 / X.shape[1])
        self.path: list[float] = []
        self.converged = False

    def iterate(self, max_iter: int, tol: float) -> Iterator[int]:
        """Steps until the weights change by no more than `tol` in sum."""
        for step in range(max_iter):
            weights = self._step()
            total = weights.sum()
            if total <= FLAT:  # every model is flat: the clusters lie apart in these weights
                self.converged = True
            else:
                before, self.tau = self.tau, weights / total
                self.converged = bool(np.abs(self.tau - before).sum() <= tol)
            yield step
            if self.converged:
                return

    def _step(self) -> Floats:
        """``sqrt(sum_c sum_i w_il^c ^2)`` of every column, under the present weights."""
        table = self.X * np.sqrt(self.tau)
        near, _ = nearest_rows(table, self.n_neighbors, n_jobs=self.n_jobs)
        keep = near.size * near.shape[1] <= KEPT_NUMBERS
        models: Iterable[Models] = local_models(table, near, self.beta)
        models = list(models) if keep else models
        values, Y = smallest_vectors(prediction_matrix(near, models), self.n_clusters)
        self.path.append(float(values.sum()))
        if not keep:
            models = local_models(table, near, self.beta)
        return np.asarray(self.tau * model_lengths(self.X, near, models, Y))


def local_models(table: Floats, near: Rows, beta: float) -> Iterator[Models]:
    """Ridge regressions of all rows: dual coefficients, and products ``(x_i - mean)' Xc'``.

    With ``K_i = Xc Xc'`` of the neighbours less their mean and ``R_i = H (K_i + I / beta)^-1 H``,
    the model of row i for targets y is ``w = Xc' R_i y`` through the mean of the neighbours.
    """
    groups = np.column_stack([np.arange(near.shape[0]), near])
    for block, grams in centred_grams(table, groups, first=1):
        yield block, ridge_inverses(grams[:, 1:, 1:], 1.0 / beta), grams[:, 0, 1:].copy()


def prediction_matrix(near: Rows, models: Iterable[Models]) -> Any:
    """A: row i holds the weights with which the targets of its neighbours predict its own."""
    n_rows, k = near.shape
    values = np.empty((n_rows, k))
    for block, R, products in models:
        values[block] = 1.0 / k + np.einsum("ij,ijk->ik", products, R)
    starts = np.arange(0, n_rows * k + 1, k)
    return sparse.csr_array((values.ravel(), near.ravel(), starts), shape=(n_rows, n_rows))


def smallest_vectors(A: Any, n_vectors: int) -> tuple[Floats, Floats]:
    """Smallest eigenvalues and their vectors of ``(I - A)'(I - A)``."""
    n_rows = A.shape[0]
    residual = sparse.eye_array(n_rows, format="csr") - A
    if n_rows <= max(DENSE_ROWS, 2 * n_vectors):
        dense = residual.toarray()
        values, vectors = linalg.eigh(dense.T @ dense, subset_by_index=(0, n_vectors - 1))
    else:
        values, vectors = _smallest_by_inverse((residual.T @ residual).tocsc(), n_vectors)
    return np.maximum(values, 0.0), np.asarray(vectors)


def _smallest_by_inverse(M: Any, n_vectors: int) -> tuple[Floats, Floats]:
    from scipy.sparse.linalg import splu

    shift = SHIFT * M.diagonal().mean()
    if M.shape[0] <= DENSE_FACTOR_ROWS:
        dense = M.toarray()
        dense[np.diag_indices_from(dense)] += shift
        factor = linalg.cho_factor(dense, lower=True, overwrite_a=True, check_finite=False)
        solve = lambda v: linalg.cho_solve(factor, v, check_finite=False)  # noqa: E731
    else:
        solve = splu((M + shift * sparse.eye_array(M.shape[0])).tocsc()).solve
    inverted, vectors = largest_vectors(solve, M.shape[0], n_vectors, 4 * n_vectors + 8)
    order = np.argsort(-inverted, kind="stable")
    return 1.0 / inverted[order] - shift, vectors[:, order]


def model_lengths(X: Floats, near: Rows, models: Iterable[Models], Y: Floats) -> Floats:
    """Root of the summed squares of ``X_i' R_i y`` over all rows and indicators, by column."""
    n_rows, k = near.shape
    n_vectors = Y.shape[1]
    values = np.empty((n_rows, n_vectors, k))
    for block, R, _ in models:
        values[block] = (R @ Y[near[block]]).transpose(0, 2, 1)
    columns = np.repeat(near[:, None, :], n_vectors, axis=1)
    starts = np.arange(0, values.size + 1, k)
    shape = (n_rows * n_vectors, n_rows)
    map_ = _shortened(sparse.csr_array((values.ravel(), columns.ravel(), starts), shape=shape))
    squares = np.empty(X.shape[1])
    step = max(1, TILE_NUMBERS // map_.shape[0])
    for first in range(0, X.shape[1], step):
        part = slice(first, first + step)
        squares[part] = ((map_ @ X[:, part]) ** 2).sum(axis=0)
    return np.sqrt(squares)


def _shortened(map_: Any) -> Any:
    """A matrix that gives vectors the same lengths; triangular, if that has fewer entries."""
    n_rows = map_.shape[1]
    if n_rows * (n_rows + 1) >= map_.nnz:
        return map_
    return sparse.csr_array(linalg.qr(map_.toarray(), mode="r")[0][:n_rows])
