"""Shadows: features that score better than the best of permuted copies of all features."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tamis._ranking import Ranking
from tamis._runtime.memory import as_bytes
from tamis._runtime.threads import effective_jobs
from tamis._validation import N_JOBS, Number, check_value
from tamis.certainty._rounds import Rounds
from tamis.certainty.rule import CertaintyRule
from tamis.cutoff.fit_data import FitData
from tamis.cutoff.rule import Cut
from tamis.exceptions import InputError

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
# There are at least so many shadows; fewer features get several copies each.
FEWEST_SHADOWS = 5
# Scores that are kept of all rounds, for plots; beyond, those of the best features only.
HISTORY_CELLS = 2**20
# A feature must be better than the best shadow by more than rounding.
ROUNDING = 1e-12
STATUS = np.array(["tentative", "confirmed", "rejected"])


@dataclass(frozen=True, eq=False)
class Shadows(CertaintyRule):
    """Keep the features that beat the best of permuted copies of all features (Boruta's idea).

    In every round the rows of the table are permuted, and the permuted copies of all features, the
    shadows, are put beside the features. The selector is fitted on both. A feature has a hit if its
    score exceeds that of the best shadow. Features that hardly ever fail to are confirmed, those
    that fail more often than not are rejected, and all others are tentative.

    It asks whether a feature is better than noise with the same margins. It says nothing about the
    share of useless features among those confirmed.

    Parameters
    ----------
    level : float, default=0.05
        Largest chance of confirming any feature if none is related to the target, in (0, 1).
    strata : array-like of shape (n_samples,) or None, default=None
        One label per row; rows are permuted within strata only.
    n_rounds : int, default=100
        Number of rounds.
    random_state : int, RandomState instance or None, default=0
        Seed of the permutations, and of selectors that have none of their own.
    n_jobs : int or None, default=None
        Rounds that are worked on at a time, in threads; ``None`` uses all cores. The result does
        not depend on it.
    checkpoint : path-like or None, default=None
        File that keeps the hits so far. An interrupted fit resumes from it; it is removed when all
        rounds are done.
    keep : optional
        As in :class:`~tamis.cutoff.CutRule`.
    groups : optional
        One label per row: groups of rows of the same size change places as a whole. Or features
        that are selected together, as in :class:`~tamis.certainty.CertaintyRule`.

    Notes
    -----
    ``cut_details_`` has, for every feature, ``hits``, ``p_values`` (for confirmation),
    ``rejection_p_values``, both corrected for the number of features, and ``status``:
    "confirmed", "tentative" or "rejected"; further ``n_rounds``, ``shadow_scores`` (the least, the
    mean and the best score of the shadows in every round), and ``score_history`` (rounds by
    features), whose columns are the features of ``history_features``: all of them, or the best
    ones if the history would exceed four megabytes.

    Another `level` needs neither data nor a refit.

    **What the level means.** Boruta confirms a feature with significantly more hits than a fair
    coin gives. The shadows change from round to round but the features do not, so on pure noise
    the best feature beats the best shadow in most rounds for every other table: rounds are no
    substitute for new rows. Here a table and its shadows are players in a tournament in which
    everybody meets everybody. Of R + 1 players at most 2 m + 1 can lose at most m games, and if no
    feature is related to the target all players are alike. So a feature that fails m times in R
    rounds has the p-value ``(2 m + 1) / (R + 1)``, and the chance that any feature reaches a level
    by luck is at most that level, for every selector and however features depend on each other.
    It is tested once, after all rounds. For selectors that score features one at a time this
    extends to the unrelated features among related ones.

    A feature is rejected if it has significantly fewer hits than a fair coin gives: binomial test,
    Bonferroni's correction. This is about the chance of a hit on the table at hand.

    Two more departures from Boruta follow. All features are permuted together, as whole rows: only
    then is the copy like the table, however the features depend on each other. And rejected
    features are not dropped: without their shadows those left would have less and less noise to
    beat. Where there are fewer than five features, several shadows of each are made. Columns are in
    random order, so that no tie is broken by position.

    Constant features are rejected with a p-value of 1. Missing values are permuted along. Rows of
    weight 0 are not there; weights stay with the target.

    Costs `n_rounds` fits on twice as many features; memory for a table of that size per thread.

    References
    ----------
    Kursa, M. B. and Rudnicki, W. R. (2010). Feature selection with the Boruta package. Journal of
    Statistical Software 36 (11). https://doi.org/10.18637/jss.v036.i11

    Landau, H. G. (1953). On dominance relations and the structure of animal societies III.
    Bulletin of Mathematical Biophysics 15, 143-148. https://doi.org/10.1007/BF02476378

    Examples
    --------
    >>> import numpy as np, tamis
    >>> from tamis.certainty import Shadows
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 200)
    >>> X = rng.normal(size=(200, 30))
    >>> X[:, 7] += 2 * y
    >>> selector = tamis.DFT(n_features_to_select=Shadows(level=0.05)).fit(X, y)
    >>> selector.get_support(indices=True)
    array([7])
    >>> selector.cut_details_["hits"][7], selector.cut_details_["status"][7]
    (np.int64(100), np.str_('confirmed'))
    """

    level: float = 0.05
    n_rounds: int = 100
    random_state: int | np.random.RandomState | None = 0
    n_jobs: int | None = None
    checkpoint: Any = None

    question: ClassVar[str] = (
        "Does the feature score better than noise with the same margins? (marginal)"
    )
    null_hypothesis: ClassVar[str] = "no feature is related to the target"
    assumption: ClassVar[str] = (
        "rows are exchangeable if no feature is related to the target (within strata, groups as a "
        "whole)"
    )
    guarantee: ClassVar[str] = (
        "if no feature is related to the target, the chance of confirming any is at most level"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_value(self.n_rounds, Number(int, low=1), who=self.who, name="n_rounds")
        check_value(self.n_jobs, N_JOBS, who=self.who, name="n_jobs")
        if 1 / (self.n_rounds + 1) > self.level * (1 + 1e-9):
            raise InputError(
                f"{self.who}: n_rounds must be at least {math.ceil(1 / self.level - 1e-9) - 1} for "
                f"level={self.level!r}, because no p-value can be smaller than 1 / (n_rounds + 1), "
                f"got {self.n_rounds!r}."
            )

    def settings(self) -> dict[str, Any]:
        """Parameters on which the hits depend."""
        free = ("n_jobs", "checkpoint")
        return {name: value for name, value in super().settings().items() if name not in free}

    def gather(self, ranking: Ranking, data: FitData) -> dict[str, Any]:
        """Count the rounds in which every feature beats the best shadow."""
        table = _Table.of(self, ranking, data)
        followed = np.sort(ranking.useful[: max(1, HISTORY_CELLS // self.n_rounds)])
        arrays: dict[str, NDArray[Any]] = {
            "hits": np.zeros(ranking.n_columns, dtype=np.int64),
            "shadow_scores": np.zeros((self.n_rounds, 3)),
            "score_history": np.zeros((self.n_rounds, followed.size), dtype=np.float32),
        }
        rounds = Rounds.of(self, data, "shadow rounds", self.n_rounds, arrays)
        rounds.n_jobs = table.jobs_in_memory(self.n_jobs)
        places = np.searchsorted(table.features, followed)

        def absorb(number: int, scores: tuple[Floats, Floats]) -> None:
            own, noise = scores
            best = noise.max()
            rounds.arrays["hits"][table.features] += own > best + ROUNDING * abs(best)
            rounds.arrays["shadow_scores"][number] = noise.min(), noise.mean(), best
            rounds.arrays["score_history"][number] = own[places]

        rounds.run(lambda number: table.scores(rounds, number), absorb)
        evidence = {name: array[: rounds.done] for name, array in rounds.arrays.items()}
        evidence["hits"] = hits = rounds.arrays["hits"]
        p_values, rejection = p_values_of(hits, rounds.done, ~ranking.constant)
        return {
            "p_values": p_values,
            "rejection_p_values": rejection,
            **evidence,
            "history_features": followed,
            "n_rounds": rounds.done,
        }

    def decide(self, evidence: dict[str, Any], ranking: Ranking) -> NDArray[np.bool_]:
        """Features that fail to beat the best shadow hardly ever."""
        return evidence["p_values"] <= self.level * (1 + 1e-9)

    def find(self, ranking: Ranking, data: FitData | None) -> Cut:
        """Confirmed features, with the status of all."""
        cut = super().find(ranking, data)
        is_rejected = (cut.details["rejection_p_values"] <= self.level) | ranking.constant
        is_confirmed = self.decide(cut.details, ranking) & ~ranking.constant
        cut.details["status"] = STATUS[np.where(is_confirmed, 1, np.where(is_rejected, 2, 0))]
        return cut


def p_values_of(
    hits: NDArray[np.int64], n_rounds: int, varies: NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """P-values for confirmation and for rejection, corrected for the number of features."""
    from scipy.stats import binom

    confirm = np.minimum((2.0 * (n_rounds - hits) + 1) / (n_rounds + 1), 1.0)
    reject = np.minimum(binom.cdf(hits, n_rounds, 0.5) * varies.sum(), 1.0)
    return np.where(varies, confirm, 1.0), np.where(varies, reject, 1.0)


@dataclass(frozen=True)
class _Table:
    """Features that vary, with permuted copies of them beside."""

    X: Any
    y: NDArray[Any]
    features: Indices
    n_copies: int
    cells: list[Indices]
    names: NDArray[Any]

    @classmethod
    def of(cls, rule: Shadows, ranking: Ranking, data: FitData) -> _Table:
        features = np.flatnonzero(~ranking.constant)
        own = [ranking.name(int(j)) for j in features]
        n_copies = -(-FEWEST_SHADOWS // features.size) if features.size < FEWEST_SHADOWS else 1
        names = np.array([*own, *n_copies * [f"shadow of {name}" for name in own]])
        X = data.X if features.size == ranking.n_columns else data.X[:, features]
        return cls(X, data.target, features, n_copies, _movable(rule, data), names)

    def scores(self, rounds: Rounds, number: int) -> tuple[Floats, Floats]:
        """Scores of the features and of their shadows in a round."""
        random = rounds.random(number)
        order = random.permutation(self.names.size)
        parts = [self.X, *(self.X[self._permuted(random)] for _ in range(self.n_copies))]
        if sparse.issparse(self.X):
            table = sparse.hstack(parts, format="csr")[:, order]
        else:
            table = np.hstack(parts)[:, order]
        scores = np.empty(order.size)
        scores[order] = rounds.scores(table, self.y, slice(None), random, self.names[order])[0]
        return scores[: self.features.size], scores[self.features.size :]

    def _permuted(self, random: np.random.Generator) -> Indices:
        """Where every row of the copy comes from."""
        rows = np.arange(self.X.shape[0])
        for units in self.cells:
            rows[units] = random.permutation(units)
        return rows

    def jobs_in_memory(self, n_jobs: int | None) -> int | None:
        """Number of threads whose tables the memory holds."""
        cells = self.X.nnz if sparse.issparse(self.X) else self.X.size
        n_bytes = 3 * 8 * cells * (1 + self.n_copies)  # built, in order, as the selector wants it
        return max(1, min(effective_jobs(n_jobs), as_bytes(None) // max(n_bytes, 1)))


def _movable(rule: Shadows, data: FitData) -> list[Indices]:
    """Arrays of units by rows: rows, or groups of rows, that may change places with each other."""
    strata, groups = rule.row_labels(data)
    weight = data.sample_weight
    rows = np.arange(data.X.shape[0]) if weight is None else np.flatnonzero(weight > 0)
    units = list(rows[:, np.newaxis])
    if groups is not None:
        units = [rows[groups[rows] == code] for code in np.unique(groups[rows])]
    cells: dict[Any, list[Indices]] = {}
    for unit in units:
        # Rows of a group that spans strata keep the order of their strata.
        kind = (unit.size,) if strata is None else tuple(strata[unit].tolist())
        cells.setdefault(kind, []).append(unit)
    if all(len(cell) < 2 for cell in cells.values()):
        raise InputError(
            f"{rule.who}: expected rows, or groups of rows of the same size, that can change "
            f"places within their stratum, got {len(units)} that cannot. Use other strata or "
            "groups."
        )
    return [np.array(cell) for cell in cells.values()]
