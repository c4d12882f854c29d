"""Roles and numbers for the matrix of an NPZ file.

Whoever wrote a matrix has already decided what is a feature, so every column is numeric and
nothing is guessed; only the caller's own choice leaves columns out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from tamis.data._choice import Choice
from tamis.data.prepared_table import ColumnRole
from tamis.data.raw_table import RawTable


def matrix_roles(table: RawTable, choice: Choice) -> list[ColumnRole]:
    """Describe every column, the array ``y`` last if there is one."""
    missing = _count_missing(table.matrix)
    roles = []
    for name, n_missing in zip(table.names, missing.tolist(), strict=True):
        objection = "target" if name == choice.target else choice.objection(name)
        kind = "target" if name == choice.target else "numeric"
        roles.append(ColumnRole(name, kind, objection is None, objection or "numbers", n_missing))
    if table.target is not None:
        name = table.target_name
        reason = "target" if name == choice.target else "not the target asked for"
        roles.append(ColumnRole(name, "target", False, reason))
    return roles


def matrix_numbers(table: RawTable, used: np.ndarray, kept: np.ndarray | None) -> Any:
    """Return the used columns and kept rows as floats; sparse stays sparse.

    Parameters
    ----------
    table : RawTable
        A table with a matrix.
    used : ndarray of int
        Columns, in order.
    kept : ndarray of bool or None
        Rows; None means all.
    """
    matrix, dtype = table.matrix, _float_type(table.matrix.dtype)
    whole = kept is None and used.size == matrix.shape[1]
    if sparse.issparse(matrix):
        part = matrix if whole else matrix[slice(None) if kept is None else kept][:, used]
        return part.astype(dtype, copy=False)
    if whole:
        return np.ascontiguousarray(matrix, dtype=dtype)
    rows = slice(None) if kept is None else kept
    n_rows = matrix.shape[0] if kept is None else int(kept.sum())
    X = np.empty((n_rows, used.size), dtype=dtype)
    for k, j in enumerate(used):
        X[:, k] = matrix[rows, j]
    return X


def matrix_column(table: RawTable, name: str) -> np.ndarray:
    """Return one column, as the target."""
    column = table.matrix[:, [table.names.index(name)]]
    return (column.toarray() if sparse.issparse(column) else column).ravel()


def _float_type(stored: np.dtype) -> type:
    """Keep float32 where it holds every value exactly: 24 bits are enough for 16-bit integers."""
    exact = stored.itemsize <= 4 if stored.kind == "f" else stored.itemsize <= 2
    return np.float32 if exact else np.float64


def _count_missing(matrix: Any) -> np.ndarray:
    if matrix.dtype.kind != "f":
        return np.zeros(matrix.shape[1], dtype=np.intp)
    if sparse.issparse(matrix):
        return np.bincount(matrix.indices[np.isnan(matrix.data)], minlength=matrix.shape[1])
    return np.isnan(matrix).sum(axis=0)
