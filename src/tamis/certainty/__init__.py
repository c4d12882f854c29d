"""How sure: rules that test every feature, state a level, and say what they assume.

They go wherever a cutoff goes: ``n_features_to_select=``, :meth:`recut`, the command line.
"""

from tamis.certainty.e_values import e_bh, knockoff_threshold
from tamis.certainty.gaussian_knockoffs import GaussianKnockoffs
from tamis.certainty.knockoffs import Knockoffs
from tamis.certainty.low_rank_knockoffs import LowRankKnockoffs

__all__ = [
    "GaussianKnockoffs",
    "Knockoffs",
    "LowRankKnockoffs",
    "e_bh",
    "knockoff_threshold",
]
