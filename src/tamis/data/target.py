"""Target: class labels or a regression target, checked and encoded.

`tamis.data.task` tells which of the two it is; `tamis.data.target_blocks` reads one block by block,
and `tamis.data.checks` knows the plain case: class labels in an array.
"""

from __future__ import annotations

import numbers
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning

from tamis._runtime.warning import warn
from tamis.data.checks import encode_labels
from tamis.data.task import TASKS, infer_task, is_categorical, settled
from tamis.exceptions import InputError

Floats = NDArray[np.float64]


def check_target(y: Any, n_rows: int, who: str) -> NDArray[Any]:
    """One-dimensional target of the right length, with nothing missing."""
    if y is None:
        raise InputError(
            f"{who}: requires y to be passed, but the target y is None. Pass the target as the "
            "second argument of fit."
        )
    y = np.asarray(y)
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
    return settled(y) if y.dtype.kind == "O" else y


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


def check_numbers(y: Any, n_rows: int, who: str) -> Floats:
    """Regression target as float64, finite and small enough to be squared; dates as days."""
    y = check_target(y, n_rows, who)
    if y.dtype.kind not in "iufbOmM":
        raise InputError(
            f"{who}: expected a numeric target, got dtype {y.dtype}. Use tamis.DFT for classes."
        )
    try:
        values = as_numbers(y)
    except (TypeError, ValueError) as error:
        example = next(value for value in y if not isinstance(value, numbers.Real))
        raise InputError(
            f"{who}: expected a numeric target, got {example!r} among its values. Use tamis.DFT "
            "for classes."
        ) from error
    if not np.isfinite(values).all() or np.abs(values).max(initial=0.0) > 1e150:
        raise InputError(
            f"{who}: expected finite target values below 1e150, got "
            f"{float(np.abs(values).max())!r}, which is inf or has no finite square. Rescale the "
            "target, or drop these rows."
        )
    return values


def as_numbers(y: NDArray[Any]) -> Floats:
    """Numbers as float64; dates as days since 1970-01-01, durations as seconds."""
    if y.dtype.kind == "M":
        return (y - np.datetime64(0, "D")) / np.timedelta64(1, "D")
    if y.dtype.kind == "m":
        return y / np.timedelta64(1, "s")
    return y.astype(np.float64)


class Target(NamedTuple):
    """A checked target: either `classes` and `codes`, or `values`."""

    classes: NDArray[Any] | None
    codes: NDArray[np.int32] | None
    values: Floats | None

    @classmethod
    def of(cls, y: Any, task: str, weight: Floats | None, n_rows: int, who: str) -> Target:
        """Read the target of a table with `n_rows` rows; two different values must carry weight.

        `task` "auto" is resolved by `infer_task`; `who` names the selector in messages.
        """
        given, y = y, check_target(y, n_rows, who)
        seen = y if weight is None else y[weight > 0]
        if task == "auto":
            values, counts = seen, None
            if seen.dtype.kind in "iu":
                values, codes = encode_labels(seen)
                counts = np.bincount(codes)
            task = infer_task(values, counts, is_label=is_categorical(given), who=who)
        if task == "classification":
            if weight is not None and seen.size:  # rows without weight are in any class
                y = np.where(weight > 0, y, seen[:1])
            classes, codes = check_weighted_classes(y, weight, n_rows, who)
            check_two_classes(classes, who)
            return cls(classes, codes, None)
        values = check_numbers(y, n_rows, who)
        seen = values if weight is None else values[weight > 0]
        if seen.min() == seen.max():
            raise InputError(
                f"{who}: expected a target that varies, got {float(seen[0])!r} in every row "
                f"(n_samples={n_rows}). Check the target column, or use an unsupervised selector."
            )
        return cls(None, None, values)

    @property
    def task(self) -> str:
        """Return "classification" or "regression"."""
        return TASKS[self.classes is None]

    @property
    def is_classes(self) -> bool:
        """Whether the target is class labels."""
        return self.classes is not None

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 for a regression target."""
        return 0 if self.classes is None else int(self.classes.size)
