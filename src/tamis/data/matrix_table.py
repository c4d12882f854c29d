"""The matrix of an NPZ file: roles of its columns, numbers and target for a fit, some columns.

Whoever wrote a matrix has decided what is a feature, so nothing is inferred.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from tamis._runtime.wording import listed
from tamis.data.roles import ColumnRole
from tamis.exceptions import InputError

if TYPE_CHECKING:
    from tamis.data.preparation import ColumnChoice
    from tamis.data.table import RawTable


def roles(table: RawTable, choice: ColumnChoice, target: ColumnRole | None) -> list[ColumnRole]:
    """Roles of all columns, the array ``y`` last if there is one."""
    found = []
    missing = _count_missing(table.matrix).tolist()
    for name, n_missing in zip(table.names, missing, strict=True):
        objection = choice.objection(name)
        reason = objection or "numbers"
        found.append(ColumnRole(name, "numeric", objection is None, reason, n_missing))
    if table.target is not None:
        reason = "not the target asked for"
        found.append(ColumnRole(str(table.target_name), "target", False, reason))
    return [target if target and role.name == target.name else role for role in found]


def _count_missing(matrix: Any) -> np.ndarray:
    if matrix.dtype.kind != "f":
        return np.zeros(matrix.shape[1], dtype=np.intp)
    if sparse.issparse(matrix):
        return np.bincount(matrix.indices[np.isnan(matrix.data)], minlength=matrix.shape[1])
    return np.isnan(matrix).sum(axis=0)


def numbers(table: RawTable, names: list[str], kept: np.ndarray | None) -> Any:
    """Some columns and rows as floats; sparse stays sparse.

    float32 stays where it holds every value exactly: 24 bits are enough for 16-bit integers.
    """
    matrix, stored = table.matrix, table.matrix.dtype
    exact = stored.itemsize <= (4 if stored.kind == "f" else 2)
    dtype = np.float32 if exact else np.float64
    rows = slice(None) if kept is None else kept
    position = {name: j for j, name in enumerate(table.names)}
    used = [position[name] for name in names]
    whole = kept is None and len(used) == matrix.shape[1]
    if sparse.issparse(matrix):
        return (matrix if whole else matrix[rows][:, used]).astype(dtype, copy=False)
    if whole:
        return np.ascontiguousarray(matrix, dtype=dtype)
    X = np.empty((table.n_rows if kept is None else int(kept.sum()), len(used)), dtype=dtype)
    for k, j in enumerate(used):
        X[:, k] = matrix[rows, j]
    return X


def target(table: RawTable, name: str) -> tuple[np.ndarray, np.ndarray, str | None]:
    """Values of a target, rows without one (NaN or ''), and the task that the type tells."""
    values: Any = table.target
    if values is None or name != table.target_name:
        column = table.matrix[:, [table.names.index(name)]]
        values = (column.toarray() if sparse.issparse(column) else column).ravel()
    kind = values.dtype.kind
    if kind == "f":
        missing = np.isnan(values)
    else:
        missing = values == "" if kind == "U" else np.zeros(values.shape, dtype=bool)
    return values, missing, "classification" if kind in "bU" else None


def reduced(table: RawTable, wanted: Collection[str]) -> RawTable:
    """The table with some columns; arrays stay that speak of rows or classes."""
    kept = [j for j, name in enumerate(table.names) if name in wanted]
    if not kept:
        raise InputError(f"{table.who}: expected at least one column to keep besides y, got none.")
    # The rest may speak of columns that are gone.
    extras = {
        name: array
        for name, array in table.extras.items()
        if name == "class_names" or array.shape[:1] == (table.n_rows,)
    }
    notes = table.notes
    if lost := sorted(set(table.extras) - set(extras)):
        notes = (*notes, f"arrays of {table.who} about its columns are left out: {listed(lost)}")
    names = tuple(table.names[j] for j in kept)
    return replace(table, names=names, matrix=table.matrix[:, kept], extras=extras, notes=notes)
