"""LaplacianScore: columns that are similar in neighbouring rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tamis._base import BaseSelector, Scores
from tamis._facts import BOTH_TASKS, SelectorFacts
from tamis._runtime.threads import effective_jobs, run_parts
from tamis._validation import Constraint
from tamis.filters._neighbor_graph import GRAPH_CONSTRAINTS, row_graph
from tamis.statistics.neighbors import Edges, smoothness

Floats = NDArray[np.float64]

# Columns that are looked at together: with a few thousand rows they fit the cache.
TILE = 64
# The largest value that the ratio can take; columns without a value get it.
WORST = 2.0


@dataclass(kw_only=True, eq=False, repr=False)
class LaplacianScore(BaseSelector):
    """Laplacian score: columns that keep neighbouring rows together.

    The rows are joined to their nearest neighbours in a graph. A column is good if it differs
    little along the edges, compared with how much it varies over all rows. No target is used.

    Parameters
    ----------
    n_neighbors : int, default=5
        Neighbours of a row. Two rows are joined if either is a neighbour of the other.
    affinity : {"heat", "binary"} or sparse matrix of shape (n_samples, n_samples), default="heat"
        Weight of an edge: ``exp(-d**2 / width)`` or 1; or a symmetric matrix of weights, not
        negative, in place of the neighbours.
    width : float or None, default=None
        Width of the heat kernel in squared units of the data; ``None`` means the mean squared
        distance of a row to its neighbours.
    scale : bool, default=False
        Divide every column by its deviation before distances are taken. Without it, as in the
        paper, columns in small units (large numbers) decide who is a neighbour.
    memory_limit : int, float, str or None, default=None
        Bytes for work space of the neighbour search, 64 MiB for ``None``.
    n_features_to_select : int, float, "elbow", "all" or rule, default="elbow"
        The cut; see :mod:`tamis.cutoff`.
    n_jobs : int or None, default=None
        Threads; ``None`` uses all cores. The result does not depend on it.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        One minus the Laplacian score: 1 for a column that never differs along an edge, about 0
        for noise, -1 at the least.
    laplacian_scores_ : ndarray of shape (n_features,)
        The score of the paper, in [0, 2], smaller is better; 2 for columns that do not vary over
        the rows of the graph.
    order_, ranking_, support_, n_selected_, constant_, cut_details_
        As for every selector.

    Notes
    -----
    ``O(n_samples**2 n_features)`` time for the neighbours, in matrix products, then ``O(n_samples
    n_neighbors n_features)``. A second, dense copy of the table is made only if it is not C-ordered
    float64, is sparse, has missing cells or constant columns, or is scaled. A missing cell is at
    the mean of its column. The paper leaves the width open. Neighbours at equal distance are taken
    by lower row. Rows whose heat weights all vanish have no edges.

    References
    ----------
    He, X., Cai, D. and Niyogi, P. (2005). Laplacian score for feature selection. Advances in Neural
    Information Processing Systems 18.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamis import LaplacianScore
    >>> data = load_iris(as_frame=True)
    >>> selector = LaplacianScore(n_features_to_select=2).fit(data.data)
    >>> selector.get_feature_names_out()
    array(['petal length (cm)', 'petal width (cm)'], dtype=object)
    """

    n_neighbors: int = 5
    affinity: Any = "heat"
    width: float | None = None
    scale: bool = False
    memory_limit: float | str | None = None
    n_features_to_select: Any = "elbow"
    n_jobs: int | None = None

    facts: ClassVar[SelectorFacts] = SelectorFacts(
        summary="How well the feature preserves the neighbourhood graph of the samples.",
        tasks=BOTH_TASKS,
        cost="T^2 n",
        reference="He et al. 2005",
        scope="one at a time, on a shared graph",
        nonlinear="yes",
        scaling="yes",
    )

    _supervised: ClassVar[bool] = False
    _constraints: ClassVar[dict[str, Constraint]] = GRAPH_CONSTRAINTS

    def _score(self, X: Any, y: Any, weight: Floats | None) -> Scores:
        constant = self._find_constant(X, weight)
        self.laplacian_scores_ = np.full(constant.size, WORST)
        edges = Edges.of(row_graph(self, X, ~constant))
        self._fill(X.tocsc() if sparse.issparse(X) else X, edges, self.laplacian_scores_)
        return 1.0 - self.laplacian_scores_, constant

    def _fill(self, X: Any, edges: Edges, out: Floats) -> None:
        """Write the Laplacian score of every column."""
        tiles = [(slice(first, first + TILE),) for first in range(0, out.size, TILE)]
        n_threads = effective_jobs(self.n_jobs)
        groups = [tiles[first : first + n_threads] for first in range(0, len(tiles), n_threads)]

        def score(columns: slice) -> None:
            tile = X[:, columns].toarray() if sparse.issparse(X) else X[:, columns]
            rough, spread = smoothness(np.array(tile, np.float64, order="C"), edges)
            ratio = np.divide(rough, spread, out=np.full(rough.size, WORST), where=spread > 0)
            out[columns] = np.clip(ratio, 0.0, WORST)

        for group in self.steps("columns", groups, len(groups)):
            run_parts(score, group, n_threads)
