"""FamilyWise: features that beat the best of a permuted target, step by step."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tamis._ranking import Ranking
from tamis._runtime.seeds import as_seed, stream
from tamis._validation import Constraint, Number, check_value
from tamis.certainty._null import StepDown, permuted_scores, score_blocks
from tamis.certainty._refits import count_refits, least_reached
from tamis.certainty.permutations import Permutations, draw_states
from tamis.certainty.rule import CertaintyRule
from tamis.cutoff.fit_data import FitData
from tamis.exceptions import InputError
from tamis.statistics.permuted import PermutedScores

# Permutations where they are found at once, and at least where every one is a fit.
MANY, FEW = 999, 99
# Places of the random numbers.
ROTATIONS, SHUFFLES = 0, 1


@dataclass(frozen=True, eq=False)
class FamilyWise(CertaintyRule):
    """Keep the features that score above what a permuted target gives, family-wise.

    A feature's adjusted p-value is the share of permutations, the true order counted as one, in
    which the best of this feature and all that score worse reaches its score (Westfall and Young's
    step-down maxT). The chance of keeping even one feature that is independent of the target is at
    most `level`, however many features there are and however they depend on each other.

    Parameters
    ----------
    level : float, default=0.05
        Largest adjusted p-value of a feature that is kept, in (0, 1).
    n_permutations : int or None, default=None
        Number of permutations. ``None`` takes 999 where the selector finds their scores at once,
        and else, as each is a fit, enough to see a p-value of a fifth of `level`, at least 99.
    strata : array-like of shape (n_samples,) or None, default=None
        One label per row: the target is permuted within strata only. A row alone in its stratum
        keeps its target.
    random_state : int, RandomState instance or None, default=0
        Seed of the permutations.
    n_jobs : int or None, default=None
        Fits that run at the same time, on threads; ``None`` uses all cores. The result does not
        depend on it.
    checkpoint : str, path or None, default=None
        File from which interrupted refits resume; removed when they are complete.
    keep, groups : optional
        As in :class:`~tamis.certainty.CertaintyRule`. Groups of rows exchange their targets as a
        whole, among groups of the same number of rows.

    Notes
    -----
    `cut_details_` holds ``p_values`` (adjusted), ``unadjusted_p_values`` (of every feature by
    itself) and ``null_best_scores`` (the best score of every permutation, sorted).

    The level holds for any score. The power depends on how comparable the scores of different
    features are: if noise of one kind, such as features with many bins, scores higher than of
    others, it hides weaker features of the others.

    Cost: Correlation, AnovaF, Fisher, DFT, RFT, InformationGain and binned MutualInformation find
    the scores of all permutations by products of matrices or by counting bits, in the time of some
    fits; ReliefF on small tables, too. Others are refitted, as are tables with missing values,
    sparse tables and sample weights. Memory: a float32 copy of the table and blocks of scores.

    With at least twice as many rows as permutations, the scores that are sums over rows use a group
    of permutations: after a random relabelling, the rows are cut into orbits which rotate at the
    same time. Tests by a group that contains the identity are exact. There are then up to
    half more permutations than asked for.

    References
    ----------
    Westfall, P. H. and Young, S. S. (1993). Resampling-Based Multiple Testing. Wiley.

    Hemerik, J. and Goeman, J. (2018). Exact testing with random permutations. TEST 27, 811-825.
    https://doi.org/10.1007/s11749-017-0571-1

    Phipson, B. and Smyth, G. K. (2010). Permutation p-values should never be zero. Statistical
    Applications in Genetics and Molecular Biology 9(1). https://doi.org/10.2202/1544-6115.1585

    Examples
    --------
    >>> import numpy as np, tamis
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 100)
    >>> X = rng.normal(size=(100, 50))
    >>> X[:, 7] += 2 * y
    >>> rule = tamis.certainty.FamilyWise(0.05)
    >>> selector = tamis.Fisher(n_features_to_select=rule).fit(X, y)
    >>> selector.get_support(indices=True)
    array([7])
    >>> float(selector.p_values_[7])
    0.001
    """

    level: float = 0.05
    n_permutations: int | None = None
    random_state: int | np.random.RandomState | None = 0
    n_jobs: int | None = None
    checkpoint: str | Path | None = None

    assumption: ClassVar[str] = (
        "rows are exchangeable under the null: within strata if they are given, whole groups of "
        "rows if these are given"
    )
    guarantee: ClassVar[str] = (
        "the chance of selecting any feature that is independent of the target is at most the level"
    )

    _levels: ClassVar[Constraint] = Number(float, low=0, high=1, open_low=True, open_high=True)

    def __post_init__(self) -> None:
        check_value(self.level, self._levels, who=self.who, name="level")
        count = Number(int, low=1, or_none=True)
        check_value(self.n_permutations, count, who=self.who, name="n_permutations")
        if self.n_permutations is not None and not self._suffices(self.n_permutations):
            raise InputError(
                f"{self.who}: n_permutations must be at least "
                f"{math.ceil(1 / self.level - 1e-9) - 1} for level={self.level!r}, because no "
                f"p-value can be smaller than 1 / (n_permutations + 1), got "
                f"{self.n_permutations!r}."
            )

    def _suffices(self, count: int) -> bool:
        return 1 / (count + 1) <= self.level

    def _count(self, at_once: bool) -> int:
        enough = max(FEW, math.ceil(5 / self.level) - 1)
        return self.n_permutations or (max(MANY, enough) if at_once else enough)

    def gather(self, ranking: Ranking, data: FitData) -> dict[str, Any]:
        """Score permuted targets and compare."""
        target, weight = data.target, data.sample_weight
        orders = Permutations.of(target.size, weight, *self.row_labels(data), self.who)
        orders.check(target, self.level, self.who)
        permuted = permuted_scores(data)
        seed = as_seed(self.random_state, self.who)
        if permuted is None:
            counts, best = self._refit(ranking, data, orders, seed)
        else:
            counts, best = self._at_once(ranking, data, orders, seed, permuted)
        adjusted, single = counts.p_values()
        return {
            "p_values": adjusted,
            "unadjusted_p_values": single,
            "null_best_scores": np.sort(best),
        }

    def decide(self, evidence: dict[str, Any], ranking: Ranking) -> NDArray[np.bool_]:
        """Features whose adjusted p-value is at most the level."""
        return np.asarray(evidence["p_values"] <= self.level)

    def stored(self, data: FitData) -> dict[str, Any] | None:
        """Earlier evidence, unless it has too few permutations for this level."""
        found = super().stored(data)
        few = found is not None and not self._suffices(found["null_best_scores"].size)
        return None if few else found

    def _at_once(
        self,
        ranking: Ranking,
        data: FitData,
        orders: Permutations,
        seed: int,
        permuted: PermutedScores,
    ) -> tuple[StepDown, NDArray[np.float64]]:
        counts = StepDown(ranking, permuted.least(ranking.scores))
        count = self._count(at_once=True)
        group = orders.rotations(count, stream(seed, ROTATIONS)) if permuted.rotates else None
        if group is not None:
            targets = permuted.targets(group)
            for _ in data.selector.steps("permutations", [group], 1):
                blocks = score_blocks(permuted, counts.columns, targets, group.length)
                # The first rotation is the identity: it is counted by the 1 of (1 + hits).
                counts.add((first, block[:, 1:]) for first, block in blocks)
        else:
            states = draw_states(stream(seed, SHUFFLES), count)
            batches = orders.batches(states, self.n_jobs)
            for batch in data.selector.steps("permutations", batches, orders.n_batches(count)):
                targets = permuted.targets(batch)
                counts.add(score_blocks(permuted, counts.columns, targets, len(batch)))
        return counts, permuted.scores(np.concatenate(counts.maxima))

    def _refit(
        self, ranking: Ranking, data: FitData, orders: Permutations, seed: int
    ) -> tuple[StepDown, NDArray[np.float64]]:
        counts = StepDown(ranking, least_reached(ranking.scores))
        states = draw_states(stream(seed, SHUFFLES), self._count(at_once=False))
        count_refits(self, counts, data, orders, states)
        return counts, np.concatenate(counts.maxima)


@dataclass(frozen=True, eq=False)
class PermutationNull(FamilyWise):
    """Keep the features that score above what a permuted target gives.

    Another name of :class:`~tamis.certainty.FamilyWise`.

    Parameters
    ----------
    level : float, default=0.05
        Largest adjusted p-value of a feature that is kept, in (0, 1].
    n_permutations : int or None, default=None
        Number of permutations; ``None`` takes enough to see a p-value of a fifth of `level`, at
        least 99.
    strata, random_state, n_jobs, checkpoint, keep, groups : optional
        As in :class:`~tamis.certainty.FamilyWise`.

    Examples
    --------
    >>> import numpy as np, tamis
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 100)
    >>> X = rng.normal(size=(100, 50))
    >>> X[:, 7] += 2 * y
    >>> rule = tamis.cutoff.PermutationNull(level=0.05)
    >>> tamis.DFT(n_features_to_select=rule).fit(X, y).get_support(indices=True)
    array([7])
    """

    _levels: ClassVar[Constraint] = Number(float, low=0, high=1, open_low=True)

    def _count(self, at_once: bool) -> int:
        return super()._count(at_once=False)
