"""Target: class labels or a regression target, checked and encoded.

`tamis.data.labels` checks class labels and `tamis.data.task` tells which of the two it is;
`tamis.data.target_blocks` reads one block by block, and `tamis.data.checks` knows the plain case:
class labels in an array.
"""

from __future__ import annotations

import numbers
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.data.checks import encode_labels
from tamis.data.labels import check_target, check_two_classes, check_weighted_classes
from tamis.data.task import TASKS, infer_task, is_categorical
from tamis.exceptions import InputError

Floats = NDArray[np.float64]


def check_numbers(y: Any, n_rows: int, who: str) -> Floats:
    """Regression target as float64, finite and small enough to be squared; dates as days."""
    y = check_target(y, n_rows, who)
    if y.dtype.kind not in "iufbOmM":
        raise InputError(
            f"{who}: expected a numeric target, got dtype {y.dtype}. Use tamis.DFT for classes."
        )
    try:
        values = as_numbers(y)
    except OverflowError as error:
        raise InputError(
            f"{who}: expected target values below 1e150, got one that is too large for float64. "
            "Rescale the target, or drop these rows."
        ) from error
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
