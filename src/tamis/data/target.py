"""Outcome: a target that may be classes or numbers, for methods that know both."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis._validation import Choice
from tamis.data import checks
from tamis.exceptions import InputError

TASK = Choice(("auto", "classification", "regression"))


class Outcome(NamedTuple):
    """The checked target: either `classes` and `codes`, or `values`."""

    classes: NDArray[Any] | None
    codes: NDArray[np.int32] | None
    values: NDArray[np.float64] | None

    @property
    def is_classes(self) -> bool:
        """Whether the target is classes."""
        return self.classes is not None

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 for a numeric target."""
        return 0 if self.classes is None else int(self.classes.size)


def check_outcome(
    y: Any, task: str, weight: NDArray[np.float64] | None, n_rows: int, who: str
) -> Outcome:
    """Read a target as classes or numbers; two different ones must carry weight.

    Parameters
    ----------
    y : array-like
        As the user gave it.
    task : {"auto", "classification", "regression"}
        ``"auto"`` takes numbers with a fractional part as numeric, everything else as classes.
    weight : ndarray or None
        Checked weights of the rows.
    n_rows : int
        Rows of the table.
    who : str
        Name of the selector, for messages.
    """
    y = checks.check_target(y, n_rows, who)
    seen = y if weight is None else y[weight > 0]
    if task == "classification" or (task == "auto" and not is_fractional(seen)):
        if weight is not None and seen.size:  # rows without weight are in any class
            y = np.where(weight > 0, y, seen[:1])
        classes, codes = checks.check_weighted_classes(y, weight, n_rows, who)
        checks.check_two_classes(classes, who)
        return Outcome(classes, codes, None)
    values = checks.check_numbers(y, n_rows, who)
    seen = values if weight is None else values[weight > 0]
    if seen.min() == seen.max():
        raise InputError(
            f"{who}: expected a target that varies, got {float(seen[0])!r} in every row "
            f"(n_samples={n_rows}). Check the target column, or use an unsupervised selector."
        )
    return Outcome(None, None, values)


def is_fractional(y: NDArray[Any]) -> bool:
    """Whether these are numbers with a fractional part."""
    if y.dtype.kind == "O":
        try:
            y = y.astype(np.float64)
        except (TypeError, ValueError):
            return False
    return y.dtype.kind == "f" and not bool((y == np.floor(y)).all())
