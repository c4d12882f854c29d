"""How sure: rules that test every feature, state a level, and say what they assume.

They go wherever a cutoff goes: ``n_features_to_select=``, ``recut``, the command line.
"""

from tamis.certainty.beyond_chance import BeyondChance
from tamis.certainty.chance import chance_of_best
from tamis.certainty.e_values import e_bh, knockoff_threshold
from tamis.certainty.false_discoveries import FalseDiscoveries
from tamis.certainty.family_wise import FamilyWise
from tamis.certainty.gaussian_knockoffs import GaussianKnockoffs
from tamis.certainty.knockoffs import Knockoffs
from tamis.certainty.low_rank_knockoffs import LowRankKnockoffs
from tamis.certainty.rule import CertaintyRule
from tamis.certainty.shadows import Shadows
from tamis.certainty.stability_selection import StabilitySelection
from tamis.certainty.stability_selector import StabilitySelector

__all__ = [
    "BeyondChance",
    "CertaintyRule",
    "FalseDiscoveries",
    "FamilyWise",
    "GaussianKnockoffs",
    "Knockoffs",
    "LowRankKnockoffs",
    "Shadows",
    "StabilitySelection",
    "StabilitySelector",
    "chance_of_best",
    "e_bh",
    "knockoff_threshold",
]
