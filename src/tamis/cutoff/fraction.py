"""Fraction: a share of all columns."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tamis._ranking import Ranking
from tamis._validation import Number, check_value
from tamis.cutoff.fit_data import FitData
from tamis.cutoff.rule import Cut, CutRule, TopK


@dataclass(frozen=True, eq=False)
class Fraction(CutRule):
    """Keep the best share `f` of the columns, rounded down, but at least one.

    Parameters
    ----------
    f : float
        Share of all columns, in (0, 1].
    keep, groups : optional
        As in :class:`CutRule`; columns in `keep` count.

    Examples
    --------
    >>> import tamis
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> tamis.DFT().fit(X, y).recut(tamis.cutoff.Fraction(0.5)).n_selected_
    2
    """

    f: float

    def __post_init__(self) -> None:
        check_value(self.f, Number(float, low=0, high=1, open_low=True), who=self.who, name="f")

    def find(self, ranking: Ranking, data: FitData | None) -> Cut:
        """Turn the share into a count."""
        return TopK(self.count(ranking.n_columns)).find(ranking, data)

    def count(self, n_columns: int) -> int:
        """Number of columns that the share means, at least one."""
        # 0.29 * 100 is 28.999999999999996, and 29 is meant.
        return max(1, math.floor(self.f * n_columns + 1e-9))
