"""Two latent topics, relevant and irrelevant, behind the token counts of every column."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Weight of the prior on a column's topics, relative to the mean weight of a column. With much less,
# many columns of noise pull the topics to the middle tokens, for all but the strongest anchors.
COLUMN_PRIOR = 1.0
TINY = np.finfo(np.float64).tiny


class TwoTopics:
    """Maximum likelihood, or maximum a posteriori, by expectation maximisation.

    The tokens t of column f are drawn from ``P(t|f) = p_f P(t|z1) + (1 - p_f) P(t|z2)`` with the
    relevance ``p_f = P(z1|f)``. Without an anchor, the log-likelihood ``sum Q(f,t) log P(t|f)`` is
    maximised, as in the paper: its P(z) P(f|z) is proportional to P(z|f) times the weight of the
    column. With an anchor a, log-priors are added, for N the total weight and n columns::

        a N / 2 * sum_z,t P0(t|z) log(P(t|z) / P0(t|z))     Dirichlet, centred on the start P0
        N / n * sum_f,z 1/2 log(2 P(z|f))                   Beta, the same for every column

    The M-step divides the sums of expected and prior counts, so the penalised log-likelihood never
    falls. Prior counts are shares of the data, so the unit of the weights does not matter.
    `counts` are weights of tokens, ``[column, token]``; no column is empty. An infinite anchor
    keeps the topics as they start.
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
        """Relevance of every column and P(t|z), relevant topic first.

        Relevant is the topic with the higher mean token, wherever the steps have carried it.
        """
        tokens = np.arange(self.start.shape[1])
        if self.profile[0] @ tokens < self.profile[1] @ tokens:
            return self.q, self.profile[::-1].copy()
        return self.p, self.profile


def topics_at_start(n_tokens: int) -> Floats:
    """P(t|z): rising linearly with the token for the relevant topic, falling for the other."""
    rising = np.arange(1.0, n_tokens + 1.0) / (n_tokens * (n_tokens + 1.0) / 2.0)
    return np.stack([rising, rising[::-1]])
