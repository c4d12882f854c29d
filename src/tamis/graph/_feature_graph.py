"""FeatureGraph: deviations and relations of the columns, and the walks on them for any alpha."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tamis._runtime.compilation import announce_compilation
from tamis._runtime.memory import as_bytes
from tamis.exceptions import InputError
from tamis.graph import relations
from tamis.graph._redundancy import BlockOf, Plan, Steps, make_relations
from tamis.graph.walk import Walk, walk_steps, walk_together
from tamis.passes import MemoryEngine, run_pass
from tamis.statistics import Moments
from tamis.statistics.correlations import linear_factors, rank_factors
from tamis.statistics.moments import MomentsResult

Floats = NDArray[np.float64]

RELATIONS = ("spearman", "pearson", "mutual_information")
# Relations that are products of vectors, and who makes these.
FACTORS = {"spearman": rank_factors, "pearson": linear_factors}


class GraphSettings(NamedTuple):
    """What a graph is made from, apart from the data."""

    relation: str | Callable[[Any, Any], Any]
    precision: str
    memory_limit: int | None
    n_jobs: int | None
    who: str


class FeatureGraph:
    """Nodes are columns that vary; edges weigh dispersion against redundancy.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_rows, n_columns)
        Checked data.
    varies : ndarray of bool of shape (n_columns,)
        Columns that are nodes.
    weight : ndarray of shape (n_rows,) or None
        Weights of the rows.
    settings : GraphSettings
        Relation, precision, memory and threads.
    steps : callable
        Shows progress over blocks.
    """

    def __init__(
        self,
        X: Any,
        varies: NDArray[np.bool_],
        weight: Floats | None,
        settings: GraphSettings,
        steps: Steps,
    ):
        if weight is not None and not (weight > 0).all():
            X, weight = X[weight > 0], weight[weight > 0]
        self.varies, self.n_rows = varies, X.shape[0]
        X = X if varies.all() else X[:, varies]
        n = X.shape[1]
        limit = as_bytes(settings.memory_limit)
        self.plan = Plan.choose(X.shape[0], n, settings.precision, limit)
        self.deviation = _deviations(X, weight, settings.n_jobs)
        self.order = np.argsort(self.deviation, kind="stable")
        block_of = _block_function(X, weight, settings, self.plan.dtype)
        self.relations = make_relations(block_of, self.plan, steps)

    def walk(self, alphas: Sequence[float], damping: float) -> list[Walk]:
        """Scores of the nodes for every alpha; all walks share the blocks of relations."""
        n = self.deviation.size
        # In single precision the products carry an error of about 1e-7, which no tolerance mends.
        tol = 1e-12 if self.plan.dtype == "float64" else 1e-8
        # Columns that all repeat each other leave an edge weight of 0, give or take rounding.
        rounding = np.finfo(self.plan.dtype).eps * max(16.0, self.n_rows**0.5)
        walks = [walk_steps(n, damping, tol=tol, negligible=n * rounding) for _ in alphas]

        def product(vectors: Floats, numbers: list[int]) -> Floats:
            alpha = np.array([alphas[k] for k in numbers])
            different = vectors.sum(axis=0) - self.relations.product(vectors)
            return alpha * self._dispersion(vectors) + (1.0 - alpha) * different

        return walk_together(product, walks)

    def _dispersion(self, vectors: Floats) -> Floats:
        """``sum_j max(s_i, s_j) v_j`` without a matrix."""
        from tamis.graph import _kernels as kernels

        out = np.empty_like(vectors)
        with announce_compilation(kernels.larger_deviation_product):
            kernels.larger_deviation_product(self.deviation, self.order, vectors, out)
        return out

    def scores(self, walk: Walk) -> Floats:
        """Scores of all columns; those that are no nodes get 0."""
        scores = np.zeros(self.varies.size)
        scores[self.varies] = walk.scores
        return scores

    def close(self) -> None:
        """Let go of what is not in memory; nothing, where all is."""

    def edges(self, alpha: float, nodes: Sequence[int]) -> Floats:
        """Edge weights between a few columns, for a picture."""
        inside = np.cumsum(self.varies)[list(nodes)] - 1
        matrix = np.empty((len(inside), len(inside)))
        for i, a in enumerate(inside):
            unit = np.zeros((self.deviation.size, 1))
            unit[a] = 1.0
            column = 1.0 - self.relations.product(unit)[:, 0]
            matrix[i] = (1 - alpha) * column[inside] + alpha * np.maximum(
                self.deviation[a], self.deviation[inside]
            )
        return matrix


def _deviations(X: Any, weight: Floats | None, n_jobs: int | None) -> Floats:
    """Standard deviations of the observed cells, as a share of the largest."""
    moments = run_pass(Moments(X.shape[1]), MemoryEngine(X, None, weight), n_jobs=n_jobs).finish()
    return deviations_of(moments, np.ones(X.shape[1], dtype=bool))


def deviations_of(moments: MomentsResult, varies: NDArray[np.bool_]) -> Floats:
    """As `_deviations`, of the columns that vary, where the moments are known."""
    moments = MomentsResult(*(values[varies] for values in moments))
    # Weights count rows, so one is taken off their sum; weights that sum to less are shares.
    less_one = moments.weight - 1.0 if moments.weight.min(initial=2.0) > 1.0 else moments.weight
    deviation = np.sqrt(moments.variance * moments.weight / less_one)
    return deviation / deviation.max(initial=np.finfo(float).tiny)


def _block_function(X: Any, weight: Floats | None, settings: GraphSettings, dtype: str) -> BlockOf:
    """Function that gives the absolute relations between two ranges of columns."""
    weight = np.ones(X.shape[0]) if weight is None else weight
    if callable(settings.relation):
        return _user_blocks(X, settings)
    if settings.relation == "mutual_information":
        return relations.information_blocks(X, weight, dtype)
    return FACTORS[settings.relation](X, weight, dtype, settings.n_jobs).block


def _user_blocks(X: Any, settings: GraphSettings) -> BlockOf:
    """Relations by a function of the user, checked block by block."""
    relation: Any = settings.relation

    def dense(columns: tuple[int, int]) -> Any:
        part = X[:, slice(*columns)]
        return part.toarray() if sparse.issparse(part) else part

    def block_of(rows: tuple[int, int], columns: tuple[int, int]) -> Any:
        block = np.asarray(relation(dense(rows), dense(columns)), dtype=np.float64)
        expected = (rows[1] - rows[0], columns[1] - columns[0])
        if block.shape != expected or not ((np.abs(block) <= 1 + 1e-9).all()):
            raise InputError(
                f"{settings.who}: relation must return a matrix of shape {expected} with values "
                f"in [-1, 1], got shape {block.shape} with a largest size of "
                f"{np.abs(block).max(initial=0.0)!r}."
            )
        return np.abs(block)

    return block_of
