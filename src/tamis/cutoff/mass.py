"""Mass: the smallest prefix that holds a share of the total score."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tamis._ranking import Ranking
from tamis._validation import Number, check_value
from tamis.cutoff.fit_data import FitData
from tamis.cutoff.rule import Cut, CutRule
from tamis.exceptions import InputError


@dataclass(frozen=True, eq=False)
class Mass(CutRule):
    """Keep the smallest prefix of the order that holds a share `m` of the total score.

    Parameters
    ----------
    m : float
        Share of the total score, in (0, 1].
    keep : sequence of int or str, or None
        Columns that are always selected.
    groups : sequence of sequences, mapping, or sequence of labels, or None
        Columns that stand or fall together.

    Examples
    --------
    >>> import tamis
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> tamis.DFT().fit(X, y).recut(tamis.cutoff.Mass(0.6)).n_selected_
    2
    """

    m: float

    def __post_init__(self) -> None:
        check_value(self.m, Number(float, low=0, high=1, open_low=True), who=self.who, name="m")

    def find(self, ranking: Ranking, data: FitData | None) -> Cut:
        """Walk down the order until enough is gathered."""
        curve = ranking.curve
        if (curve < 0).any():
            raise InputError(
                f"{self.who}: expected scores that are not negative, because shares of a total "
                f"need that, got {curve.min()!r}. Use TopK, Threshold or Elbow instead."
            )
        total = np.cumsum(curve)
        if not curve.size or total[-1] == 0:
            return Cut(ranking.useful[:0], None, {"mass": 0.0})
        # The last sum may miss the total by rounding when m is 1 or falls on a boundary.
        count = int(np.searchsorted(total, self.m * total[-1] * (1 - 1e-12))) + 1
        return Cut(ranking.useful[:count], None, {"mass": float(total[count - 1] / total[-1])})
