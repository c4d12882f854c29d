"""InfFS: infinite feature selection, walks on a graph of columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from tamis._base import Scores, WeightedSelector
from tamis._facts import BOTH_TASKS, SelectorFacts
from tamis._validation import (
    MEMORY_LIMIT,
    N_JOBS,
    Choice,
    Constraint,
    Custom,
    Number,
    check_parameters,
    check_value,
)
from tamis.data import checks
from tamis.data.values import check_weight
from tamis.exceptions import InputError
from tamis.graph.feature_graph import FeatureGraph, on_graph
from tamis.graph.relations import RELATIONS
from tamis.graph.walk import DAMPING, WalkEnergies
from tamis.passes import DaskTable, PartitionedTable, is_dask
from tamis.passes.dask.cluster import at_work

PRECISIONS = {"float64": "double", "float32": "single"}
GRAPH_CONSTRAINTS: dict[str, Constraint] = {
    "damping": DAMPING,
    "relation": Custom(
        lambda value: callable(value) or Choice(RELATIONS).allows(value),
        "'spearman', 'pearson', 'mutual_information', or a function of two blocks of columns",
    ),
    "memory_limit": MEMORY_LIMIT,
    "precision": Choice(("auto", "double", "single")),
    "n_jobs": N_JOBS,
}


@dataclass(kw_only=True, eq=False, repr=False)
class InfFS(WeightedSelector):
    """Infinite feature selection: columns that vary much and repeat little, by all walks.

    Columns are the nodes of a graph, whose edges weigh the larger of two standard deviations
    against one minus the rank correlation. A column's score is the damped energy of all walks that
    start at it, of every length, so it depends on all other columns at once. No target is used.

    Parameters
    ----------
    alpha : float, default=0.5
        Weight of dispersion against non-redundancy, in [0, 1].
    damping : float, default=0.9
        Share of the largest convergent step, in (0, 1).
    relation : {"spearman", "pearson", "mutual_information"} or callable, default="spearman"
        What makes two columns redundant. A function gets two blocks of columns and returns the
        matrix of their relations, in [-1, 1].
    memory_limit : int, float, str or None, default=None
        Bytes for the matrix of relations; ``None`` means a quarter of the free memory. A matrix
        that does not fit is made anew, block by block, in every product. For a table larger than
        memory, bytes for everything; ``None`` means the limit of the scan or of the workers.
    precision : {"auto", "double", "single"}, default="auto"
        Of the relations. ``"auto"`` is double where that takes less than about a second, whatever
        the memory limit, and where columns are nearly collinear; else single, which changes scores
        by less than 1e-5 of their size. A table larger than memory warns of such columns instead.
    n_features_to_select : int, float, "elbow", "all" or rule, default="elbow"
        The cut; see :mod:`tamis.cutoff`.
    n_jobs : int or None, default=None
        Threads for ranks; ``None`` uses all cores. Products use the threads of the BLAS.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Energy of all walks; 0 for constant columns, which are not in the graph.
    radius_ : float
        Spectral radius of the graph.
    n_products_ : int
        Products with the graph's matrix that were needed.
    precision_ : {"double", "single"}
        The precision that was used.
    plan_ : RelationPlan
        Whether the relations were kept ("dense") or made anew ("blocks"), and in which precision.
    order_, ranking_, support_, n_selected_, constant_, cut_details_
        As for every selector.

    Notes
    -----
    Time: sorting every column, then n_samples n_features^2 / 2 multiplications in one matrix
    product (about seven times that with blocks), then about seven products with a vector.
    Deviations depend on the units of the columns: scale the columns if their units differ, or set
    ``alpha=0``. Missing cells have centred rank 0.

    Tables larger than memory are read twice with ``"spearman"`` and ``"pearson"``: by rows for the
    deviations, then in blocks of whole columns for the ranks. Ranks that take more than a third of
    the memory are kept in a temporary file. Scores agree with those from memory to one millionth.

    References
    ----------
    Roffo, G., Melzi, S. and Cristani, M. (2015). Infinite feature selection. ICCV.
    https://doi.org/10.1109/ICCV.2015.478

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamis import InfFS
    >>> data = load_iris(as_frame=True)
    >>> InfFS(n_features_to_select=2).fit(data.data).get_feature_names_out()
    array(['sepal width (cm)', 'petal length (cm)'], dtype=object)
    """

    alpha: float = 0.5
    damping: float = 0.9
    relation: Any = "spearman"
    memory_limit: float | str | None = None
    precision: str = "auto"
    n_features_to_select: Any = "elbow"
    n_jobs: int | None = None

    facts: ClassVar[SelectorFacts] = SelectorFacts(
        summary="Energy of all paths through a graph of varied, not redundant features.",
        tasks=BOTH_TASKS,
        cost="T n^2 / 2",
        reference="Roffo et al. 2015",
        scope="all pairs",
        redundancy="yes",
        nonlinear="monotone",
        scaling="yes, unless alpha=0",
    )

    _streams: ClassVar[bool] = True
    _supervised: ClassVar[bool] = False
    _n_stages: ClassVar[int | None] = None
    _constraints: ClassVar[dict[str, Constraint]] = {
        "alpha": Number(float, low=0, high=1),
        **GRAPH_CONSTRAINTS,
    }

    def _score(self, X: Any, y: Any, weight: NDArray[np.float64] | None) -> Scores:
        def walk_on(graph: FeatureGraph) -> WalkEnergies:
            self._check_varies(~graph.varies, graph.n_rows)
            return graph.walk([self.alpha], self.damping)[0]

        graph, walk = on_graph(self, X, weight, walk_on)
        self.precision_ = PRECISIONS[graph.relations.plan.dtype]
        self.plan_, self.radius_ = graph.relations.plan, walk.radius
        self.n_products_ = walk.n_products
        return graph.scores(walk), ~graph.varies

    def path(
        self, X: Any, alphas: Sequence[float], *, sample_weight: Any = None
    ) -> NDArray[np.float64]:
        """Scores for many alphas, from one matrix of relations; nothing is learned.

        A table larger than memory is read as often as by `fit`, within the same memory.

        Parameters
        ----------
        X : array-like, DataFrame, sparse matrix or scan of shape (n_samples, n_features)
            The table; also a Dask array or DataFrame.
        alphas : sequence of float
            Weights of dispersion against non-redundancy.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; those of a scan are named when it is made.

        Returns
        -------
        scores : ndarray of shape (n_alphas, n_features)
            One row per alpha.
        """
        check_parameters(self, self._constraints)
        alphas = check_alphas(alphas, type(self).__name__)
        copy = clone(self)
        if is_dask(X):
            X, sample_weight = DaskTable(X, None, sample_weight, type(self).__name__), None
        if not isinstance(X, PartitionedTable):
            X = checks.check_table(copy, X)
            weight = check_weight(sample_weight, X.shape[0], type(self).__name__)
            return on_graph(copy, X, weight, lambda graph: graph.path(alphas, self.damping))[1]
        copy._check_source(X, None, sample_weight)
        with at_work(X) as table:
            scores = on_graph(copy, table, None, lambda graph: graph.path(alphas, self.damping))[1]
        if X.checkpoint is not None:
            Path(X.checkpoint).unlink(missing_ok=True)
        return scores


def inf_fs_path(
    X: Any,
    alphas: Sequence[float] = tuple(np.linspace(0, 1, 11)),
    *,
    sample_weight: Any = None,
    **params: Any,
) -> NDArray[np.float64]:
    """Score the columns for every alpha; ranks and relations are computed once.

    Parameters
    ----------
    X : array-like, DataFrame, sparse matrix or scan of shape (n_samples, n_features)
        The table; NaN marks missing values. Also a Dask array or DataFrame.
    alphas : sequence of float, default=0, 0.1, ..., 1
        Weights of dispersion against non-redundancy, each in [0, 1].
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    **params
        Other parameters of :class:`~tamis.InfFS`, such as `relation` or `memory_limit`.

    Returns
    -------
    scores : ndarray of shape (n_alphas, n_features)
        One row per alpha, equal to ``InfFS(alpha=alpha).fit(X).scores_``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamis import inf_fs_path
    >>> X, _ = load_iris(return_X_y=True)
    >>> inf_fs_path(X, [0.0, 0.5, 1.0]).argmax(axis=1)
    array([1, 2, 2])
    """
    alphas = check_alphas(alphas, "inf_fs_path")
    return InfFS(**params).path(X, alphas, sample_weight=sample_weight)


def check_alphas(alphas: Any, who: str) -> list[Any]:
    """List of alphas, each in [0, 1], at least one."""
    alphas = list(alphas) if np.iterable(alphas) else [alphas]
    if not alphas:
        raise InputError(f"{who}: alphas must hold at least one value, got none.")
    for alpha in alphas:
        check_value(alpha, Number(float, low=0, high=1), who=who, name="every value of alphas")
    return alphas
