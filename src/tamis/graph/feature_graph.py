"""FeatureGraph: deviations and relations of the features, and the walks on them for any alpha."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from tamis._columns import find_constant
from tamis._runtime.byte_sizes import given_bytes
from tamis._runtime.memory import as_bytes
from tamis._runtime.threads import split_evenly
from tamis._runtime.warning import warn
from tamis.graph.relation_matrix import RelationPlan, Steps, make_relations
from tamis.graph.relations import relation_tiles
from tamis.graph.walk import WalkEnergies, walk_steps, walk_together
from tamis.passes import MemoryEngine, PartitionedTable, run_pass
from tamis.statistics import Moments

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Vectors that the walks for one alpha take: about seven products, and some to work with.
WALK_VECTORS = 16

# Smaller variances have lost digits, since the squares of values are near the smallest floats.
TINY_VARIANCE = 1e-280
TINY = 1e-300
# Above this, single precision may change scores by more than 1e-5.
MOST_CANCELLATION = 10.0
T = TypeVar("T")
Work = Callable[["FeatureGraph"], T]


class GraphSettings(NamedTuple):
    """Parameters of a graph, and who makes it."""

    relation: str | Callable[[Any, Any], Any]
    precision: str
    memory_limit: int | None
    n_jobs: int | None
    who: str


class FeatureGraph:
    """Nodes are features that vary; edges weigh dispersion against redundancy.

    `deviation` has the standard deviations of the nodes, as a share of the largest; `relations` is
    None if there is no node. Walks for all alphas go side by side unless `room` limits their bytes.
    """

    def __init__(
        self, varies: Mask, n_rows: int, deviation: Floats, relations: Any, room: int | None = None
    ):
        self.varies, self.n_rows, self.deviation, self.room = varies, n_rows, deviation, room
        self.order = np.argsort(deviation, kind="stable")
        self.relations = relations
        # How often an edge weight is contained in what it is the difference of.
        self.cancellation = 1.0

    def path(self, alphas: Sequence[float], damping: float) -> Floats:
        """Scores of all features for every alpha; as many alphas side by side as have room."""
        scores = np.zeros((len(alphas), self.varies.size))
        if not self.varies.any():
            return scores
        at_a_time = len(alphas)
        if self.room is not None:
            at_a_time = max(1, self.room // (8 * WALK_VECTORS * self.deviation.size))
        for first, last in split_evenly(0, len(alphas), -(-len(alphas) // at_a_time)):
            walks = self.walk(alphas[first:last], damping)
            scores[first:last] = [self.scores(walk) for walk in walks]
        return scores

    def walk(self, alphas: Sequence[float], damping: float) -> list[WalkEnergies]:
        """Scores of the nodes for every alpha; all walks share the blocks of relations."""
        n, dtype = self.deviation.size, self.relations.plan.dtype
        # In single precision the products carry an error of about 1e-7.
        tol = 1e-12 if dtype == "float64" else 1e-8
        # Columns that all repeat each other leave an edge weight of 0, give or take rounding.
        rounding = np.finfo(dtype).eps * max(16.0, self.n_rows**0.5)
        walks = [walk_steps(n, damping, tol=tol, negligible=n * rounding) for _ in alphas]

        def product(vectors: Floats, numbers: list[int]) -> Floats:
            alpha = np.array([alphas[k] for k in numbers])
            different = vectors.sum(axis=0) - self.relations.product(vectors)
            dispersion = larger_deviation_product(self.deviation, self.order, vectors)
            out = alpha * dispersion + (1.0 - alpha) * different
            if vectors.min() > 0:
                share = (1.0 - alpha) * vectors.sum(axis=0) / np.maximum(out.min(axis=0), TINY)
                self.cancellation = max(self.cancellation, float(share.max()))
            return out

        return walk_together(product, walks)

    def scores(self, walk: WalkEnergies) -> Floats:
        """Scores of all features; those that are no nodes get 0."""
        scores = np.zeros(self.varies.size)
        scores[self.varies] = walk.scores
        return scores

    def edges(self, alpha: float, nodes: Sequence[int]) -> Floats:
        """Edge weights between a few features, for a picture."""
        inside = np.cumsum(self.varies)[list(nodes)] - 1
        units = np.zeros((self.deviation.size, inside.size))
        units[inside, np.arange(inside.size)] = 1.0
        different = 1.0 - self.relations.product(units)[inside]
        larger = np.maximum.outer(self.deviation[inside], self.deviation[inside])
        return np.asarray((1 - alpha) * different + alpha * larger)

    @property
    def is_inexact(self) -> bool:
        """Whether single precision leaves fewer than five digits: nearly collinear columns."""
        single = self.relations is not None and self.relations.plan.dtype == "float32"
        return single and self.cancellation > MOST_CANCELLATION

    def close(self) -> None:
        """Remove what the relations keep in a file."""
        if self.relations is not None:
            self.relations.close()


def on_graph(selector: Any, X: Any, weight: Floats | None, work: Work[T]) -> tuple[FeatureGraph, T]:
    """Work on the graph of a table; once more in double precision if that is needed."""
    with closing(open_graph(selector, X, weight)) as graph:
        found = work(graph)
    if not graph.is_inexact or selector.precision == "single":
        return graph, found
    if isinstance(X, PartitionedTable):
        warn(
            f"{type(selector).__name__}: expected columns that single precision tells apart, got "
            "nearly collinear ones, so scores may differ in the fifth digit. Set "
            "precision='double', which takes twice the memory."
        )
        return graph, found
    with closing(open_graph(selector, X, weight, "double")) as graph:
        return graph, work(graph)


def open_graph(
    selector: Any, X: Any, weight: Floats | None, precision: str | None = None
) -> FeatureGraph:
    """Graph of a table in memory, in files or on the workers of Dask, for a selector's settings."""
    limit, who = given_bytes(selector.memory_limit), type(selector).__name__
    precision = precision or selector.precision
    settings = GraphSettings(selector.relation, precision, limit, selector.n_jobs, who)
    if isinstance(X, PartitionedTable):
        from tamis.graph._source_graph import source_graph

        return source_graph(selector, X, settings)
    varies = ~find_constant(selector, X, weight)
    return memory_graph(X, varies, weight, settings, selector.steps)


