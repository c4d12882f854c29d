"""MCFS: columns that a sparse regression needs to follow the clusters of the rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tamis._base import BaseSelector, Scores
from tamis._columns import centred_columns
from tamis._facts import BOTH_TASKS, SelectorFacts
from tamis._validation import Constraint, Number
from tamis.filters._neighbor_graph import GRAPH_CONSTRAINTS, row_graph, spectral_embedding

Floats = NDArray[np.float64]

# Bytes up to which the products of all pairs of columns are computed once for all regressions.
GRAM_LIMIT = 128 * 2**20


@dataclass(kw_only=True, eq=False, repr=False)
class MCFS(BaseSelector):
    """Multi-cluster feature selection: columns that explain the clusters of the rows.

    The rows are joined to their nearest neighbours in a graph, whose first eigenvectors tell its
    clusters apart. Each eigenvector is written as a sparse combination of the columns, and a column
    counts by its largest coefficient; of several redundant columns one is enough. No target is
    used.

    Parameters
    ----------
    n_clusters : int, default=5
        Number of eigenvectors; the number of clusters expected is a good choice.
    n_nonzero : int, default=50
        Most columns that one eigenvector may use, d in the paper. At most
        ``n_clusters * n_nonzero`` columns have a score above 0.
    n_neighbors, affinity, width, memory_limit
        As in :class:`~tamis.LaplacianScore`.
    scale : bool, default=False
        Divide every column by its deviation before distances are taken. The regressions always
        use columns of unit deviation.
    n_features_to_select : int, float, "elbow", "all" or rule, default="elbow"
        The cut; see :mod:`tamis.cutoff`.
    n_jobs : int or None, default=None
        Threads of the neighbour search; ``None`` uses all cores. The result does not depend on it.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Largest absolute coefficient over the eigenvectors; 0 for columns that none of them uses,
        which therefore tie and come in the order of the table.
    coefficients_ : ndarray of shape (n_eigenvectors, n_features)
        Standardised regression coefficients: column and eigenvector have deviation 1.
    eigenvalues_ : ndarray of shape (n_eigenvectors,)
        Of the eigenvectors used, ascending; 0 for those that tell apart parts of the graph without
        an edge between them. Fewer than `n_clusters` if the graph has fewer.
    order_, ranking_, support_, n_selected_, constant_, cut_details_
        As for every selector.

    Notes
    -----
    ``O(n_samples**2 n_features)`` time for the neighbours; eigenvectors by ARPACK (dense below 400
    rows); ``O(n_clusters n_nonzero n_samples n_features)`` for the regressions, by scikit-learn's
    :func:`~sklearn.linear_model.lars_path` with the lasso modification, stopped after `n_nonzero`
    steps. Two dense copies of the table are made.

    Missing cells are at the mean of their column. The eigenvectors are of ``L y = lambda D y``
    after the constant one. If the graph falls into several parts, 0 is a multiple eigenvalue; of
    its vectors, those along the principal axes of the column means of the parts are used. The paper
    does not say how columns and eigenvectors are normalised; here both have deviation 1.

    References
    ----------
    Cai, D., Zhang, C. and He, X. (2010). Unsupervised feature selection for multi-cluster data.
    KDD. https://doi.org/10.1145/1835804.1835848

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamis import MCFS
    >>> data = load_iris(as_frame=True)
    >>> selector = MCFS(n_clusters=2, n_nonzero=1, n_features_to_select=1).fit(data.data)
    >>> selector.get_feature_names_out()
    array(['petal length (cm)'], dtype=object)
    """

    n_clusters: int = 5
    n_nonzero: int = 50
    n_neighbors: int = 5
    affinity: Any = "heat"
    width: float | None = None
    scale: bool = False
    memory_limit: float | str | None = None
    n_features_to_select: Any = "elbow"
    n_jobs: int | None = None

    facts: ClassVar[SelectorFacts] = SelectorFacts(
        summary="Weight in sparse regressions on the spectral embedding of the samples.",
        tasks=BOTH_TASKS,
        cost="T^2 n + clusters T d n",
        reference="Cai et al. 2010",
        scope="jointly",
        redundancy="yes",
        scaling="distances: yes",
    )

    _supervised: ClassVar[bool] = False
    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_clusters": Number(int, low=1),
        "n_nonzero": Number(int, low=1),
        **GRAPH_CONSTRAINTS,
    }

    def _score(self, X: Any, y: Any, weight: Floats | None) -> Scores:
        constant = self._find_constant(X, weight)
        graph = row_graph(self, X, ~constant)
        columns = centred_columns(X, ~constant)
        # By the largest value first: the square of a tiny one is 0.
        columns /= np.maximum(columns.max(axis=0), -columns.min(axis=0))
        columns /= np.sqrt(np.einsum("ij,ij->j", columns, columns))
        vectors, self.eigenvalues_ = spectral_embedding(graph, columns, self.n_clusters)
        shared = columns.shape[1] <= columns.shape[0] and 8 * columns.shape[1] ** 2 <= GRAM_LIMIT
        gram = columns.T @ columns if shared else None
        self.coefficients_ = np.zeros((vectors.shape[1], constant.size))
        for k in self.steps("eigenvectors", range(vectors.shape[1]), vectors.shape[1]):
            found = sparse_regression(columns, gram, vectors[:, k], self.n_nonzero)
            self.coefficients_[k, ~constant] = found
        return np.abs(self.coefficients_).max(axis=0), constant


def sparse_regression(
    columns: Floats, gram: Floats | None, target: Floats, n_nonzero: int
) -> Floats:
    """Coefficients of the last lasso solution of a least-angle regression of few steps."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import lars_path, lars_path_gram

    target = target - target.mean()
    target /= np.linalg.norm(target)
    n_steps = min(n_nonzero, columns.shape[1], target.size - 1)
    options = {"method": "lasso", "max_iter": n_steps, "return_path": False}
    with warnings.catch_warnings():
        # Columns that are combinations of others are left out, which is what is wanted.
        warnings.simplefilter("ignore", ConvergenceWarning)
        if gram is None:
            found = lars_path(columns, target, Gram=None, **options)
        else:
            found = lars_path_gram(columns.T @ target, gram, n_samples=target.size, **options)
    return np.asarray(found[2], dtype=np.float64)
