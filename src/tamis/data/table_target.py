"""The target: drop rows without one, find the task, give labels or numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tamis._runtime.wording import counted
from tamis.data.encode import categories_of, decoded, encode, is_number, is_text, kind_of, plain
from tamis.data.roles import ColumnCode
from tamis.data.task import ROWS_PER_CLASS, TASKS, are_whole, infer_task
from tamis.exceptions import ColumnTypeError, InputError

if TYPE_CHECKING:
    import pyarrow as pa

# With fewer rows, a class per row is a toy example rather than a mistake.
MIN_ROWS_TO_JUDGE = 10


@dataclass(frozen=True, eq=False)
class TableTarget:
    """Target of a table: labels or float64 `y` of the rows that have one (`kept`, None means all).

    `reason` is the sentence that reports the task.
    """

    y: np.ndarray
    kept: np.ndarray | None
    task: str
    reason: str
    n_missing: int
    n_distinct: int


def check_task(who: str, task: str | None, target: str | None) -> None:
    """Refuse an unknown task, or one without a target."""
    if task is not None and task not in TASKS:
        raise InputError(f"{who}: expected --task to be one of {TASKS}, got {task!r}.")
    if task is not None and target is None:
        raise InputError(f"{who}: expected a target for {task}, got none; add --target.")


def arrow_target(who: str, name: str, column: pa.ChunkedArray, task: str | None) -> TableTarget:
    """Build the target from an Arrow column."""
    column = plain(column)
    kind = kind_of(column.type)
    if kind == "nested":
        raise ColumnTypeError(
            f"{who}: expected numbers or labels in target {name!r}, got {column.type}; "
            "choose another target."
        )
    inferred = "classification" if kind in {"text", "category", "boolean"} else None
    if kind in {"date", "time", "duration"}:
        inferred = "regression"
    return _make_target(who, name, *_values(column, kind), inferred, task)


def array_target(who: str, name: str, values: np.ndarray, task: str | None) -> TableTarget:
    """Build the target from the ``y`` of an NPZ file; NaN and '' are missing."""
    if values.dtype.kind == "f":
        missing = np.isnan(values)
    else:
        missing = values == "" if values.dtype.kind == "U" else np.zeros(values.shape, dtype=bool)
    inferred = "classification" if values.dtype.kind in "bU" else None
    return _make_target(who, name, values, missing, inferred, task)


def _values(column: pa.ChunkedArray, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Take values and missing rows out of Arrow; integers stay, so that labels print as given."""
    from pyarrow import types

    if kind == "category" and not is_text(column.type.value_type):
        column = decoded(column)
        return _values(column, kind_of(column.type))
    if kind in {"text", "category"}:
        words = categories_of(column)
        categories = np.array([str(word) for word in words] or [""])
        codes = encode(column, ColumnCode("category", words))
        missing = np.isnan(codes)
        return categories[np.where(missing, 0, codes).astype(np.intp)], missing
    if types.is_integer(column.type) or types.is_boolean(column.type):
        filled = column.fill_null(False if kind == "boolean" else 0)
        return filled.to_numpy(), column.is_null().to_numpy()
    numbers = encode(column, ColumnCode(kind))
    return numbers, np.isnan(numbers)


def _make_target(
    who: str,
    name: str,
    values: np.ndarray,
    missing: np.ndarray,
    inferred: str | None,
    task: str | None,
) -> TableTarget:
    """Build the target; `inferred` is what the type alone says, `task` what the caller wants."""
    n_missing = int(missing.sum())
    kept = ~missing if n_missing else None
    y = values[kept] if n_missing else values
    if y.size == 0:
        raise InputError(
            f"{who}: expected values in target {name!r}, got only missing ones; choose another."
        )
    distinct, counts = np.unique(y, return_counts=True)
    if distinct.size == 1:
        raise InputError(
            f"{who}: expected target {name!r} to have at least two different values, got only "
            f"{distinct[0].item()!r} in {counted(y.size, 'row')}; choose another target."
        )
    inferred = inferred or infer_task(distinct, counts)
    build = _labels if (task or inferred) == "classification" else _numbers
    y = build(who, name, y, distinct)
    reason = _reason(name, task or inferred, distinct.size, asked=task is not None)
    return TableTarget(y, kept, task or inferred, reason, n_missing, distinct.size)


def _labels(who: str, name: str, y: np.ndarray, distinct: np.ndarray) -> np.ndarray:
    if y.size >= MIN_ROWS_TO_JUDGE and distinct.size * ROWS_PER_CLASS > y.size:
        raise InputError(
            f"{who}: expected classes that repeat in target {name!r}, got "
            f"{distinct.size:,} different values in {counted(y.size, 'row')}; choose another "
            "target, or --task regression if these are measurements."
        )
    if y.dtype.kind != "f":
        return y
    # scikit-learn takes real numbers for measurements, so they may not stay labels.
    return y.astype(np.int64) if are_whole(distinct) else y.astype(str)


def _numbers(who: str, name: str, y: np.ndarray, distinct: np.ndarray) -> np.ndarray:
    if y.dtype.kind == "U":
        example = next((v for v in distinct.tolist() if not is_number(v)), distinct[0].item())
        raise InputError(
            f"{who}: expected numbers in target {name!r} for regression, got text such as "
            f"{example!r}; use --task classification or choose another target."
        )
    return y.astype(np.float64)


def _reason(name: str, task: str, n_distinct: int, asked: bool) -> str:
    noun = "classes" if task == "classification" else "different values"
    ending = f"{task} as asked" if asked else f"so {task} (set --task to change)"
    return f"target {name!r}: {n_distinct:,} {noun}, {ending}"
