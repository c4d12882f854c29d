"""How much the choice of columns changes when the rows change.

::

    rankings (ranks, 1 is best)          jensen_shannon, spearman, kendall
    sets     (indices or a mask)         kuncheva, nogueira, jaccard, jensen_shannon_sets,
                                         similarity_adjusted, selection_frequency, stable_set
    orders   (indices, best first)       rankings_from_orders, from_orders turn them into these

Every measure is 1 for identical lists. What it is for random ones, its docstring says.
"""

from tamis.evaluation.stability.lists import from_orders, rankings_from_orders
from tamis.evaluation.stability.rankings import jensen_shannon, kendall, spearman
from tamis.evaluation.stability.sets import (
    SelectionFrequency,
    StabilityInterval,
    jaccard,
    jensen_shannon_sets,
    kuncheva,
    nogueira,
    selection_frequency,
    stable_set,
)
from tamis.evaluation.stability.similarity import similarity_adjusted

__all__ = [
    "SelectionFrequency",
    "StabilityInterval",
    "from_orders",
    "jaccard",
    "jensen_shannon",
    "jensen_shannon_sets",
    "kendall",
    "kuncheva",
    "nogueira",
    "rankings_from_orders",
    "selection_frequency",
    "similarity_adjusted",
    "spearman",
    "stable_set",
]
