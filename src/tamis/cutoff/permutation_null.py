"""PermutationNull: columns that beat a shuffled target."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_random_state

from tamis._ranking import Ranking
from tamis._validation import Number, check_value
from tamis.cutoff.fit_data import FitData
from tamis.cutoff.rule import Cut, CutRule
from tamis.exceptions import InputError


@dataclass(frozen=True, eq=False)
class PermutationNull(CutRule):
    """Keep the columns that score above what a shuffled target gives, family-wise.

    The selector is fitted on shuffled targets; from each it takes the best score of any column.
    A column's p-value is the share of shuffles, the true order counted as one, whose best score
    reaches its own (Westfall and Young's single-step maxT). So the chance of keeping even one
    useless column is at most `level`, however many columns there are.

    Parameters
    ----------
    level : float, default=0.05
        Largest p-value of a column that is kept, in (0, 1].
    n_permutations : int or None, default=None
        Number of shuffles; ``None`` takes enough to see a p-value of a fifth of `level`, at
        least 99.
    random_state : int, RandomState instance or None, default=0
        Seed of the shuffles.
    keep : sequence of int or str, or None
        Columns that are always selected.
    groups : sequence of sequences, mapping, or sequence of labels, or None
        Columns that stand or fall together.

    References
    ----------
    Westfall, P. H. and Young, S. S. (1993). Resampling-Based Multiple Testing. Wiley.

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

    level: float = 0.05
    n_permutations: int | None = None
    random_state: int | np.random.RandomState | None = 0

    needs_data = True

    def __post_init__(self) -> None:
        share = Number(float, low=0, high=1, open_low=True)
        check_value(self.level, share, who=self.who, name="level")
        count = Number(int, low=1, or_none=True)
        check_value(self.n_permutations, count, who=self.who, name="n_permutations")
        if 1 / (self._count() + 1) > self.level:
            raise InputError(
                f"{self.who}: n_permutations must be at least "
                f"{math.ceil(1 / self.level - 1e-9) - 1} for level={self.level!r}, because no "
                f"p-value can be smaller than 1 / (n_permutations + 1), got "
                f"{self.n_permutations!r}."
            )

    def _count(self) -> int:
        return self.n_permutations or max(99, math.ceil(5 / self.level) - 1)

    def find(self, ranking: Ranking, data: FitData | None) -> Cut:
        """Score shuffled targets and compare."""
        assert data is not None
        if not getattr(data.selector, "_supervised", True):
            raise InputError(
                f"{self.who}: expected a selector that uses the target, got "
                f"{type(data.selector).__name__}, whose scores no shuffle can change. Use another "
                "rule."
            )
        rng = check_random_state(self.random_state)
        target, weight = data.target, data.sample_weight
        # A row of weight 0 is not there, so it has no target to give away.
        rows = np.arange(target.size) if weight is None else np.flatnonzero(weight > 0)
        best = []
        for _ in data.steps("permutations", range(self._count())):
            selector = data.fresh()
            shuffled = target.copy()
            shuffled[rows] = target[rng.permutation(rows)]
            best.append(data.fit(selector, data.X, shuffled).scores_.max())
        null = np.sort(best)
        # An equal score counts against the column; rounding must not decide that.
        own = ranking.scores - 1e-12 * np.abs(ranking.scores)
        reached = null.size - np.searchsorted(null, own, side="left")
        p_values = (1.0 + reached) / (1.0 + null.size)
        wanted = ranking.useful[p_values[ranking.useful] <= self.level]
        return Cut(wanted, None, {"p_values": p_values, "null_best_scores": null})
