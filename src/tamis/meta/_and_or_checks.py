"""What AndOrFeatures takes: parameters, limits, images and features."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._validation import N_JOBS, Constraint, Custom, Number
from tamis.exceptions import InputError
from tamis.meta._and_or_set import MOST_INPUTS, AndOrSet

# The four meta-features of the paper, and the place of a feature in the image.
FOUR = ("num_inputs", "percent_pos", "shift", "scatter")
NAMES = (*FOUR, "row", "column")


def _two_numbers(kind: type[int] | type[float], low: float) -> Any:
    number = Number(kind, low=low)

    def test(value: Any) -> bool:
        pair = isinstance(value, tuple | list) and len(value) == 2
        return pair and all(number.allows(v) and math.isfinite(v) for v in value)

    return test


CONSTRAINTS: dict[str, Constraint] = {
    "image_shape": Custom(_two_numbers(int, 1), "(height, width) in ints of at least 1"),
    "threshold": Custom(
        lambda value: Number(float).allows(value) and math.isfinite(value), "a finite number"
    ),
    "max_inputs": Number(int, low=1, high=MOST_INPUTS),
    "max_shift": Number(int, low=1, high=64),
    "min_share": Number(float, low=0, high=0.5),
    "scatter": Custom(
        lambda value: _two_numbers(float, 0.0)(value) and value[0] <= value[1],
        "two numbers (low, high) of at least 0, low <= high",
    ),
    "meta_features": Custom(
        lambda value: (
            isinstance(value, tuple | list)
            and len(set(value)) == len(value) > 0
            and set(value) <= set(NAMES)
        ),
        f"one or several of {', '.join(map(repr, NAMES))}",
    ),
    "fixed": Custom(
        lambda value: value is None or (isinstance(value, Mapping) and set(value) <= set(NAMES)),
        f"a dict with values of some of {', '.join(map(repr, NAMES))}, or None",
    ),
    "window": Number(int, low=1),
    "n_jobs": N_JOBS,
}


def check_limits(n_features: Any, budget: Any, cheapest: float, who: str) -> None:
    """Raise unless exactly one limit is given and it allows for a feature."""
    if (n_features is None) == (budget is None):
        raise InputError(
            f"{who}: expected n_features or budget, got n_features={n_features!r} and budget="
            f"{budget!r}. Give exactly one of them."
        )
    if budget is None:
        if not Number(int, low=1).allows(n_features):
            raise InputError(f"{who}: n_features must be an int of at least 1, got {n_features!r}.")
    elif not (Number(float).allows(budget) and cheapest <= budget < math.inf):
        raise InputError(
            f"{who}: budget must be a finite number of at least {cheapest:g}, the cost of the "
            f"cheapest feature here, got {budget!r}."
        )


def check_kind(features: Any, who: str) -> AndOrSet:
    """The features, or an error if they are of another kind."""
    if not isinstance(features, AndOrSet):
        raise InputError(
            f"{who}: expected features made by draw, draw_any or features, got {features!r}."
        )
    return features


def check_features(
    features: Any, image_shape: tuple[int, int], max_shift: int, who: str
) -> AndOrSet:
    """The features, or an error if they do not fit the images."""
    features, (height, width) = check_kind(features, who), image_shape
    bottom, right = features.rows.max(initial=0), features.columns.max(initial=0)
    if bottom >= height or right >= width:
        raise InputError(
            f"{who}: expected inputs inside of images of {height} x {width} pixels, got row "
            f"{bottom} and column {right}. Set image_shape to that of the features."
        )
    if features.shift.max(initial=1) > max_shift:
        raise InputError(
            f"{who}: expected features with shifts up to max_shift={max_shift}, got "
            f"{features.shift.max()}. Raise max_shift."
        )
    return features


def binary_images(
    images: Any, image_shape: tuple[int, int], threshold: float, who: str
) -> NDArray[np.uint8]:
    """Images as rows of 0 and 1: which pixels are above the threshold."""
    array, (height, width) = np.asarray(images), image_shape
    if array.dtype.kind not in "buif":
        raise InputError(f"{who}: expected images of numbers, got dtype {array.dtype}.")
    if array.shape[1:] not in ((height * width,), (height, width)):
        raise InputError(
            f"{who}: expected images of shape (n_images, {height * width}) or (n_images, "
            f"{height}, {width}), got {array.shape}. Set image_shape to that of the images."
        )
    array = array.reshape(len(array), height * width)
    if array.dtype.kind != "b":
        # Whole numbers are compared with a whole number, which needs no conversion of them.
        array = array > (math.floor(threshold) if array.dtype.kind in "iu" else threshold)
    return np.ascontiguousarray(array).view(np.uint8)
