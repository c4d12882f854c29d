"""Numbers that cannot be computed with: infinite or huge values of a column, bad weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.data.checks import names_of
from tamis.data.objects import unmasked
from tamis.exceptions import InputError

# Squares of larger values overflow where many are added.
LARGEST_SQUARED = 1e150
# Sums and products of larger weights, or of weights below its inverse, leave the range of float64.
LARGEST_WEIGHT = 1e50


def check_finite_columns(selector: Any, infinite: NDArray[np.bool_]) -> None:
    """Raise for columns flagged as holding infinite values."""
    if not infinite.any():
        return
    column = int(np.flatnonzero(infinite)[0])
    others = int(infinite.sum()) - 1
    raise InputError(
        f"{type(selector).__name__}: expected finite values or NaN, got inf in column "
        f"{_shown(selector, column)!r}"
        f"{f' and {others} more' if others else ''}. Replace infinite values by NaN to treat them "
        "as missing, or by the largest value that makes sense."
    )


def check_squares(selector: Any, ranges: Any) -> None:
    """Raise where the square of a column's values would overflow."""
    size = ranges.size
    column = int(size.argmax())
    if size[column] > LARGEST_SQUARED:
        raise InputError(
            f"{type(selector).__name__}: expected values below 1e150, got {size[column]:.3g} in "
            f"column {_shown(selector, column)!r}, whose square overflows. Rescale the column."
        )


def check_weight(weight: Any, n_rows: int, who: str) -> NDArray[np.float64] | None:
    """Sample weights as float64: finite, not negative, not all zero; a number counts for all."""
    if weight is None:
        return None
    try:
        weight = np.asarray(unmasked(weight), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{who}: expected sample_weight to be one number per row, got {weight!r}."
        ) from error
    if weight.ndim == 0:
        weight = np.full(n_rows, weight)
    if weight.shape != (n_rows,):
        raise InputError(
            f"{who}: expected one sample_weight per row of X ({n_rows}), got shape {weight.shape}; "
            "sample_weight.shape must be (n_samples,)."
        )
    if not (np.isfinite(weight).all() and (weight >= 0).all()):
        raise InputError(
            f"{who}: expected sample_weight to be finite and not negative, got "
            f"{float(weight[~(np.isfinite(weight) & (weight >= 0))][0])!r}."
        )
    if not (weight > 0).any():
        raise InputError(f"{who}: expected a positive sample_weight somewhere, got only zeros.")
    check_weight_sizes(weight, who)
    return weight


def check_weight_sizes(weight: NDArray[np.float64], who: str) -> None:
    """Raise for weights whose sums and products leave the range of float64."""
    seen = weight[weight > 0]
    low, high = float(seen.min(initial=1.0)), float(seen.max(initial=1.0))
    if low < 1 / LARGEST_WEIGHT or high > LARGEST_WEIGHT:
        raise InputError(
            f"{who}: expected a sample_weight of 0 or between 1e-50 and 1e50, got "
            f"{low if low < 1 / LARGEST_WEIGHT else high!r}, whose products are not exact in "
            "float64. Rescale the weights, for example by their mean."
        )


def _shown(selector: Any, column: int) -> Any:
    names = names_of(selector)
    return column if names is None else names[column]


def unit_weight(weight: NDArray[np.float64]) -> float:
    """Weight that all rows have, but for those of weight 0; NaN if they differ."""
    seen = weight[weight > 0]
    return float(seen[0]) if seen.size and seen.min() == seen.max() else np.nan
