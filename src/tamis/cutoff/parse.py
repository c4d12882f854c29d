"""From what a user writes to a rule."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamis.cutoff.elbow import Elbow
from tamis.cutoff.fraction import Fraction
from tamis.cutoff.rule import CutRule
from tamis.cutoff.top_k import TopK
from tamis.exceptions import InputError

EXPECTED = (
    "an int of at least 1, a float in (0, 1], 'elbow', 'all', or a rule from tamis.cutoff such "
    "as TopK(20)"
)


def as_rule(value: Any, *, who: str = "as_rule", name: str = "n_features_to_select") -> CutRule:
    """Turn the value of `n_features_to_select` into a rule.

    Parameters
    ----------
    value : int, float, "elbow", "all" or CutRule
        A count, a share, a word or a rule; a rule is returned as it is.
    who, name : str
        Who asks, and for which parameter; used in the error message.

    Returns
    -------
    rule : CutRule
        The rule meant.

    Examples
    --------
    >>> from tamis.cutoff import as_rule
    >>> as_rule(0.1)
    Fraction(keep=None, groups=None, f=0.1)
    """
    if isinstance(value, CutRule):
        return value
    if isinstance(value, str):
        if value == "elbow":
            return Elbow()
        if value == "all":
            return Fraction(1.0)
    elif isinstance(value, bool | np.bool_):
        pass
    elif isinstance(value, int | np.integer) and value >= 1:
        return TopK(int(value))
    elif isinstance(value, float | np.floating) and 0 < value <= 1:
        return Fraction(float(value))
    raise InputError(f"{who}: {name} must be {EXPECTED}, got {value!r}.")
