"""The target of a table: drop rows without one, find the task, give labels or numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tamis._runtime.wording import counted
from tamis.data import matrix_table
from tamis.data.encode import decoded, encode, is_number, kind_of, plain
from tamis.data.roles import ColumnCode, ColumnRole
from tamis.data.task import ROWS_PER_CLASS, TASKS, are_whole, infer_task
from tamis.exceptions import ColumnTypeError, InputError

if TYPE_CHECKING:
    from tamis.data.table import RawTable

# With fewer rows, a class per row is a toy example rather than a mistake.
MIN_ROWS_TO_JUDGE = 10


@dataclass(frozen=True, eq=False)
class TableTarget:
    """Target of a table: labels or float64 `y` of the rows that have one (`kept`, None means all).

    `reason` is the sentence that reports the task; `role` is None without a target.
    """

    y: np.ndarray | None = None
    kept: np.ndarray | None = None
    task: str | None = None
    reason: str = "no target, so unsupervised"
    role: ColumnRole | None = None

    @property
    def notes(self) -> list[str]:
        """Sentences for the user."""
        if self.role is None:
            return []
        n = self.role.n_missing
        return [*([f"{counted(n, 'row')} with no target left out"] if n else []), self.reason]


def check_task(who: str, task: str | None, target: str | None) -> None:
    """Refuse an unknown task, or one without a target."""
    if task is not None and task not in TASKS:
        raise InputError(f"{who}: expected --task to be one of {TASKS}, got {task!r}.")
    if task is not None and target is None:
        raise InputError(f"{who}: expected a target for {task}, got none; add --target.")


def find_target(table: RawTable, name: str | None, task: str | None) -> TableTarget:
    """The target called `name`; `task` is what the caller wants, None to infer it."""
    if name is None:
        return TableTarget()
    if table.arrow is not None:
        values, missing, inferred = _from_arrow(table.who, name, plain(table.arrow[name]))
    else:
        values, missing, inferred = matrix_table.target(table, name)
    n_missing = int(missing.sum())
    kept = ~missing if n_missing else None
    y = values[kept] if n_missing else values
    if y.size == 0:
        raise InputError(
            f"{table.who}: expected values in target {name!r}, got only missing ones; choose "
            "another."
        )
    distinct, counts = np.unique(y, return_counts=True)
    if distinct.size == 1:
        raise InputError(
            f"{table.who}: expected target {name!r} to have at least two different values, got "
            f"only {distinct[0].item()!r} in {counted(y.size, 'row')}; choose another target."
        )
    found = task or inferred or infer_task(distinct, counts)
    build = _labels if found == "classification" else _numbers
    noun = "classes" if found == "classification" else "different values"
    ending = f"{task} as asked" if task else f"so {found} (set --task to change)"
    return TableTarget(
        build(table.who, name, y, distinct),
        kept,
        found,
        f"target {name!r}: {distinct.size:,} {noun}, {ending}",
        ColumnRole(name, "target", False, "target", n_missing, distinct.size),
    )


def _from_arrow(who: str, name: str, column: Any) -> tuple[np.ndarray, np.ndarray, str | None]:
    """Values, rows without one, and the task that the type alone tells."""
    from pyarrow import compute, types

    kind = kind_of(column.type)
    if kind == "nested":
        raise ColumnTypeError(
            f"{who}: expected numbers or labels in target {name!r}, got {column.type}; "
            "choose another target."
        )
    inferred = "classification" if kind in {"text", "category", "boolean"} else None
    column = decoded(column)
    kind = kind_of(column.type)
    if kind in {"date", "time", "duration"}:
        inferred = inferred or "regression"
    if kind == "text":
        words = column.unique().drop_null()
        codes = compute.index_in(column, value_set=words)
        labels = np.array(words.to_pylist() or [""])
        return labels[codes.fill_null(0).to_numpy()], codes.is_null().to_numpy(), inferred
    if types.is_integer(column.type) or types.is_boolean(column.type):  # labels print as given
        filled = column.fill_null(False if kind == "boolean" else 0)
        return filled.to_numpy(), column.is_null().to_numpy(), inferred
    numbers = encode(column, ColumnCode(kind))
    return numbers, np.isnan(numbers), inferred


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
