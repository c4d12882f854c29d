"""What a row block leaves behind, and how two of them merge.

Each statistic has ``update(block)``, ``merge(other)`` and ``finish()``. Blocks may come from
memory, from files or from the workers of a cluster; the numbers agree to rounding.
"""

from tamis.statistics.block import Block, Ranges
from tamis.statistics.class_moments import ClassMoments, WithRanges
from tamis.statistics.co_moments import CoMoments
from tamis.statistics.histogram import Bins, ClassHistogram
from tamis.statistics.moments import Moments
from tamis.statistics.pairs import CrossProducts, Cuts, FewValues, PairCounts
from tamis.statistics.state import Stateful
from tamis.statistics.target_sums import TargetSums
from tamis.statistics.token_counts import TokenCounts
from tamis.statistics.value_counts import ValueCounts

__all__ = [
    "Bins",
    "Block",
    "ClassHistogram",
    "ClassMoments",
    "CoMoments",
    "CrossProducts",
    "Cuts",
    "FewValues",
    "Moments",
    "PairCounts",
    "Ranges",
    "Stateful",
    "TargetSums",
    "TokenCounts",
    "ValueCounts",
    "WithRanges",
]
