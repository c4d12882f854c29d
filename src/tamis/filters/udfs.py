"""UDFS: columns that tell neighbourhoods apart, found together under a row-sparse norm."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tamis._base import BaseSelector, Scores
from tamis._columns import centred_columns, find_constant
from tamis._facts import BOTH_TASKS, SelectorFacts
from tamis._runtime.warning import warn
from tamis._validation import N_JOBS, Constraint, Number

POSITIVE = Number(float, low=0, open_low=True)


class UDFS(BaseSelector):
    """Unsupervised discriminative feature selection with the l2,1 norm.

    A projection is sought in which every row and its nearest neighbours are as discriminative as
    possible: little scatter inside the neighbourhood that is not explained by differences between
    its rows. A norm that sums the lengths of the rows of the projection makes it rest on few
    columns, which are therefore chosen together and not one by one. It needs no target.

    Parameters
    ----------
    n_clusters : int, default=5
        Directions of the projection, c in the paper. At most the number of columns that vary,
        less one, are used.
    n_neighbors : int, default=5
        Nearest rows that make up a neighbourhood with the row itself, k in the paper. At most
        ``n_samples - 1`` are used.
    gamma : float, default=0.001
        Weight of the norm; the larger, the fewer columns have a score that differs from 0.
    regularization : float, default=1.0
        Ridge on the scatter of a neighbourhood, lambda in the paper.
    max_iter : int, default=200
        Most eigenproblems.
    tol : float, default=1e-6
        They end when the objective falls by no more than this share of itself.
    n_features_to_select : int, float, "elbow", "all" or rule, default="elbow"
        The cut; see :mod:`tamis.cutoff`.
    n_jobs : int or None, default=None
        Threads of the search for neighbours; ``None`` uses all cores. The result does not depend
        on it.

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
    Columns are centred and divided by their standard deviation first, so that `gamma` and
    `regularization` mean the same for all tables. Missing cells are put at the mean of their
    column; sparse tables are made dense.

    ``O(n_samples^2 n_features)`` for the neighbours. An eigenproblem costs
    ``O(n_features^3 + n_features^2 n_clusters)`` for long tables; for wide ones the matrix over
    all pairs of columns is never made and it costs ``O(n_samples^2 n_features)``. Memory for
    ``n_samples n_neighbors^2`` numbers, a copy of the table, and the square of the smaller side.

    The paper starts from a matrix D of ones. If there are more columns than rows, many
    projections then tie for the first place; D is computed from the row lengths averaged over all
    of them. The same is done for later ties of tables of up to 256 columns. Lengths below 1e-10
    count as 1e-10 in D, so the columns that are not needed have scores near 0 that still say
    which of them come next. Two equal columns are not equal to a single one: their difference is a
    direction without any scatter, which this method likes.

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

    facts: ClassVar[SelectorFacts] = SelectorFacts(
        summary="Weight in directions that separate neighbourhoods, under an l2,1 penalty.",
        tasks=BOTH_TASKS,
        cost="rounds of T^2 n, or n^3",
        reference="Yang et al. 2011",
        page="filters",
        scope="jointly",
        redundancy="yes",
    )

    _supervised: ClassVar[bool] = False
    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_clusters": Number(int, low=1),
        "n_neighbors": Number(int, low=1),
        "gamma": POSITIVE,
        "regularization": POSITIVE,
        "max_iter": Number(int, low=1),
        "tol": Number(float, low=0),
        "n_jobs": N_JOBS,
    }

    def __init__(
        self,
        *,
        n_clusters: int = 5,
        n_neighbors: int = 5,
        gamma: float = 0.001,
        regularization: float = 1.0,
        max_iter: int = 200,
        tol: float = 1e-6,
        n_features_to_select: Any = "elbow",
        n_jobs: int | None = None,
    ):
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.gamma = gamma
        self.regularization = regularization
        self.max_iter = max_iter
        self.tol = tol
        self.n_features_to_select = n_features_to_select
        self.n_jobs = n_jobs

    def _score(self, X: Any, y: Any, weight: NDArray[np.float64] | None) -> Scores:
        from tamis.filters._udfs_solver import RowSparseVectors, form_of, local_scatter

        constant = find_constant(self, X, weight)
        scores = np.zeros(constant.size)
        if constant.all():
            return scores, constant
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
