"""The checks that the generators share."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from tamis.exceptions import InputError


def check_integer(who: str, name: str, value: object, minimum: int) -> int:
    """Return the value as an int, or raise if it is not an integer of at least `minimum`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < minimum:
        raise InputError(
            f"{who}: {name} must be an integer of at least {minimum}, got {value!r}. "
            f"Pass {minimum} or more."
        )
    return int(value)


def check_share(who: str, name: str, value: object) -> float:
    """Return the value as a float, or raise if it is not a number in [0, 1]."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) <= 1:
        raise InputError(
            f"{who}: {name} must be a number in [0, 1], got {value!r}. Pass a share, such as 0.1."
        )
    return float(value)


def to_generator(who: str, random_state: Any) -> np.random.Generator:
    """Turn None, an integer or a Generator into a Generator; the latter is used as it is."""
    valid = random_state is None or isinstance(random_state, np.random.Generator)
    if not valid and (
        isinstance(random_state, bool) or not isinstance(random_state, Integral) or random_state < 0
    ):
        raise InputError(
            f"{who}: random_state must be None, a non-negative integer or a numpy Generator, "
            f"got {random_state!r}. Pass an integer for a result that can be repeated."
        )
    return np.random.default_rng(random_state)
