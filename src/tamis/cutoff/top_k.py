"""TopK: a fixed number of columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tamis._ranking import Ranking
from tamis._runtime.warning import warn
from tamis._validation import Number, check_value
from tamis.cutoff.fit_data import FitData
from tamis.cutoff.rule import Cut, CutRule


@dataclass(frozen=True, eq=False)
class TopK(CutRule):
    """Keep the `k` best columns, exactly: ties are broken by position, never by keeping more.

    Parameters
    ----------
    k : int
        How many columns, those of `keep` included. More than there are keeps all, with a warning.
    keep : sequence of int or str, or None
        Columns that are always selected; they count.
    groups : sequence of sequences, mapping, or sequence of labels, or None
        Columns that stand or fall together; a group that does not fit is passed over.

    Examples
    --------
    >>> import tamis
    >>> X, y = [[0, 5, 1], [1, 5, 1], [2, 7, 2], [3, 7, 1]], [0, 0, 1, 1]
    >>> tamis.DFT(n_features_to_select=tamis.cutoff.TopK(2)).fit(X, y).get_support()
    array([ True,  True, False])
    """

    k: int

    def __post_init__(self) -> None:
        check_value(self.k, Number(int, low=1), who=self.who, name="k")

    def find(self, ranking: Ranking, data: FitData | None) -> Cut:
        """Columns that vary first; constant ones only when nothing else is left."""
        if self.k > ranking.n_columns:
            warn(
                f"{self.who}: asked for {self.k} columns, but there are {ranking.n_columns}; "
                "all are kept.",
            )
        constant = ranking.order[ranking.constant[ranking.order]]
        return Cut(np.concatenate([ranking.useful, constant]), self.k, {})
