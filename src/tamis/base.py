"""What a selector of your own is made of: base classes, constraints of parameters, facts.

See docs/adding-a-selector.md.
"""

from tamis._base import BaseSelector, BlockSelector, WeightedSelector
from tamis._facts import BOTH_TASKS, SelectorFacts
from tamis._validation import N_JOBS, Choice, Custom, Number

__all__ = [
    "BOTH_TASKS",
    "N_JOBS",
    "BaseSelector",
    "BlockSelector",
    "Choice",
    "Custom",
    "Number",
    "SelectorFacts",
    "WeightedSelector",
]
