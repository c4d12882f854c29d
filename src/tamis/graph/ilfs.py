"""ILFS: infinite latent feature selection, relevance as a topic of the columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tamis._base import BlockSelector
from tamis._facts import SelectorFacts
from tamis._partial_fit import Gathered
from tamis._runtime.warning import warn
from tamis._validation import N_JOBS, Choice, Constraint, Number
from tamis.data import checks
from tamis.data.labels import check_two_classes
from tamis.exceptions import InputError
from tamis.passes.memory import Opened
from tamis.statistics import ClassMoments, Ranges, TokenCounts, WithRanges
from tamis.statistics.block import RangesResult

Floats = NDArray[np.float64]

DAMPING = 0.9
# Weight of the prior on a column's topics, relative to the mean weight of a column. With much less,
# many columns of noise pull the topics to the middle tokens, for all but the strongest anchors.
COLUMN_PRIOR = 1.0
TINY = np.finfo(np.float64).tiny


@dataclass(kw_only=True, eq=False, repr=False)
class ILFS(BlockSelector):
    """Infinite latent feature selection: columns whose values lie close to their own class.

    Every value is described by a token: how close it lies to the mean of its class, compared with
    the means of the others, in a few equal steps. The tokens of a column are a mixture of two
    topics, relevant and irrelevant; the share of the first is the relevance of the column. The
    score is the energy of all walks from the column in a graph whose edges are products of
    relevances. Two passes over the rows suffice, for tables of any size and number of classes.

    Parameters
    ----------
    n_tokens : int, default=6
        Number of equal intervals of closeness.
    closeness : {"inverse", "complement"}, default="inverse"
        Share of the own class among the inverse squared distances to the class means, or one minus
        its share among the squared distances. For two classes they are the same.
    topics : {"anchored", "free"}, default="anchored"
        Whether a prior keeps the topics near their start, or they follow the data alone, as
        printed in the paper.
    anchor : float, default=10.0
        Weight of that prior relative to the data; ``inf`` keeps the topics as they start. Unused
        by free topics.
    max_iter : int, default=2000
        Most steps of expectation maximisation.
    tol : float, default=1e-9
        The steps end when the log-likelihood gains no more than this share of itself.
    n_features_to_select : "auto", int, float, "elbow", "all" or rule, default="elbow"
        The cut; see :mod:`tamis.cutoff`.
    n_jobs : int or None, default=None
        Threads; ``None`` uses all cores. The result does not depend on it.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Energy of all walks; 0 for columns that are not in the graph.
    relevance_ : ndarray of shape (n_features,)
        Probability of the relevant topic given the column. With anchored topics a prior that
        weighs as much as the tokens of an average column draws it towards 1/2.
    token_profile_ : ndarray of shape (2, n_tokens)
        Probability of every token in the relevant topic and in the other.
    log_likelihood_ : ndarray of shape (n_steps + 1,)
        At the start and after every step; with anchored topics the log-prior is part of it.
    n_iter_ : int
        Steps of expectation maximisation.
    classes_ : ndarray of shape (n_classes,)
        The labels of the target.
    order_, ranking_, support_, n_selected_, constant_, cut_details_
        As for every selector.

    Notes
    -----
    ``O(n_samples n_features n_classes + n_features n_tokens n_iter_)`` time; memory for
    ``n_features * (3 n_classes + 4 n_tokens)`` numbers beside the data. The matrix of the graph has
    rank one, so its walks have a closed form and never reorder the relevances.

    Equations 2 and 3 of the paper give a value near the mean of its own class a low number, and the
    text wants it high; closeness is what the text describes. Closeness within 1e-9 of a token's
    border counts as above it. Free topics drift to other contrasts than relevance, hence the
    anchor. Columns that never vary, or are observed in one class only, are not in the graph.
    Missing values have no token. Zeros of a sparse matrix are counted without being visited.

    References
    ----------
    Roffo, G., Melzi, S., Castellani, U. and Vinciarelli, A. (2017). Infinite latent feature
    selection: a probabilistic latent graph-based ranking approach. ICCV.
    https://doi.org/10.1109/ICCV.2017.156

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamis import ILFS
    >>> data = load_iris(as_frame=True)
    >>> selector = ILFS(n_features_to_select=2).fit(data.data, data.target)
    >>> selector.get_feature_names_out()
    array(['petal length (cm)', 'petal width (cm)'], dtype=object)
    >>> selector.relevance_.round(3)
    array([0.588, 0.492, 0.696, 0.699])
    """

    n_tokens: int = 6
    closeness: str = "inverse"
    topics: str = "anchored"
    anchor: float = 10.0
    max_iter: int = 2000
    tol: float = 1e-9
    n_features_to_select: Any = "elbow"
    n_jobs: int | None = None

    facts: ClassVar[SelectorFacts] = SelectorFacts(
        summary="Probability of relevance: the values lie close to their own class mean.",
        tasks=("classification",),
        cost="T n K",
        reference="Roffo et al. 2017",
        nonlinear="partly",
    )

    _passes: ClassVar[tuple[str, ...]] = ("class means", "tokens")
    _n_stages: ClassVar[int | None] = 3
    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_tokens": Number(int, low=2, high=1_000_000),
        "closeness": Choice(("inverse", "complement")),
        "topics": Choice(("anchored", "free")),
        "anchor": Number(float, low=0, open_low=True),
        "max_iter": Number(int, low=1),
        "tol": Number(float, low=0),
        "n_jobs": N_JOBS,
    }

    def _first(self, table: Opened) -> WithRanges:
        n_columns = table.n_columns
        return WithRanges(Ranges(n_columns), ClassMoments(n_columns, table.n_classes))

    def _statistic(self, table: Opened, first: WithRanges) -> TokenCounts:
        return TokenCounts(first.other.finish(), self.n_tokens, self.closeness)

    def _ranges_of(self, statistic: Any) -> RangesResult:
        ranges, moments = super()._ranges_of(statistic), statistic.other.finish()
        overflown = (moments.weight > 0) & ~np.isfinite(moments.variance)
        huge = np.flatnonzero(overflown.any(axis=0))
        if huge.size:
            names = checks.names_of(self)
            shown = int(huge[0]) if names is None else names[huge[0]]
            raise InputError(
                f"{type(self).__name__}: expected values with a finite variance, got some above "
                f"1e150 in column {shown!r}. Rescale the column."
            )
        return ranges

    def _finish(self, statistic: TokenCounts, constant: NDArray[np.bool_]) -> Floats:
        counts = statistic.finish().counts
        inside = ~constant & counts.any(axis=1)
        model = TwoTopics(counts[inside], self.anchor if self.topics == "anchored" else 0.0)
        try:
            for _ in self.steps("topics", model.iterate(self.max_iter, self.tol), self.max_iter):
                pass
        except KeyboardInterrupt:
            scores = self._keep_topics(model, inside)
            self._keep_unfinished(scores, constant, f"after {self.n_iter_} steps of the topics")
            raise
        scores = self._keep_topics(model, inside)
        if self.n_iter_ == self.max_iter and not model.converged:
            warn(
                f"{type(self).__name__}: the topics were still changing after {self.max_iter} "
                f"steps. Raise max_iter or tol."
            )
        return scores

    def _keep_topics(self, model: TwoTopics, inside: NDArray[np.bool_]) -> Floats:
        p, self.token_profile_ = model.result()
        self.relevance_ = np.zeros(inside.size)
        self.relevance_[inside] = p
        self.log_likelihood_ = np.array(model.path)
        self.n_iter_ = max(len(model.path) - 1, 0)
        return walk_rank_one(self.relevance_)

    def learn_moments(self, X: Any, y: Any, sample_weight: Any = None) -> ILFS:
        """Take in a block in a first pass that only learns the means of the classes.

        :meth:`partial_fit` keeps these means, and wants no classes but these. Without a first pass
        it keeps the means of its first block.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            A block of rows.
        y : array-like of shape (n_samples,)
            Its classes; new ones may appear in any block.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        self : object
            Ready for more blocks, or for :meth:`partial_fit` in a second pass.
        """
        gathered, X = self._open_gathered(X)
        table = self._open_block(gathered, X, y, sample_weight)
        self._learn(gathered, table, "learn_moments")
        return self

    def _check_block(self, gathered: Gathered, table: Opened) -> None:
        known: Any = table.classes if gathered.first is None else gathered.classes
        check_two_classes(known, "ILFS")
        new = np.setdiff1d(table.classes, known)
        if new.size:
            raise InputError(
                f"ILFS: expected classes that have a mean ({known.tolist()!r}), got "
                f"{new.tolist()[0]!r}. Show all rows to learn_moments before the first partial_fit."
            )


class TwoTopics:
    """Maximum likelihood, or maximum a posteriori, by expectation maximisation.

    The tokens t of column f are drawn from ``P(t|f) = p_f P(t|z1) + (1 - p_f) P(t|z2)`` with the
    relevance ``p_f = P(z1|f)``. Without an anchor, the log-likelihood ``sum Q(f,t) log P(t|f)`` is
    maximised, as in the paper. With an anchor a, log-priors are added, for N the total weight and n
    columns; as shares of the data, they do not depend on the unit of the weights::

        a N / 2 * sum_z,t P0(t|z) log(P(t|z) / P0(t|z))     Dirichlet, centred on the start P0
        N / n * sum_f,z 1/2 log(2 P(z|f))                   Beta, the same for every column

    `counts` are weights of tokens, ``[column, token]``; no column is empty.
    """

    def __init__(self, counts: Floats, anchor: float):
        self.counts = np.ascontiguousarray(counts.T)  # numbers of one token side by side
        n_tokens, n_columns = self.counts.shape
        self.column_weight = self._by_column(self.counts)
        self.anchor = anchor
        self.start = topics_at_start(n_tokens)
        self.profile = self.start.copy()
        self.p = np.full(n_columns, 0.5)
        self.q = 1.0 - self.p  # kept apart, so that neither loses digits near 1
        total = float(self.column_weight.sum())
        self.topic_counts = anchor * total / 2 if np.isfinite(anchor) else 0.0
        self.column_counts = COLUMN_PRIOR * total / max(n_columns, 1) if anchor > 0 else 0.0
        self.path: list[float] = []
        self.converged = n_columns == 0

    def iterate(self, max_iter: int, tol: float) -> Iterator[int]:
        """Yield the number of each step after taking it, until converged or stopped."""
        if self.converged:
            return
        self.path = [self._objective()]
        for step in range(1, max_iter + 1):
            self._step()
            self.path.append(self._objective())
            gain = self.path[-1] - self.path[-2]
            self.converged = bool(gain <= tol * abs(self.path[-1]))
            yield step
            if self.converged:
                return

    def _mixture(self) -> tuple[Floats, Floats, Floats]:
        """P(t, z1 | f), P(t, z2 | f) and their sum P(t|f), token by column."""
        relevant = self.profile[0][:, None] * self.p
        irrelevant = self.profile[1][:, None] * self.q
        return relevant, irrelevant, np.maximum(relevant + irrelevant, TINY)

    def _step(self) -> None:
        relevant, irrelevant, both = self._mixture()
        share = np.divide(self.counts, both, out=both)
        expected = np.multiply(relevant, share, out=relevant)  # Q(f,t) P(z1|f,t)
        rest = np.multiply(irrelevant, share, out=irrelevant)
        half = self.column_counts / 2
        total = self.column_weight + 2 * half
        self.p = (self._by_column(expected) + half) / total
        self.q = (self._by_column(rest) + half) / total
        if np.isinf(self.anchor):
            return
        counts = np.stack([expected.sum(axis=1), rest.sum(axis=1)])
        counts += self.topic_counts * self.start
        # A topic that no column has any more keeps its shape.
        sums = counts.sum(axis=1, keepdims=True)
        self.profile = np.divide(counts, sums, out=self.profile, where=sums > 0)

    def _objective(self) -> float:
        """Log-likelihood plus log-priors; these are 0 at the start, so they never dwarf it."""
        *_, both = self._mixture()
        value = float((np.log(both, out=both) * self.counts).sum())
        if self.topic_counts:
            gap = np.log(self.profile / self.start)
            value += self.topic_counts * float((self.start * gap).sum())
        if self.column_counts:
            value += self.column_counts / 2 * float(np.log(4.0 * self.p * self.q).sum())
        return value

    @staticmethod
    def _by_column(table: Floats) -> Floats:
        """Sum over tokens, one after the other: equal columns get equal sums to the last bit."""
        total = np.zeros(table.shape[1])
        for row in table:
            total += row
        return total

    def result(self) -> tuple[Floats, Floats]:
        """Relevance and P(t|z), first of the relevant topic: that with the higher mean token."""
        tokens = np.arange(self.start.shape[1])
        if self.profile[0] @ tokens < self.profile[1] @ tokens:
            return self.q, self.profile[::-1].copy()
        return self.p, self.profile


def topics_at_start(n_tokens: int) -> Floats:
    """P(t|z): rising linearly with the token for the relevant topic, falling for the other."""
    rising = np.arange(1.0, n_tokens + 1.0) / (n_tokens * (n_tokens + 1.0) / 2.0)
    return np.stack([rising, rising[::-1]])


def walk_rank_one(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Row sums of ``(I - rA)^-1 - I`` for ``A = p p'``, r = 0.9 over its radius p'p: geometric."""
    radius = float((p * p).sum())
    if radius == 0.0:
        return np.zeros_like(p)
    return p * (DAMPING / (1.0 - DAMPING) * float(p.sum()) / radius)
