"""How many columns: rules that cut a ranking, also after it was made.

Every rule takes ``keep=`` (columns always kept) and ``groups=`` (columns that stand or fall
together), by name or index.
"""

from tamis.cutoff.budget import Budget
from tamis.cutoff.cross_validated import CrossValidated
from tamis.cutoff.elbow import Elbow, find_elbows
from tamis.cutoff.fraction import Fraction
from tamis.cutoff.mass import Mass
from tamis.cutoff.permutation_null import PermutationNull
from tamis.cutoff.rule import CutRule, as_rule
from tamis.cutoff.threshold import Threshold
from tamis.cutoff.top_k import TopK

__all__ = [
    "Budget",
    "CrossValidated",
    "CutRule",
    "Elbow",
    "Fraction",
    "Mass",
    "PermutationNull",
    "Threshold",
    "TopK",
    "as_rule",
    "find_elbows",
]
