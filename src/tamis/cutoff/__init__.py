"""How many columns: rules that cut a ranking, also after it was made.

Every rule takes ``keep=`` (columns always kept) and ``groups=`` (columns that stand or fall
together), by name or index.
"""

from tamis._lazy import lazy_names
from tamis.cutoff.down_the_order import Budget, Mass, Threshold
from tamis.cutoff.elbow import Elbow, find_elbows
from tamis.cutoff.fraction import Fraction
from tamis.cutoff.refitting import CrossValidated
from tamis.cutoff.rule import CutRule, TopK, as_rule

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

# A rule that states a level lives above this package, with the others of its kind.
__getattr__, _ = lazy_names(__name__, {"PermutationNull": "tamis.certainty.family_wise"})
