"""A target as it was given: nothing missing, values of one type, class labels and their codes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning

from tamis._runtime.warning import warn
from tamis.data.checks import encode_labels
from tamis.data.objects import settled, unmasked
from tamis.exceptions import InputError

Floats = NDArray[np.float64]


def check_target(y: Any, n_rows: int, who: str) -> NDArray[Any]:
    """One-dimensional target of the right length, with nothing missing."""
    if y is None:
        raise InputError(
            f"{who}: requires y to be passed, but the target y is None. Pass the target as the "
            "second argument of fit."
        )
    y = unmasked(y) if isinstance(y, np.ma.MaskedArray) else np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape "
            "of y to (n_samples,), for example using ravel().",
            DataConversionWarning,
        )
        y = y[:, 0]
    if y.ndim != 1:
        raise InputError(f"{who}: expected a 1d target, got shape {y.shape}. Pass one column.")
    if y.shape[0] != n_rows:
        raise InputError(
            f"{who}: expected a target with {n_rows} values, one per row of X, got {y.shape[0]}; "
            "X and y have inconsistent numbers of samples. Check that they come from one table."
        )
    missing = np.flatnonzero(find_missing(y))
    if missing.size:
        raise InputError(
            f"{who}: expected a target without missing values, got NaN or None in {missing.size} "
            f"of {n_rows} rows, the first in row {missing[0]}. Drop these rows of X and y."
        )
    is_plain = y.dtype.kind != "O" or (y.size and isinstance(y[0], str))
    return y if is_plain else settled(y)


def find_missing(y: NDArray[Any]) -> NDArray[np.bool_]:
    """Rows with NaN, NaT, None or pandas.NA."""
    if y.dtype.kind in "fcmM":
        return np.isnan(y)
    if y.dtype.kind == "O":
        return np.fromiter((is_missing(value) for value in y), bool, y.size)
    return np.zeros(y.shape, dtype=bool)


def is_missing(value: Any) -> bool:
    """Whether this is None, NaN, NaT or pandas.NA."""
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):  # pandas.NA refuses to be compared; arrays are no cells
        return type(value).__name__ == "NAType"


def check_classes(y: Any, n_rows: int, who: str) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Class labels, sorted, and the code of every row."""
    y = check_target(y, n_rows, who)
    infinite = np.flatnonzero(np.isinf(y)) if y.dtype.kind == "f" else np.empty(0)
    if infinite.size:
        raise InputError(
            f"{who}: expected a target of classes, got inf in row {infinite[0]}. Drop these rows "
            "of X and y."
        )
    if y.dtype.kind == "f" and not (y == np.floor(y)).all():
        example = y[y != np.floor(y)][0].item()
        raise InputError(
            f"{who}: expected a target of classes, got continuous numbers such as {example!r} "
            "(Unknown label type: continuous). Use tamis.RFT for a numeric target, or turn the "
            "target into classes."
        )
    if y.dtype.kind not in "iufbOUST":
        raise InputError(f"{who}: expected a target of classes, got dtype {y.dtype}.")
    try:
        return encode_labels(y)
    except TypeError as error:
        kinds = sorted({type(value).__name__ for value in y})
        raise InputError(
            f"{who}: expected labels of one type, got {' and '.join(kinds)}. Convert them with "
            "y.astype(str)."
        ) from error


def check_weighted_classes(
    y: Any, weight: Floats | None, n_rows: int, who: str
) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Classes that carry weight, and the code of every row; rows without weight get any."""
    classes, codes = check_classes(y, n_rows, who)
    if weight is None:
        return classes, codes
    present = np.bincount(codes, weight, minlength=classes.size) > 0
    codes = (np.cumsum(present) - 1).astype(np.int32)[codes]
    return classes[present], np.maximum(codes, 0)


def check_two_classes(classes: NDArray[Any], who: str) -> None:
    """Raise unless there are at least two classes to tell apart."""
    if classes.size < 2:
        raise InputError(
            f"{who}: expected a target with at least two classes, got one class "
            f"({classes.tolist()[0] if classes.size else None!r}). Check the target column, or use "
            "an unsupervised selector."
        )