def memory_graph(
    X: Any, varies: Mask, weight: Floats | None, settings: GraphSettings, steps: Steps
) -> FeatureGraph:
    """Graph of the features of a checked table that vary."""
    if not varies.any():
        return FeatureGraph(varies, X.shape[0], np.empty(0), None)
    if weight is not None and not (weight > 0).all():
        X, weight = X[weight > 0], weight[weight > 0]
    X = X if varies.all() else X[:, varies]
    limit = as_bytes(settings.memory_limit)
    plan = RelationPlan.choose(X.shape[0], X.shape[1], settings.precision, limit)
    deviation = find_deviations(X, weight, settings.n_jobs)
    tile = relation_tiles(X, weight, settings, plan.dtype)
    return FeatureGraph(varies, X.shape[0], deviation, make_relations(tile, plan, steps))


def find_deviations(X: Any, weight: Floats | None, n_jobs: int | None) -> Floats:
    """Standard deviations of the observed cells, as a share of the largest."""
    found = run_pass(Moments(X.shape[1]), MemoryEngine(X, None, weight), n_jobs=n_jobs).finish()
    if found[2].max() < TINY_VARIANCE:
        # Most squares are 0, or have few digits; times a power of 2, which is exact, they have all.
        engine = MemoryEngine(X.astype(np.float64) * 2.0**512, None, weight)
        found = run_pass(Moments(X.shape[1]), engine, n_jobs=n_jobs).finish()
    return deviations_of(*found)


def deviations_of(weight: Floats, mean: Floats, variance: Floats) -> Floats:
    """As `find_deviations`, where the moments are known."""
    # Weights count rows, so one is taken off their sum; weights that sum to less are shares.
    less_one = weight - 1.0 if weight.min(initial=2.0) > 1.0 else weight
    deviation = np.sqrt(variance * weight / less_one)
    return deviation / deviation.max(initial=np.finfo(float).tiny)


def larger_deviation_product(deviation: Floats, order: NDArray[np.intp], vectors: Floats) -> Floats:
    """``sum_j max(s_i, s_j) v_j`` for every column v of `vectors`, by running sums in `order`."""
    weighted = deviation[:, None] * vectors
    above = np.empty((len(vectors) + 1, vectors.shape[1]))
    above[0] = np.cumsum(weighted, axis=0, out=above[1:])[-1]
    np.negative(weighted[order], out=above[1:])
    np.cumsum(above, axis=0, out=above)
    sums = np.cumsum(vectors[order], axis=0, out=weighted)
    sums *= deviation[order, None]
    sums += above[1:]
    out = np.empty_like(vectors)
    out[order] = sums
    return out
