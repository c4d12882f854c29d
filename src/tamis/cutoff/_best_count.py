"""BestCount: the number of columns that the method itself found best."""

from __future__ import annotations

from dataclasses import dataclass

from tamis._ranking import Ranking
from tamis.cutoff._rule import Cut, CutRule, FitData
from tamis.cutoff.top_k import TopK


@dataclass(frozen=True, eq=False)
class BestCount(CutRule):
    """Keep as many columns as `best_n_features_` of the selector says.

    Written ``n_features_to_select="best"``, for selectors that find out a number of their own.
    """

    def find(self, ranking: Ranking, data: FitData | None) -> Cut:
        """Ask the selector, whose scores are known by now."""
        count = getattr(data and data.selector, "best_n_features_", ranking.n_columns)
        if count == 0:
            return Cut(ranking.order[:0], None, {})
        return TopK(count).find(ranking, data)
