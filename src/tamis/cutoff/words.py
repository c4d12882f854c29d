"""Rules that are written as a word or as a share."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamis.cutoff.elbow import Elbow
from tamis.cutoff.fraction import Fraction
from tamis.cutoff.rule import CutRule
from tamis.exceptions import InputError


def rule_of(value: Any, who: str, name: str) -> CutRule:
    """The rule that a word or a share means; an error for anything else."""
    if isinstance(value, str) and value == "elbow":
        return Elbow()
    if isinstance(value, str) and value == "all":
        return Fraction(1.0)
    if isinstance(value, float | np.floating) and 0 < value <= 1:
        return Fraction(float(value))
    raise InputError(
        f"{who}: {name} must be an int of at least 1, a float in (0, 1], 'auto', 'elbow', 'all', "
        f"or a rule from tamis.cutoff such as TopK(20), got {value!r}."
    )
