"""Threshold: all columns that score at least so much."""

from __future__ import annotations

from dataclasses import dataclass

from tamis._ranking import Ranking
from tamis._validation import Number, check_value
from tamis.cutoff.fit_data import FitData
from tamis.cutoff.rule import Cut, CutRule


@dataclass(frozen=True, eq=False)
class Threshold(CutRule):
    """Keep every column whose score is at least `t`; constant columns never qualify.

    Parameters
    ----------
    t : float
        Smallest score that is good enough.
    keep : sequence of int or str, or None
        Columns that are always selected.
    groups : sequence of sequences, mapping, or sequence of labels, or None
        Columns that stand or fall together.

    Examples
    --------
    >>> import tamis
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> tamis.DFT().fit(X, y).recut(tamis.cutoff.Threshold(0.5)).get_support()
    array([False, False,  True,  True])
    """

    t: float

    def __post_init__(self) -> None:
        check_value(self.t, Number(float), who=self.who, name="t")

    def find(self, ranking: Ranking, data: FitData | None) -> Cut:
        """Take the prefix of the order that reaches the threshold."""
        return Cut(ranking.useful[ranking.curve >= self.t], None, {"threshold": float(self.t)})
