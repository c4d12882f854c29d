"""Generator, what a search draws features from, and ClusterGenerator, which draws candidates."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

from tamis._runtime.seeds import draw_seed
from tamis._validation import Number, check_value
from tamis.exceptions import InputError
from tamis.meta._meta_encoder import MetaEncoder, as_text, read_columns
from tamis.meta.search._set_task import affordable
from tamis.meta.search.dimensions import Categorical
from tamis.meta.search.meta_space import MetaSpace
from tamis.meta.sources.feature_source import FeatureSource, as_source

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
# Up to so many candidates k-means looks at all of them at every step.
MANY = 50_000


@runtime_checkable
class Generator(Protocol):
    """Draws features that have given properties, and measures them; any class with these methods.

    :class:`~tamis.meta.Mufasa` asks it for sets of features at the points of `space`. It is the
    p(v | u) of Krupka, Navot and Tishby (2008): a point u of the space gives a distribution of
    features v. No base class is needed. A set of features, `features` below, may be anything with a
    length that `draw` or `join` made: an array of column numbers, or a record of what to compute.

    Attributes
    ----------
    space : MetaSpace
        Where to search.

    Notes
    -----
    `draw` uses no random numbers but those of the generator it is given, so that the same seed
    gives the same features. `measure` changes nothing and depends on nothing but its arguments:
    it may be called by several threads, for training and later for new samples.

    Examples
    --------
    Features are columns of a table, and columns that stand side by side are alike:

    >>> import numpy as np
    >>> from tamis.meta import Generator, Integer, MetaSpace
    >>> class Window:
    ...     space = MetaSpace({"place": Integer(0, 90)})
    ...     def draw(self, point, rng, *, n_features=None, budget=None):
    ...         count = n_features if budget is None else int(budget)  # each costs 1
    ...         return point["place"] + rng.choice(10, count, replace=False)
    ...     cost = lambda self, features: np.ones(len(features))
    ...     meta = lambda self, features: np.asarray(features, dtype=float)[:, None]
    ...     measure = lambda self, X, features: X[:, features]
    ...     join = lambda self, features, chosen: features[chosen]
    >>> isinstance(Window(), Generator)
    True
    >>> features = Window().draw({"place": 20}, np.random.default_rng(0), n_features=4)
    >>> Window().measure(np.zeros((5, 100)), features).shape
    (5, 4)
    """

    space: MetaSpace

    def draw(
        self,
        point: dict[str, Any],
        rng: np.random.Generator,
        *,
        n_features: int | None = None,
        budget: float | None = None,
    ) -> Any:
        """Draw a set of features with the properties of a point, for the other methods.

        Parameters
        ----------
        point : dict
            A point of `space`.
        rng : numpy Generator
            Source of random numbers.
        n_features : int or None, default=None
            How many; exactly one of `n_features` and `budget` is given.
        budget : float or None, default=None
            Draw until the total cost would exceed it.
        """
        ...

    def cost(self, features: Any) -> NDArray[np.float64]:
        """Cost of each feature of a set, numbers >= 0 of shape (len(features),)."""
        ...

    def meta(self, features: Any) -> NDArray[np.float64]:
        """Meta-features of each feature of a set, of shape (len(features), n_meta)."""
        ...

    def measure(self, X: Any, features: Any) -> NDArray[Any]:
        """Values of the features on samples, of shape (n_samples, len(features)).

        `X` are samples, in whatever form the generator takes. The result may have any dtype of
        numbers; a small one saves memory.
        """
        ...

    def join(self, features: Any, chosen: ArrayLike) -> Any:
        """Subset of a set, by a mask of bools or by indices, in the order of the indices."""
        ...


def check_one_limit(count: Any, budget: Any, who: str, name: str = "n_features") -> None:
    """Raise unless exactly one of number and budget is given."""
    if (count is None) == (budget is None):
        raise InputError(
            f"{who}: expected exactly one of {name} and budget, got {count!r} and {budget!r}."
        )


class ClusterGenerator:
    """Draws candidates of a source cluster by cluster, where meta-features are similar.

    It makes :class:`~tamis.meta.Mufasa` a method of feature selection: a point of the search is a
    cluster of candidates with similar properties, and its features are drawn from these. Few large
    clusters give sets that are little redundant, many small ones sets that are alike in quality.

    Parameters
    ----------
    source : FeatureSource
        The candidates; any object with `meta` and `measure` will do.
    n_clusters : int, default=10
        Number of clusters; at most one for each different row of the meta-features.
    random_state : int, RandomState or None, default=None
        Seed of the clustering.

    Attributes
    ----------
    space : MetaSpace
        One dimension, ``"cluster"``; a small step leads to a cluster nearby, see Notes.
    labels, sizes : ndarray of shape (n_candidates,), ndarray of shape (n_clusters,)
        Cluster of every candidate, and candidates in every cluster.
    n_candidates : int
        Number of candidates.

    Notes
    -----
    Meta-features are scaled (labels become one column each) and clustered by k-means. Clusters
    have no order, but they have neighbours: from a cluster, the others are ranked by the distance
    of their centres, itself being rank 0, and a step goes to the rank ``abs(round(Gaussian))``
    with the deviation ``step * max(n_clusters, 10)``. The space has as many points as there are
    clusters, the number of meta-values in :mod:`tamis.bounds`.

    A set holds no candidate twice. Under a budget, candidates that no longer fit are passed over.
    When a cluster is used up, the set is filled from the cluster nearest to it;
    :meth:`borrowed` counts such features, and Mufasa warns if its best set has some.

    References
    ----------
    Krupka, E., Navot, A. and Tishby, N. (2008). Learning to select features using their
    properties. Journal of Machine Learning Research 9, 2349-2376, section 6.1.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.meta import ArraySource, ClusterGenerator
    >>> meta = np.array([[0.0], [0.1], [5.0], [5.1], [9.0], [9.1]])
    >>> generator = ClusterGenerator(ArraySource(np.eye(6), meta), n_clusters=3, random_state=0)
    >>> generator.labels
    array([0, 0, 1, 1, 2, 2])
    >>> sorted(generator.draw({"cluster": 1}, np.random.default_rng(0), n_features=2).tolist())
    [2, 3]
    """

    def __init__(self, source: Any, *, n_clusters: int = 10, random_state: Any = None):
        check_value(n_clusters, Number(int, low=1), who="ClusterGenerator", name="n_clusters")
        self.source: FeatureSource = as_source(source)
        self.n_clusters = n_clusters
        self.random_state = random_state

    def __repr__(self) -> str:
        return f"ClusterGenerator(n_clusters={self.n_clusters}, random_state={self.random_state!r})"

    def __deepcopy__(self, memo: dict[int, Any]) -> ClusterGenerator:
        """Copy that shares the source, or a clone of a search would measure everything again."""
        new = copy.copy(self)
        new.random_state = copy.deepcopy(self.random_state, memo)
        return new

    @property
    def n_candidates(self) -> int:
        """Number of candidates."""
        return int(self.source.n_candidates)

    @property
    def labels(self) -> NDArray[np.intp]:
        """Cluster of every candidate."""
        return self._clusters[0]

    @property
    def sizes(self) -> NDArray[np.intp]:
        """Candidates in every cluster."""
        return np.bincount(self.labels)

    @cached_property
    def space(self) -> MetaSpace:
        """The clusters as points."""
        return MetaSpace({"cluster": _Clusters(self._clusters[1])})

    def fingerprint(self) -> str:
        """Hash of the clusters, by which a checkpoint knows them again."""
        return hashlib.sha256(self.labels.astype(np.int64).tobytes()).hexdigest()

    def draw(
        self,
        point: Mapping[str, Any],
        rng: np.random.Generator,
        *,
        n_features: int | None = None,
        budget: float | None = None,
    ) -> Ints:
        """Draw different candidates of a cluster, and of the nearest ones if it is used up.

        See :meth:`.Generator.draw`; the point is ``{"cluster": number}``. Returns indices of
        candidates, fewer than asked for if there are no more.
        """
        cluster = self.space.check(point)["cluster"]
        pools = [np.flatnonzero(self.labels == near) for near in self._clusters[1][cluster]]
        return self._fill(pools, rng, n_features, budget)

    def draw_any(
        self,
        rng: np.random.Generator,
        *,
        n_features: int | None = None,
        budget: float | None = None,
    ) -> Ints:
        """Draw different candidates, whatever their cluster; limits as in :meth:`draw`."""
        return self._fill([np.arange(self.n_candidates)], rng, n_features, budget)

    def available(self, X: Any, features: Ints) -> Ints:
        """Those of some candidates (ndarray of int) that can be measured on `X`."""
        return features if _is_table(X) else self.source_of(X).available(features)

    def borrowed(self, point: Mapping[str, Any], features: Ints) -> int:
        """How many features of a set drawn at a point are not of the cluster of that point."""
        return int((self.labels[features] != self.space.check(point)["cluster"]).sum())

    def cost(self, features: Ints) -> Floats:
        """Cost of each candidate of a set, from the source."""
        return self._costs[features]

    def meta(self, features: Ints) -> Floats:
        """Meta-features of each candidate, (len(features), n_meta).

        Numbers are as they are; a label is its place among the sorted labels.
        """
        return self._numbers[features]

    def measure(self, X: Any, features: Ints) -> NDArray[Any]:
        """Columns of candidates, (n_samples, len(features)).

        `X` is a source with the same candidates (of other samples, say), a table with one column
        per candidate, or ``None`` for the source itself. A candidate is measured at most once per
        source.
        """
        if not _is_table(X):
            return self.source_of(X).columns(features)
        if X.shape[1] != self.n_candidates:
            raise InputError(
                f"ClusterGenerator: expected a table with {self.n_candidates} columns, one per "
                f"candidate, got {X.shape[1]}."
            )
        if hasattr(X, "iloc"):
            return np.asarray(X.iloc[:, features])
        part = X[:, features]
        return part.toarray() if hasattr(part, "toarray") else np.asarray(part)

    def join(self, features: Ints, chosen: ArrayLike) -> Ints:
        """Subset of a set, by mask or positions."""
        return np.asarray(features)[np.asarray(chosen)]

    def names(self, features: Ints) -> list[str]:
        """Names of candidates, from the source."""
        known = self.source.candidate_names()
        return [known[j] for j in features]

    def source_of(self, X: Any) -> FeatureSource:
        """Source that measures on `X`; ``None`` is the source of the generator."""
        if X is None or _is_table(X):
            return self.source
        source = as_source(X)
        if source.n_candidates != self.n_candidates:
            raise InputError(
                f"ClusterGenerator: expected a source with {self.n_candidates} candidates, got "
                f"{source.n_candidates}."
            )
        return source

    @cached_property
    def _costs(self) -> Floats:
        return self.source.costs()

    @cached_property
    def _numbers(self) -> Floats:
        columns, _ = read_columns(self.source.meta, "ClusterGenerator")
        for j, column in enumerate(columns):
            if column.dtype.kind != "f":
                columns[j] = np.unique(as_text(column), return_inverse=True)[1]
        return np.column_stack(columns).astype(np.float64)

    @cached_property
    def _clusters(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Cluster of every candidate, numbered as they first appear, and clusters by distance.

        Row k of these begins with k itself.
        """
        from sklearn.cluster import KMeans, MiniBatchKMeans

        meta = self.source.meta
        table = MetaEncoder(meta, "ClusterGenerator").encode(meta)
        different, labels = np.unique(table, axis=0, return_inverse=True)
        labels = labels.ravel()
        if len(different) > self.n_clusters:
            seed = draw_seed(check_random_state(self.random_state))
            kind = KMeans if len(table) <= MANY else MiniBatchKMeans
            with threadpool_limits(limits=1):  # sums over threads would differ in their last bits
                labels = kind(self.n_clusters, n_init=4, random_state=seed).fit(table).labels_
        _, first, codes = np.unique(labels, return_index=True, return_inverse=True)
        labels = np.argsort(np.argsort(first))[codes]
        centres = np.array([table[labels == k].mean(axis=0) for k in range(labels.max() + 1)])
        squares = np.square(centres[:, None, :] - centres[None, :, :]).sum(axis=2)
        np.fill_diagonal(squares, -1.0)
        return labels, np.argsort(squares, axis=1, kind="stable")

    def _fill(self, pools: list[Any], rng: Any, n_features: Any, budget: float | None) -> Ints:
        """Candidates in random order, pool after pool, until the limit is reached."""
        check_one_limit(n_features, budget, "ClusterGenerator")
        if n_features is not None:
            order = np.concatenate([rng.permutation(pool) for pool in pools])
            return order[:n_features].astype(np.int64)
        parts, left = [np.empty(0, dtype=np.int64)], float(budget or 0.0)
        for pool in pools:
            order = rng.permutation(pool)
            places, left = affordable(self._costs[order], left)
            parts.append(order[places])
            # A cluster whose remaining candidates are too expensive is not used up.
            if len(places) < len(order):
                break
        return np.concatenate(parts).astype(np.int64)


class _Clusters(Categorical):
    """Clusters, whose steps lead to clusters nearby."""

    def __init__(self, nearest: NDArray[np.intp]):
        super().__init__(range(len(nearest)))
        object.__setattr__(self, "nearest", nearest)

    def __repr__(self) -> str:
        return repr(Categorical(self.values))

    def near(self, value: int, rng: np.random.Generator, step: float) -> int:
        # With few clusters a share of their number would hardly ever round to another one.
        rank = abs(round(rng.normal(0.0, step * max(self.size, 10))))
        return int(self.nearest[value, min(rank, self.size - 1)])  # type: ignore[attr-defined]


def _is_table(X: Any) -> bool:
    return not hasattr(X, "measure") and len(getattr(X, "shape", ())) == 2
