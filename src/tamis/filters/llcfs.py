"""LLCFS: weights of columns learned while neighbours predict each other's cluster."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tamis._base import BaseSelector, Scores
from tamis._columns import centred_columns, find_constant
from tamis._facts import BOTH_TASKS, SelectorFacts
from tamis._validation import N_JOBS, Constraint, Number


class LLCFS(BaseSelector):
    """Feature selection for local learning-based clustering.

    In a good clustering, the cluster of a row can be predicted from the clusters of its nearest
    rows, by a small ridge regression for every row. The method looks for cluster indicators that
    are predicted best, gives the columns that the regressions use more weight and the others less,
    and repeats both with the new weights in distances and regressions. It needs no target, and
    suits tables with many irrelevant columns, wide ones too.

    Parameters
    ----------
    n_clusters : int, default=5
        Number of cluster indicators, c in the paper. The first is always the constant one, which
        says nothing, so two are used for 1. At most `n_samples` are used.
    n_neighbors : int, default=15
        Rows from which the indicators of a row are predicted, k in the paper. At most
        ``n_samples - 1`` are used.
    beta : float, default=1.0
        Weight of the errors of a regression against its penalty; small values give smooth models.
    max_iter : int, default=20
        Most rounds.
    tol : float, default=1e-3
        The rounds end when the weights change by no more than this in sum; all sum to 1.
    n_features_to_select : int, float, "elbow", "all" or rule, default="elbow"
        The cut; see :mod:`tamis.cutoff`.
    n_jobs : int or None, default=None
        Threads of the search for neighbours; ``None`` uses all cores. The result does not depend
        on it.

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
    Columns are centred and divided by their standard deviation first. Missing cells are put at the
    mean of their column; sparse tables are made dense.

    A round costs ``O(n_samples^2 n_features)`` for the neighbours and as much or less for the
    regressions, ``O(n_samples n_neighbors^3)`` to solve them, and ``O(n_samples^3)`` for the
    indicators; above 5,000 rows a sparse factorisation takes the place of the dense one, whose
    memory depends on the graph of neighbours.

    The weights need not settle: neighbours change at once when weights change a little, and there
    is no objective that both halves of a round lower. No warning is given for that. If the clusters
    lie so far apart that no row has neighbours in another one, all regressions are flat and the
    weights stay where they are; take more neighbours then. The paper takes mutual neighbours only,
    which may leave a row without any; here a row is predicted from its `n_neighbors` nearest rows.

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

    facts: ClassVar[SelectorFacts] = SelectorFacts(
        summary="Weight in local regressions that predict clusters from neighbouring samples.",
        tasks=BOTH_TASKS,
        cost="rounds T^2 n",
        reference="Zeng and Cheung 2011",
        page="filters",
        scope="jointly",
        nonlinear="partly",
    )

    _supervised: ClassVar[bool] = False
    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_clusters": Number(int, low=1),
        "n_neighbors": Number(int, low=1),
        "beta": Number(float, low=0, open_low=True),
        "max_iter": Number(int, low=1),
        "tol": Number(float, low=0),
        "n_jobs": N_JOBS,
    }

    def __init__(
        self,
        *,
        n_clusters: int = 5,
        n_neighbors: int = 15,
        beta: float = 1.0,
        max_iter: int = 20,
        tol: float = 1e-3,
        n_features_to_select: Any = "elbow",
        n_jobs: int | None = None,
    ):
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.beta = beta
        self.max_iter = max_iter
        self.tol = tol
        self.n_features_to_select = n_features_to_select
        self.n_jobs = n_jobs

    def _score(self, X: Any, y: Any, weight: NDArray[np.float64] | None) -> Scores:
        from tamis.filters._llcfs_solver import LocalLearning

        constant = find_constant(self, X, weight)
        scores = np.zeros(constant.size)
        if constant.all():
            return scores, constant
        table = centred_columns(X, ~constant, scale=True)
        solver = LocalLearning(table, self.n_clusters, self.n_neighbors, self.beta, self.n_jobs)
        for _ in self.steps("weights", solver.iterate(self.max_iter, self.tol), self.max_iter):
            pass
        self.objective_ = np.array(solver.path)
        self.n_iter_, self.converged_ = len(solver.path), solver.converged
        scores[~constant] = solver.tau
        return scores, constant
