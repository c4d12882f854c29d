"""Reading images: lines of pixels or arrays of rows and columns."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tamis.data.checks import is_frame
from tamis.exceptions import InputError


def as_lines(X: Any) -> tuple[Any, tuple[int, ...] | None]:
    """Images as lines of pixels, and their rows and columns if `X` tells them."""
    if is_frame(X) or hasattr(X, "tocsr"):
        return X, None
    X = np.asarray(X)
    if X.ndim > 3:
        raise InputError(
            "PatchPrototypes: expected images of shape (n_images, n_pixels) or (n_images, rows, "
            f"columns), got shape {X.shape}. Turn colours into grey, for example with "
            "X.mean(axis=-1)."
        )
    return (X, None) if X.ndim < 3 else (X.reshape(len(X), -1), X.shape[1:])


def shape_of(n_pixels: int, given: Any, wanted: Any) -> tuple[int, int]:
    """Rows and columns of an image: as they came, as they are wanted, or square."""
    side = math.isqrt(n_pixels)
    if given is None and wanted is None and side * side != n_pixels:
        raise InputError(
            f"PatchPrototypes: expected square images, got {n_pixels} pixels. Pass "
            "image_shape=(rows, columns), or images of shape (n_images, rows, columns)."
        )
    rows, columns = given or (wanted if wanted is not None else (side, side))
    expected = (rows, columns) if wanted is None else tuple(wanted)
    if (rows, columns) != expected or rows * columns != n_pixels:
        came = f"{n_pixels} pixels" if given is None else f"{rows} x {columns}"
        raise InputError(
            f"PatchPrototypes: expected images of {expected[0]} x {expected[1]} pixels, got {came}."
        )
    return int(rows), int(columns)
