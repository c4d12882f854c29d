"""P-values by permutations that stop for a feature once enough of them have reached its score."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._ranking import Ranking
from tamis._runtime.seeds import as_seed, stream
from tamis._runtime.warning import warn
from tamis.certainty._law import Floats
from tamis.certainty._null import permuted_scores, score_blocks
from tamis.certainty._refits import count_refits, least_reached
from tamis.certainty.false_discoveries import ENOUGH_HITS, FalseDiscoveries
from tamis.certainty.permutations import Permutations, draw_states
from tamis.cutoff.fit_data import FitData
from tamis.statistics.permuted import PermutedScores

# Permutations at least and at most where their scores are found at once, and refits.
LEAST, MOST, REFITS = 999, 99_999, 199
# Permutations of the first batch, and of any.
FIRST_BATCH, LARGEST_BATCH = 100, 4096
# Place of the random numbers; other rules have others.
SHUFFLES = 2


def permuted_p_values(
    rule: FalseDiscoveries, ranking: Ranking, data: FitData, permuted: PermutedScores | None = None
) -> tuple[Floats, int]:
    """P-values of all features, and the number of permutations; refits if there is no other way."""
    target = data.target
    orders = Permutations.of(target.size, data.sample_weight, *rule.row_labels(data), rule.who)
    orders.check(target, rule.level, rule.who)
    permuted = permuted_scores(data) if permuted is None else permuted
    seed = as_seed(rule.random_state, rule.who)
    count = _count(rule, ranking.useful.size, at_once=permuted is not None)
    states = draw_states(stream(seed, SHUFFLES), count)
    least = least_reached(ranking.scores) if permuted is None else permuted.least(ranking.scores)
    counts = Sequential(ranking, least)
    if permuted is None:
        _tell_resolution(rule, ranking.useful.size, count)
        count_refits(rule, counts, data, orders, states)
    else:
        _at_once(rule, counts, data, orders, states, permuted)
    return counts.p_values(), count


def enough_permutations(n_features: int, level: float, steps: float = 1.0) -> int:
    """Permutations by which a single feature can be found at a false discovery rate."""
    return min(MOST, max(LEAST, math.ceil(steps * n_features / level) - 1))


def _count(rule: FalseDiscoveries, n_features: int, at_once: bool) -> int:
    if rule.n_permutations is not None:
        return rule.n_permutations
    if not at_once:
        return REFITS
    steps = sum(1 / k for k in range(1, n_features + 1)) if rule.method == "by" else 1.0
    return enough_permutations(n_features, rule.level, steps)


def _tell_resolution(rule: FalseDiscoveries, n_features: int, count: int) -> None:
    together = math.ceil(n_features / (rule.level * (count + 1)))
    if together > 1:
        warn(
            f"{rule.who}: {count} refits resolve p-values down to 1 / {count + 1}, so that a "
            f"q-value of {rule.level:g} needs at least {together} features that no permutation "
            "reaches. Set n_permutations higher, or use a selector with a known law."
        )


def _at_once(
    rule: FalseDiscoveries,
    counts: Sequential,
    data: FitData,
    orders: Permutations,
    states: NDArray[np.uint64],
    permuted: PermutedScores,
) -> None:
    parts = batch_bounds(states.size, min(LARGEST_BATCH, orders.batch_size))
    for first, last in data.selector.steps("permutations", parts, len(parts)):
        columns = counts.active()
        if not columns.size:
            continue
        targets = permuted.targets(orders.orders(states[first:last], rule.n_jobs))
        for start, block in score_blocks(permuted, columns, targets, last - first):
            counts.add(columns[start : start + len(block)], block)


class Sequential:
    """Hits and tries of every feature, until it has enough hits."""

    def __init__(self, ranking: Ranking, least: NDArray[Any]):
        self.least, self.n_orders = least, 0
        self.hits = np.zeros(ranking.n_columns, np.int64)
        self.tries = np.zeros(ranking.n_columns, np.int64)
        self.tested = ~ranking.constant

    def active(self) -> NDArray[np.intp]:
        """Features that go on."""
        return np.flatnonzero(self.tested & (self.hits < ENOUGH_HITS))

    @property
    def wants_more(self) -> bool:
        """Whether any feature goes on."""
        return self.active().size > 0

    def take(self, scores: Floats) -> None:
        """Take in the scores of one refit."""
        columns = self.active()
        self.add(columns, scores[columns, None])
        self.n_orders += 1

    def state(self) -> dict[str, NDArray[Any]]:
        """What a checkpoint keeps."""
        return {"hits": self.hits, "tries": self.tries, "n_orders": np.array([self.n_orders])}

    def resume(self, state: dict[str, NDArray[Any]]) -> None:
        """Go on from the content of a checkpoint."""
        self.hits[:], self.tries[:] = state["hits"], state["tries"]
        self.n_orders = int(state["n_orders"][0])

    def add(self, columns: NDArray[np.intp], block: NDArray[Any]) -> None:
        """Take in permuted scores of some features, ``[feature, order]``."""
        from tamis.certainty._permutation_kernels import count_until

        hits, tries = self.hits[columns], self.tries[columns]
        count_until(block, self.least[columns], ENOUGH_HITS, hits, tries)
        self.hits[columns], self.tries[columns] = hits, tries

    def p_values(self) -> Floats:
        """Share of permutations that reached the score; 1 for constant features."""
        ended = self.hits >= ENOUGH_HITS
        found = np.where(
            ended, self.hits / np.maximum(self.tries, 1), (1.0 + self.hits) / (1.0 + self.tries)
        )
        return np.where(self.tested, found, 1.0)


def batch_bounds(count: int, largest: int) -> list[tuple[int, int]]:
    """Batches that double up to a largest one."""
    bounds, size, first = [], min(FIRST_BATCH, largest), 0
    while first < count:
        bounds.append((first, min(first + size, count)))
        first += size
        size = min(2 * size, largest)
    return bounds
