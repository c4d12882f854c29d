"""From the arrays of an NPZ file to an Arrow table and back, for writing."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from tamis.data.formats._arrow import import_pyarrow
from tamis.data.table import RawTable
from tamis.exceptions import ColumnTypeError

if TYPE_CHECKING:
    import pyarrow as pa


def as_arrow(table: RawTable) -> pa.Table:
    """Return the table as Arrow, the target of an NPZ file as last column."""
    if table.arrow is not None:
        return table.arrow
    pa = import_pyarrow(f"writing the columns of {table.who}")
    if sparse.issparse(table.matrix):
        columns = _dense_columns(table.matrix)
    else:
        columns = [np.ascontiguousarray(column) for column in table.matrix.T]
    if table.target is not None:
        columns.append(table.target)
    return pa.table([pa.array(column) for column in columns], names=list(table.column_names))


def _dense_columns(matrix: sparse.csr_matrix) -> list[np.ndarray]:
    """Unpack column by column, by hand: slicing a sparse matrix 100,000 times takes seconds."""
    by_column = matrix.tocsc()
    by_column.sum_duplicates()
    columns = []
    for start, end in pairwise(by_column.indptr):
        column = np.zeros(matrix.shape[0], dtype=matrix.dtype)
        column[by_column.indices[start:end]] = by_column.data[start:end]
        columns.append(column)
    return columns


def as_arrays(table: RawTable) -> dict[str, np.ndarray]:
    """Return the arrays of an NPZ file that holds the table."""
    if table.arrow is not None:
        return _from_arrow(table)
    arrays = dict(table.extras)
    if sparse.issparse(table.matrix):
        m = table.matrix
        arrays |= {"data": m.data, "indices": m.indices, "indptr": m.indptr, "shape": m.shape}
    else:
        arrays["X"] = table.matrix
    if table.target is not None:
        arrays["y"] = table.target
    arrays["feature_names"] = np.array(table.names)
    return {name: np.asarray(value) for name, value in arrays.items()}


def _from_arrow(table: RawTable) -> dict[str, np.ndarray]:
    names = [name for name in table.names if name != table.target_name]
    columns = [_numbers(table, name) for name in names]
    X = np.empty((table.n_rows, len(names)), dtype=np.result_type(*columns))
    for j, column in enumerate(columns):
        X[:, j] = column
    arrays = {"X": X, "feature_names": np.array(names)}
    if table.target_name is not None:
        arrays["y"] = _labels(table)
    return arrays


def _numbers(table: RawTable, name: str) -> np.ndarray:
    """Return a numeric column as it is, with NaN for missing entries."""
    import pyarrow as pa
    from pyarrow import compute

    column = table.arrow[name]
    kind = column.type
    whole = pa.types.is_integer(kind) or pa.types.is_boolean(kind)
    if pa.types.is_decimal(kind) or pa.types.is_null(kind) or (whole and column.null_count):
        column = compute.cast(column, pa.float64(), safe=False)
    values = column.to_numpy()
    if values.dtype.kind not in "biuf":
        raise ColumnTypeError(
            f"{table.who}: expected numbers only, since NPZ holds one matrix, got {kind} in column "
            f"{name!r}; write .parquet, .feather or .csv instead."
        )
    return values


def _labels(table: RawTable) -> np.ndarray:
    """Return the target as numbers if it can be, else as text; a missing label becomes ''."""
    try:
        return _numbers(table, table.target_name)
    except ColumnTypeError:
        values = table.arrow[table.target_name].to_pylist()
    return np.array(["" if value is None else str(value) for value in values])
