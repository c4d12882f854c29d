"""What methods share that give an order of columns rather than scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tamis._base import Scores
from tamis.cutoff import Fraction, TopK
from tamis.cutoff._rule import CutRule


def most_wanted(rule: CutRule, n_columns: int) -> int:
    """The largest number of columns that a rule may take from the top of an order."""
    if type(rule) is TopK:
        return min(rule.k, n_columns)
    if type(rule) is Fraction:
        return rule.count(n_columns)
    return n_columns


def positions_as_scores(order: NDArray[np.intp], constant: NDArray[np.bool_]) -> Scores:
    """Scores that say no more than an order: those that vary count down to 1, constant ones get 0.

    `order` holds the columns that vary, best first.
    """
    scores = np.zeros(constant.size)
    scores[order] = np.arange(order.size, 0, -1)
    return scores, constant
