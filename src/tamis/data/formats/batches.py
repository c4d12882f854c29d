"""From Arrow record batches to arrays of numpy, with as few copies as possible."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.data.formats.arrow import labels_of, numbers_of
from tamis.data.formats.base import Piece, Request


def piece_of(batch: Any, names: list[str], request: Request) -> Piece:
    """Turn a record batch into arrays."""
    X = cells_of(batch, names, request) if names else None
    return Piece(X, labels_in(batch, request), batch.num_rows)


def cells_of(batch: Any, names: list[str], request: Request) -> NDArray[Any]:
    """The named columns of a record batch as a Fortran-ordered array; nulls become NaN.

    Where all of them have the type that is wanted, Arrow copies them in one call.
    """
    import pyarrow as pa

    columns = list(_checked_columns(batch, names).values())
    same = pa.float64() if request.dtype == np.float64 else pa.float32()
    if all(column.type.equals(same) for column in columns):
        some = pa.RecordBatch.from_arrays(columns, names=[""] * len(columns))
        return some.to_tensor(null_to_nan=True, row_major=False).to_numpy()
    X = np.empty((batch.num_rows, len(names)), dtype=request.dtype, order="F")
    for j, (name, column) in enumerate(zip(names, columns, strict=True)):
        X[:, j] = numbers_of(column, request.codes.get(name))
    return X


def labels_in(batch: Any, request: Request) -> tuple[NDArray[Any], ...]:
    """The labels that are asked for, in order."""
    columns = _checked_columns(batch, [name for name, _ in request.labels])
    return tuple(labels_of(columns[name], dtype) for name, dtype in request.labels)


def _checked_columns(batch: Any, names: list[str]) -> dict[str, Any]:
    """Columns by name; Arrow trusts the offsets in a file, and a damaged one could crash Python."""
    columns = {name: batch.column(name) for name in names}
    for column in columns.values():
        column.validate(full=True)
    return columns
