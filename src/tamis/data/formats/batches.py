"""From Arrow record batches to arrays of numpy, with as few copies as possible."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.data.encode import decoded, encode, floats, is_text, kind_of, plain, plain_type
from tamis.data.formats.base import (
    INTEGER,
    NARROW,
    OTHER,
    TEXT,
    WIDE,
    Kinds,
    LabelType,
    Piece,
    Request,
)
from tamis.data.roles import ColumnCode


def column_kinds(schema: Any) -> tuple[Kinds, dict[int, tuple[str, str]]]:
    """What every column of a schema holds, and kind and type where that is not numbers."""
    known: dict[Any, tuple[int, str]] = {}
    kinds = np.zeros(len(schema), dtype=np.uint8)
    others = {}
    for j, kind in enumerate(schema.types):
        if kind not in known:
            known[kind] = _kind_and_word(plain_type(kind))
        kinds[j], word = known[kind]
        if word != "numeric":
            others[j] = word, str(kind)
    return kinds, others


def _kind_and_word(kind: Any) -> tuple[int, str]:
    from pyarrow import types

    word = kind_of(kind)
    if types.is_null(kind):
        return WIDE, "empty"
    if word not in {"numeric", "boolean"}:
        return OTHER, word
    if types.is_integer(kind):
        return INTEGER, word
    return (NARROW if types.is_float32(kind) or types.is_float16(kind) else WIDE), word


def arrow_label_type(kind: Any) -> LabelType | str:
    """The type of a target in memory, or in words what it is instead of numbers and text."""
    from pyarrow import types

    kind = plain_type(kind)
    if types.is_dictionary(kind):
        return arrow_label_type(kind.value_type)
    if types.is_null(kind):
        return None
    if types.is_decimal(kind):
        return np.dtype(np.float64)
    if types.is_boolean(kind) or types.is_integer(kind) or types.is_floating(kind):
        return np.dtype(kind.to_pandas_dtype())
    if types.is_date(kind):
        return np.dtype("M8[D]")
    if types.is_timestamp(kind) or types.is_duration(kind):
        return np.dtype(f"{'M8' if types.is_timestamp(kind) else 'm8'}[{kind.unit}]")
    if types.is_time(kind):
        return np.dtype("m8[ns]")
    return TEXT if is_text(kind) else str(kind)


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
        X[:, j] = _numbers(column, request.codes.get(name))
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


def fill_column(column: Any, code: ColumnCode | None, out: NDArray[Any]) -> None:
    """Copy a chunked column as numbers; nulls become NaN."""
    row = 0
    for chunk in column.chunks:
        out[row : row + len(chunk)] = _numbers(chunk, code)
        row += len(chunk)


def _numbers(column: Any, code: ColumnCode | None) -> NDArray[Any]:
    from pyarrow import types

    if code is not None:
        return encode(column, code)
    kind = column.type
    if types.is_floating(kind) or types.is_integer(kind):
        return column.to_numpy(zero_copy_only=False)
    if types.is_boolean(kind) and column.null_count == 0:
        return column.to_numpy(zero_copy_only=False)
    return floats(plain(column))


def labels_of(column: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    """A target or weight as an array; a null becomes NaN among numbers, None elsewhere."""
    import pyarrow as pa
    from pyarrow import compute

    values = plain(pa.chunked_array([column]))
    if pa.types.is_null(values.type):
        return np.full(len(values), None if dtype.kind in "Ob" else np.nan)
    if dtype == TEXT:
        return _texts(values.combine_chunks())
    values = decoded(values)
    if dtype.kind in "mM":
        if pa.types.is_time(values.type):
            values = values.cast(pa.time64("ns")).cast(pa.int64()).cast(pa.duration("ns"))
        return values.to_numpy().astype(dtype)
    if values.null_count and dtype.kind == "b":
        return np.array(values.to_pylist(), dtype=object)
    if values.null_count or pa.types.is_decimal(values.type):
        return compute.cast(values, pa.float64(), safe=False).to_numpy()
    return values.to_numpy().astype(dtype, copy=False)


def _texts(values: Any) -> NDArray[Any]:
    """Strings as objects, one object per value that occurs rather than one per row."""
    import pyarrow as pa

    if not pa.types.is_dictionary(values.type):
        values = decoded(pa.chunked_array([values])).combine_chunks().dictionary_encode()
    words = np.array([*values.dictionary.to_pylist(), None], dtype=object)
    missing = len(words) - 1
    return words[values.indices.cast(pa.int64()).fill_null(missing).to_numpy()]
