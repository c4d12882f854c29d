"""The checks that the generators share."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamis._validation import Custom, Number, check_value

SEED = Custom(
    lambda value: (
        isinstance(value, np.random.Generator) or Number(int, 0, or_none=True).allows(value)
    ),
    "None, an int of at least 0 or a numpy Generator",
)


def check_integer(who: str, name: str, value: Any, minimum: int, maximum: float = np.inf) -> int:
    """The value as an int, if it is one from `minimum` to `maximum`."""
    check_value(value, Number(int, minimum, maximum), who=who, name=name)
    return int(value)


def check_share(who: str, name: str, value: Any) -> float:
    """The value as a float, if it is in [0, 1]."""
    check_value(value, Number(float, 0, 1), who=who, name=name)
    return float(value)


def to_generator(who: str, random_state: Any) -> np.random.Generator:
    """Turn None, an int or a Generator into a Generator; the latter is used as it is."""
    check_value(random_state, SEED, who=who, name="random_state")
    return np.random.default_rng(random_state)
