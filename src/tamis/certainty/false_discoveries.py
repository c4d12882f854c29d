"""FalseDiscoveries: features at a false discovery rate, by a known law or by permutations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tamis._ranking import Ranking
from tamis._runtime.seeds import as_seed, stream
from tamis._runtime.warning import warn
from tamis._validation import Choice, Number, check_value
from tamis.certainty._null import (
    ROUNDING,
    permuted_scores,
    refit_scores,
    score_blocks,
)
from tamis.certainty.permutations import Permutations, draw_states
from tamis.certainty.rule import CertaintyRule
from tamis.cutoff.fit_data import FitData
from tamis.statistics.permuted import PermutedScores

Floats = NDArray[np.float64]

# A feature that was reached so often needs no more permutations (Besag and Clifford 1991).
ENOUGH_HITS = 10
# Permutations at least and at most where their scores are found at once, and refits.
LEAST, MOST, REFITS = 999, 99_999, 199
# Permutations of the first batch, and of any.
FIRST_BATCH, LARGEST_BATCH = 100, 4096
# Place of the random numbers; other rules have others.
SHUFFLES = 2


@dataclass(frozen=True, eq=False)
class FalseDiscoveries(CertaintyRule):
    """Keep as many features as the false discovery rate allows.

    Every feature gets a p-value: from the law of its score, where that is known, or else from
    permutations of the target. Benjamini and Hochberg's procedure makes q-values of them: at
    `level`, the expected share of features independent of the target among those kept is at most
    `level`.

    Parameters
    ----------
    level : float, default=0.1
        Largest q-value of a feature that is kept, in (0, 1).
    method : {"bh", "by"}, default="bh"
        ``"bh"`` (Benjamini and Hochberg) holds for independent and for positively dependent
        features, ``"by"`` (Benjamini and Yekutieli) for any, with less power.
    n_permutations : int or None, default=None
        Largest number of permutations of a feature, where no law is known. ``None`` takes enough
        for a single feature to be found, ``n_features / level``, within 999 and 99,999; and 199 if
        each is a fit.
    strata : array-like of shape (n_samples,) or None, default=None
        One label per row: the target is permuted within strata only. No law is used then.
    random_state : int, RandomState instance or None, default=0
        Seed of the permutations.
    n_jobs : int or None, default=None
        Fits that run at the same time, on threads; ``None`` uses all cores. The result does not
        depend on it.
    keep, groups : optional
        As in :class:`~tamis.certainty.CertaintyRule`.

    Notes
    -----
    `cut_details_` holds ``p_values``, ``q_values``, ``n_permutations`` (0 if a law was used) and
    ``source`` ("law" or "permutations").

    Laws are known for AnovaF, Correlation, Fisher with two classes, InformationGain and binned
    MutualInformation; they are asymptotic for the last two. Where these would be rough because
    cells expect few rows, permutations are used.

    Permutations stop for a feature once ten of them have reached its score: its p-value is then ten
    over their number, and only the other features go on. This leaves p-values valid (Besag and
    Clifford 1991). Otherwise the p-value is ``(1 + hits) / (1 + n_permutations)``, never 0. Each
    feature is compared with its own permuted scores, so that scores of features need not be
    comparable.

    Memory: as for :class:`~tamis.certainty.FamilyWise`.

    References
    ----------
    Benjamini, Y. and Hochberg, Y. (1995). Controlling the false discovery rate. Journal of the
    Royal Statistical Society B 57, 289-300. https://doi.org/10.1111/j.2517-6161.1995.tb02031.x

    Benjamini, Y. and Yekutieli, D. (2001). The control of the false discovery rate in multiple
    testing under dependency. Annals of Statistics 29, 1165-1188.
    https://doi.org/10.1214/aos/1013699998

    Besag, J. and Clifford, P. (1991). Sequential Monte Carlo p-values. Biometrika 78, 301-304.
    https://doi.org/10.1093/biomet/78.2.301

    Examples
    --------
    >>> import numpy as np, tamis
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 100)
    >>> X = rng.normal(size=(100, 50))
    >>> X[:, [7, 20]] += 1.5 * y[:, None]
    >>> rule = tamis.certainty.FalseDiscoveries(0.1)
    >>> selector = tamis.DFT(n_features_to_select=rule).fit(X, y)
    >>> selector.get_support(indices=True)
    array([ 7, 20])
    """

    level: float = 0.1
    method: str = "bh"
    n_permutations: int | None = None
    random_state: int | np.random.RandomState | None = 0
    n_jobs: int | None = None

    assumption: ClassVar[str] = (
        "rows are exchangeable under the null, or the law of the score holds; for 'bh', features "
        "are independent or positively dependent"
    )
    guarantee: ClassVar[str] = (
        "the expected share of features independent of the target among those selected is at most "
        "the level"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_value(self.method, Choice(("bh", "by")), who=self.who, name="method")
        count = Number(int, low=ENOUGH_HITS, or_none=True)
        check_value(self.n_permutations, count, who=self.who, name="n_permutations")

    def gather(self, ranking: Ranking, data: FitData) -> dict[str, Any]:
        """P-values by law or permutations, and their q-values."""
        from scipy.stats import false_discovery_control

        p_values, tries = self._law(data), 0
        if p_values is None:
            p_values, tries = self._permute(ranking, data)
        p_values = np.where(ranking.constant, 1.0, p_values)
        q_values = np.ones(p_values.size)
        tested = ~ranking.constant
        q_values[tested] = false_discovery_control(p_values[tested], method=self.method)
        return {
            "p_values": p_values,
            "q_values": q_values,
            "n_permutations": tries,
            "source": "permutations" if tries else "law",
        }

    def decide(self, evidence: dict[str, Any], ranking: Ranking) -> NDArray[np.bool_]:
        """Features whose q-value is at most the level."""
        return np.asarray(evidence["q_values"] <= self.level)

    def needs_rows(self, selector: Any) -> bool:
        """Not where a law is known and rows are all alike."""
        return self.strata is not None or self._is_flat() or not selector._may_have_law()

    def is_answered(self, data: FitData | None) -> bool:
        """Whether there are data, earlier evidence, or a law that needs neither."""
        return super().is_answered(data) or (data is not None and self._law(data) is not None)

    def _law(self, data: FitData) -> Floats | None:
        """P-values by the law of the scores; None if there is none or rows are not all alike."""
        if self.strata is not None or self._labels_rows(data.selector.scores_.size):
            return None
        p_values = data.selector._law_p_values()
        rough = getattr(data.selector, "_law_is_rough", bool)()
        if p_values is not None and rough:
            if data.X is not None and data.y is not None:
                return None
            warn(
                f"{self.who}: p-values by the law of {type(data.selector).__name__} are rough, "
                "because many cells expect fewer than 5 rows. Use fewer bins, or a table in memory "
                "for permutations."
            )
        return p_values

    def _permute(self, ranking: Ranking, data: FitData) -> tuple[Floats, int]:
        target = data.target
        orders = Permutations.of(target.size, data.sample_weight, *self.row_labels(data), self.who)
        orders.check(target, self.level, self.who)
        permuted = permuted_scores(data)
        seed = as_seed(self.random_state, self.who)
        count = self._count(ranking.useful.size, at_once=permuted is not None)
        states = draw_states(stream(seed, SHUFFLES), count)
        counts = Sequential(ranking)
        if permuted is None:
            self._tell_resolution(ranking.useful.size, count)
            self._refit(counts, ranking, data, orders, states)
        else:
            self._at_once(counts, ranking, data, orders, states, permuted)
        return counts.p_values(), count

    def _count(self, n_features: int, at_once: bool) -> int:
        if self.n_permutations is not None:
            return self.n_permutations
        if not at_once:
            return REFITS
        steps = sum(1 / k for k in range(1, n_features + 1)) if self.method == "by" else 1.0
        return min(MOST, max(LEAST, math.ceil(steps * n_features / self.level) - 1))

    def _tell_resolution(self, n_features: int, count: int) -> None:
        together = math.ceil(n_features / (self.level * (count + 1)))
        if together > 1:
            warn(
                f"{self.who}: {count} refits resolve p-values down to 1 / {count + 1}, so that a "
                f"q-value of {self.level:g} needs at least {together} features that no permutation "
                "reaches. Set n_permutations higher, or use a selector with a known law."
            )

    def _at_once(
        self,
        counts: Sequential,
        ranking: Ranking,
        data: FitData,
        orders: Permutations,
        states: NDArray[np.uint64],
        permuted: PermutedScores,
    ) -> None:
        least = permuted.least(ranking.scores)
        parts = batch_bounds(states.size, min(LARGEST_BATCH, orders.batch_size))
        for first, last in data.selector.steps("permutations", parts, len(parts)):
            columns = counts.active()
            if not columns.size:
                continue
            targets = permuted.targets(orders.orders(states[first:last], self.n_jobs))
            for start, block in score_blocks(permuted, columns, targets, last - first):
                some = columns[start : start + len(block)]
                counts.add(some, block, least[some])

    def _refit(
        self,
        counts: Sequential,
        ranking: Ranking,
        data: FitData,
        orders: Permutations,
        states: NDArray[np.uint64],
    ) -> None:
        least = ranking.scores - ROUNDING * np.abs(ranking.scores)
        found = refit_scores(data, orders, states, self.n_jobs)
        for _ in data.selector.steps("permutations", range(states.size), states.size):
            columns = counts.active()
            if not columns.size:
                continue
            counts.add(columns, next(found)[columns, None], least[columns])


class Sequential:
    """Hits and tries of every feature, until it has enough hits."""

    def __init__(self, ranking: Ranking):
        self.hits = np.zeros(ranking.n_columns, np.int64)
        self.tries = np.zeros(ranking.n_columns, np.int64)
        self.tested = ~ranking.constant

    def active(self) -> NDArray[np.intp]:
        """Features that go on."""
        return np.flatnonzero(self.tested & (self.hits < ENOUGH_HITS))

    def add(self, columns: NDArray[np.intp], block: NDArray[Any], least: NDArray[Any]) -> None:
        """Take in permuted scores of some features, ``[feature, order]``."""
        from tamis.certainty._count_kernels import count_until

        hits, tries = self.hits[columns], self.tries[columns]
        count_until(block, np.ascontiguousarray(least), ENOUGH_HITS, hits, tries)
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
