"""The target: class labels or a regression target, read and inferred in one way everywhere.

`infer_task` holds the rule and `Target` a target in memory; `tamis.data.target_blocks` reads one
block by block.
"""

from __future__ import annotations

import datetime
import decimal
import numbers
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning

from tamis._runtime.warning import warn
from tamis._validation import Choice
from tamis.exceptions import InputError

Floats = NDArray[np.float64]

TASKS = ("classification", "regression")
TASK = Choice(("auto", *TASKS))

# Whole numbers are class labels if at most so many differ, each with so many rows on average ...
MAX_PLAIN_CLASSES = 20
ROWS_PER_CLASS = 2
# ... or if they run 0, 1, 2, ... or 1, 2, 3, ... without a gap up to so many, and the rarest has at
# least this share of the rows of the most frequent one.
MAX_NUMBERED_CLASSES = 100
MIN_BALANCE = 0.1
# More different ones than these could be labels or counts: the decision comes with a warning.
MAX_OBVIOUS_CLASSES = 10


def infer_task(
    y: Any, counts: NDArray[Any] | None = None, *, is_label: bool = False, who: str | None = None
) -> str:
    """Whether a target is class labels or a regression target.

    Strings, booleans and categories are class labels; dates, durations and numbers with a
    fractional part are a regression target. Whole numbers are class labels if

    - two different ones occur, or
    - at most 20 different ones, with two rows each on average, or
    - at most 100 that run from 0 or 1 without a gap, the rarest with at least a tenth of the rows
      of the most frequent one (forty people numbered 0 to 39, rather than ages),

    and a regression target otherwise.

    Parameters
    ----------
    y : array-like of shape (n_values,)
        The target without missing values.
    counts : ndarray of shape (n_values,) or None, default=None
        Number of rows of each value, if the values of `y` are all different; None counts them.
    is_label : bool, default=False
        Whether the values are known to be categories, whatever their type.
    who : str or None, default=None
        Warn in this name if the decision is not obvious: 11 to 100 different whole numbers with
        two rows each on average that are not numbered like classes.

    Returns
    -------
    str
        "classification" or "regression".

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes, load_digits
    >>> from tamis.data import infer_task
    >>> infer_task(load_digits().target), infer_task(load_diabetes().target)
    ('classification', 'regression')
    """
    is_label = is_label or is_categorical(y)
    y = settled(np.asarray(y))
    if is_label or y.dtype.kind not in "iufmM":
        return "classification"
    if y.dtype.kind in "mM" or not are_whole(y):
        return "regression"
    if counts is None:
        y, codes = encode_labels(y)
        counts = np.bincount(codes)
    numbered = y.size and y[0] in (0, 1) and y[-1] - y[0] + 1 == y.size
    if y.size <= 2 or (numbered and _repeat(y, counts, MAX_NUMBERED_CLASSES, MIN_BALANCE)):
        return "classification"
    task = "classification" if _repeat(y, counts, MAX_PLAIN_CLASSES) else "regression"
    unclear = y.size > MAX_OBVIOUS_CLASSES and _repeat(y, counts, MAX_NUMBERED_CLASSES)
    if who is not None and unclear:
        other = TASKS[task == "classification"]
        warn(
            f"{who}: inferred {task} from {y.size} different whole numbers in {counts.sum():,.0f} "
            f"rows of the target. Pass task={task!r} to confirm this, or task={other!r}."
        )
    return task


def infer_task_of_first_block(y: NDArray[Any], who: str) -> str:
    """Infer the task from the first rows of many, in which a class may occur only once."""
    values, _ = encode_labels(settled(y))
    return infer_task(values, np.full(values.size, ROWS_PER_CLASS), who=who)


def _repeat(values: Any, counts: Any, most: int, balance: float = 0.0) -> bool:
    """Whether at most so many values occur, often enough and evenly enough for classes."""
    often = values.size <= most and values.size * ROWS_PER_CLASS <= counts.sum()
    return bool(often and counts.min() >= balance * counts.max())


def are_whole(values: NDArray[Any]) -> bool:
    """Whether all numbers are finite and without a fractional part."""
    if values.dtype.kind != "f":
        return values.dtype.kind in "biu"
    # A look at the first rows answers for most regression targets.
    parts = (values[:1000], values[1000:])
    return all(((part == np.rint(part)) & (np.abs(part) < 2**53)).all() for part in parts)


def is_categorical(y: Any) -> bool:
    """Whether the type says categories: pandas, polars (Categorical, Enum) or Arrow dictionary."""
    kind = getattr(y, "dtype", None)
    kind = getattr(y, "type", None) if kind is None else getattr(kind, "pyarrow_dtype", kind)
    names = ("CategoricalDtype", "Categorical", "Enum", "DictionaryType")
    return type(kind).__name__ in names


def settled(y: NDArray[Any]) -> NDArray[Any]:
    """Objects that are all booleans, numbers or dates as an array of these."""
    if y.dtype.kind != "O" or y.ndim != 1:
        return y
    kinds = {type(value) for value in y}

    def all_are(*types: type) -> bool:
        return bool(kinds) and all(issubclass(kind, types) for kind in kinds)

    if all_are(bool, np.bool_):
        return y.astype(bool)
    if all_are(datetime.datetime):
        return np.array([_in_utc(value) for value in y], "M8[us]")
    if all_are(datetime.date):
        return y.astype("M8[D]")
    if all_are(datetime.timedelta):
        return y.astype("m8[us]")
    try:
        if all_are(numbers.Integral):
            return y.astype(np.int64)
        if all_are(numbers.Real, decimal.Decimal):
            return y.astype(np.float64)
    except OverflowError:
        pass
    return y


def _in_utc(value: datetime.datetime) -> datetime.datetime:
    """The same moment without a time zone."""
    return value if value.tzinfo is None else value.astimezone(datetime.UTC).replace(tzinfo=None)


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
    return settled(y)


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


def encode_labels(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """As ``numpy.unique(y, return_inverse=True)``; small integers without sorting the rows."""
    if y.dtype.kind in "iu" and y.dtype != np.uint64 and y.size:  # int64 holds all but these
        low, high = int(y.min()), int(y.max())
        if high - low < 2 * y.size + 1000:
            shifted = (y.astype(np.int64) - low) if low else y
            present = np.bincount(shifted) > 0
            codes = (np.cumsum(present, dtype=np.int32) - 1).astype(np.int32)
            return (np.flatnonzero(present) + low).astype(y.dtype), codes[shifted]
    classes, inverse = np.unique(y, return_inverse=True)
    return classes, inverse.astype(np.int32)


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
        is_label = is_categorical(y)
        y = check_target(y, n_rows, who)
        seen = y if weight is None else y[weight > 0]
        if task == "auto":
            task = infer_task(seen, is_label=is_label, who=who)
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
