"""The task: one rule tells class labels from a regression target, everywhere."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.warning import warn
from tamis._validation import Choice
from tamis.data.objects import settled

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
        y, counts = np.unique(y, return_counts=True)
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
    values = np.unique(settled(y))
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
