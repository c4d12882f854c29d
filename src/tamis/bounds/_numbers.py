"""Arguments of bounds: numbers and arrays that broadcast, checked."""

from __future__ import annotations

import math
import sys
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tamis.exceptions import InputError

Floats: TypeAlias = NDArray[np.float64]
Numbers: TypeAlias = float | Floats


def as_numbers(
    name: str,
    value: Any,
    *,
    low: float,
    high: float = math.inf,
    open_low: bool = False,
    open_high: bool = False,
    or_infinite: bool = False,
    remedy: str = "",
) -> Floats:
    """Give the argument as float64, if all of it lies in the interval."""
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "iufO":
            raise TypeError("bools, texts, dates and complex numbers are no numbers here")
        numbers = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            f"tamis.bounds: {name} must be a number or an array of numbers, got {value!r}."
        ) from None
    inside = (numbers > low) if open_low else (numbers >= low)
    inside &= (numbers < high) if open_high else (numbers <= high)
    inside &= or_infinite | np.isfinite(numbers)
    if not inside.all():
        expected = f"above {low:g}" if open_low else f"at least {low:g}"
        if math.isfinite(high):
            expected += f" and {'below' if open_high else 'at most'} {high:g}"
        if not or_infinite:
            expected = f"finite and {expected}"
        wrong = float(numbers[~inside][0])
        raise InputError(f"tamis.bounds: {name} must be {expected}, got {wrong!r}.{remedy}")
    return numbers


def as_meta_values(value: Any) -> Floats:
    """Number of meta-feature values; None, and numbers beyond float64, count as infinite."""
    endless = value is None or (isinstance(value, int) and value > sys.float_info.max)
    return as_numbers("n_meta_values", math.inf if endless else value, low=1, or_infinite=True)


def as_choice(n_candidates: Any, n_selected: Any) -> tuple[Floats, Floats]:
    total = as_numbers("n_candidates", n_candidates, low=1)
    chosen = as_numbers("n_selected", n_selected, low=1)
    check_shapes(total, chosen)
    total, chosen = np.broadcast_arrays(total, chosen)
    wrong = chosen > total
    if wrong.any():
        raise InputError(
            "tamis.bounds: n_selected must be at most n_candidates, got "
            f"{chosen[wrong][0]:g} of {total[wrong][0]:g}."
        )
    return total, chosen


def check_shapes(*arrays: Floats) -> None:
    try:
        np.broadcast_shapes(*(array.shape for array in arrays))
    except ValueError:
        shapes = ", ".join(str(array.shape) for array in arrays)
        raise InputError(
            "tamis.bounds: expected numbers, or arrays whose shapes broadcast together, got the "
            f"shapes {shapes}."
        ) from None


def in_unit(bits: Floats, unit: str) -> Numbers:
    if unit == "count":
        with np.errstate(over="ignore"):
            return plain(np.exp2(bits))
    if unit not in ("bits", "nats"):
        raise InputError(f"tamis.bounds: unit must be 'count' or 'nats' or 'bits', got {unit!r}.")
    return plain(bits if unit == "bits" else bits * math.log(2))


def plain(numbers: Any) -> Numbers:
    """Python float for a scalar."""
    return float(numbers) if np.ndim(numbers) == 0 else np.asarray(numbers)
