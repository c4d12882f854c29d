"""What an Arrow type means to a feature selector."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


def plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Unwrap extension types and run-length encoding, which hide an ordinary type."""
    import pyarrow as pa
    from pyarrow import compute

    if isinstance(column.type, pa.BaseExtensionType):
        chunks = [chunk.storage for chunk in column.chunks]
        return plain(pa.chunked_array(chunks, type=column.type.storage_type))
    if pa.types.is_run_end_encoded(column.type):
        chunks = [compute.run_end_decode(chunk) for chunk in column.chunks]
        return plain(pa.chunked_array(chunks, type=column.type.value_type))
    return column


def kind_of(kind: pa.DataType) -> str:
    """Sort a type into the kinds of :class:`ColumnRole`; anything without an order is nested."""
    from pyarrow import types

    if types.is_dictionary(kind):
        return "nested" if kind_of(kind.value_type) == "nested" else "category"
    if types.is_integer(kind) or types.is_floating(kind):
        return "numeric"
    if types.is_decimal(kind) or types.is_null(kind):
        return "numeric"
    if types.is_boolean(kind):
        return "boolean"
    if types.is_date(kind) or types.is_timestamp(kind):
        return "date"
    if types.is_time(kind):
        return "time"
    if types.is_duration(kind):
        return "duration"
    return "text" if is_text(kind) else "nested"


def is_text(kind: pa.DataType) -> bool:
    """Tell whether values of this type are strings."""
    from pyarrow import types

    return types.is_string(kind) or types.is_large_string(kind) or str(kind) == "string_view"


def count_missing(column: pa.ChunkedArray) -> int:
    """Count nulls, and NaN where there can be any."""
    from pyarrow import compute, types

    if not types.is_floating(column.type):
        return column.null_count
    return column.null_count + (compute.sum(compute.is_nan(column)).as_py() or 0)


def is_number(text: str) -> bool:
    """Tell whether a text is a number; ``1_000``, which Python accepts, is not."""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text
