"""P-values by the law of the scores, and their q-values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._ranking import Ranking
from tamis.certainty.rule import CertaintyRule
from tamis.cutoff.fit_data import FitData

Floats = NDArray[np.float64]


def law_p_values(rule: CertaintyRule, data: FitData) -> Floats | None:
    """P-values by the law of the scores; None if there is none or rows are not all alike."""
    if rule.strata is not None:
        return None
    if rule.groups is not None and rule.labels_rows(data.selector.scores_.size):
        return None
    p_values: Floats | None = data.selector._law_p_values()
    if p_values is not None and data.selector._law_is_rough():
        if data.X is not None and data.y is not None:
            return None
        from tamis._runtime.warning import warn

        warn(
            f"{rule.who}: p-values by the law of {type(data.selector).__name__} are rough, "
            "because many cells expect fewer than 5 rows. Use fewer bins, or a table in memory "
            "for permutations."
        )
    return p_values


def with_q_values(
    ranking: Ranking, p_values: Floats, tries: int = 0, method: str = "bh"
) -> dict[str, Any]:
    """P-values by so many permutations, 0 for a law, and the q-values of the features that vary."""
    from scipy.stats import false_discovery_control

    tested = ~ranking.constant
    p_values = np.where(tested, p_values, 1.0)
    q_values = np.ones(p_values.size)
    q_values[tested] = false_discovery_control(p_values[tested], method=method)
    return {
        "p_values": p_values,
        "q_values": q_values,
        "n_permutations": tries,
        "source": "permutations" if tries else "law",
    }
