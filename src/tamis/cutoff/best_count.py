"""BestCount: the number of columns that the method itself found best."""

from __future__ import annotations

from dataclasses import dataclass

from tamis._ranking import Ranking
from tamis.cutoff.fit_data import FitData
from tamis.cutoff.rule import Cut, CutRule, TopK
from tamis.exceptions import InputError


@dataclass(frozen=True, eq=False)
class BestCount(CutRule):
    """Keep as many columns as `best_n_features_` of the selector says.

    Written ``n_features_to_select="best"``, for selectors that find out a number of their own.
    """

    def find(self, ranking: Ranking, data: FitData | None) -> Cut:
        """Ask the selector, whose scores are known by now."""
        selector = data and data.selector
        count = getattr(selector, "best_n_features_", None)
        if count is None:
            raise InputError(
                f"BestCount: expected a selector that finds a number of columns by itself, got "
                f"{type(selector).__name__}. Give a count, a share or another rule."
            )
        if count == 0:
            return Cut(ranking.order[:0], None, {})
        return TopK(count).find(ranking, data)
