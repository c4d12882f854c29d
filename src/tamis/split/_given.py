"""What a user gives of the data beforehand: ranges of the columns, weights of the classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.exceptions import InputError
from tamis.statistics.block import Floats, RangesResult


def given_ranges(ranges: Any, n_columns: int, who: str) -> RangesResult:
    """Ends of every column as the user gave them, checked."""
    try:
        low, high = (np.broadcast_to(np.asarray(end, np.float64), n_columns) for end in ranges)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{who}: ranges must be a pair (low, high) of numbers or of arrays with one value per "
            f"column ({n_columns}), got {ranges!r}."
        ) from error
    with np.errstate(over="ignore", invalid="ignore"):
        bad = np.flatnonzero(~(np.isfinite(high - low) & (low <= high)))
    if bad.size:
        raise InputError(
            f"{who}: ranges must be finite with low <= high, got ({low[bad[0]]}, {high[bad[0]]}) "
            f"for column {int(bad[0])}."
        )
    return RangesResult(low, high)


def class_factors(class_weight: Any, classes: NDArray[Any], per_class: Floats) -> Floats:
    """Factor of every class, from ``"balanced"`` or a dict; `per_class` are the sizes so far."""
    if not isinstance(class_weight, Mapping):
        mean = per_class.sum() / per_class.size
        return np.divide(mean, per_class, out=np.zeros_like(per_class), where=per_class > 0)
    labels = classes.tolist()
    unknown = [label for label in class_weight if label not in labels]
    factors = np.array([float(class_weight.get(label, 1.0)) for label in labels])
    if unknown or not (np.isfinite(factors) & (factors >= 0)).all() or not factors.any():
        raise InputError(
            f"DFT: class_weight must map labels of the target ({labels!r}) to weights that are "
            f"not negative, got {class_weight!r}."
        )
    return factors
