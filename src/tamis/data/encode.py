"""Arrow columns: what they hold, and how they become numbers.

Numbers are float64 with NaN where an entry is missing. `tamis.data.frames` does the same for
columns of pandas and polars, without pyarrow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from tamis.data.roles import ColumnCode

if TYPE_CHECKING:
    import pyarrow as pa


def plain(column: Any) -> Any:
    """Unwrap extension types and run-length encoding, which hide an ordinary type."""
    import pyarrow as pa
    from pyarrow import compute

    if plain_type(column.type).equals(column.type):
        return column
    if isinstance(column, pa.Array):
        column = pa.chunked_array([column])
    if isinstance(column.type, pa.BaseExtensionType):
        chunks = [chunk.storage for chunk in column.chunks]
        return plain(pa.chunked_array(chunks, type=column.type.storage_type))
    chunks = [compute.run_end_decode(chunk) for chunk in column.chunks]
    return plain(pa.chunked_array(chunks, type=column.type.value_type))


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The type that :func:`plain` makes of a column."""
    import pyarrow as pa

    if isinstance(kind, pa.BaseExtensionType):
        return plain_type(kind.storage_type)
    return plain_type(kind.value_type) if pa.types.is_run_end_encoded(kind) else kind


def kind_of(kind: pa.DataType) -> str:
    """Sort a type into the kinds of :class:`ColumnRole`; anything without an order is nested."""
    from pyarrow import types

    if types.is_dictionary(kind):
        return "nested" if kind_of(kind.value_type) == "nested" else "category"
    for name, tests in (
        ("numeric", (types.is_integer, types.is_floating, types.is_decimal, types.is_null)),
        ("boolean", (types.is_boolean,)),
        ("date", (types.is_date, types.is_timestamp)),
        ("time", (types.is_time,)),
        ("duration", (types.is_duration,)),
        ("text", (is_text,)),
    ):
        if any(test(kind) for test in tests):
            return name
    return "nested"


def is_text(kind: pa.DataType) -> bool:
    """Tell whether values of this type are strings."""
    from pyarrow import types

    return types.is_string(kind) or types.is_large_string(kind) or str(kind) == "string_view"


def decoded(column: Any) -> Any:
    """Replace dictionary codes by values, and string views, on which few functions work."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        return decoded(column.cast(column.type.value_type))
    return column.cast(pa.string()) if str(column.type) == "string_view" else column


def count_missing(column: Any) -> int:
    """Count nulls, and NaN where there can be any."""
    from pyarrow import compute, types

    if not types.is_floating(column.type):
        return int(column.null_count)
    return int(column.null_count + (compute.sum(compute.is_nan(column)).as_py() or 0))


def encode(column: Any, code: ColumnCode | None) -> NDArray[Any]:
    """Numbers of an Arrow column; without a code, it holds numbers."""
    column = plain(column)
    if code is None or code.kind in {"numeric", "boolean"}:
        return floats(column)
    from tamis.data.words_and_dates import codes_of, instants_of

    return codes_of(column, code.categories) if code.kind == "category" else instants_of(column)


def floats(column: Any) -> NDArray[Any]:
    """Numbers and booleans as float64, nulls as NaN."""
    import pyarrow as pa
    from pyarrow import compute

    # Unsafe, since integers beyond 2**53 are rounded rather than refused.
    values = compute.cast(column, pa.float64(), safe=False)
    return values.to_numpy(zero_copy_only=False)


def is_number(text: str) -> bool:
    """Tell whether a text is a number; ``1_000``, which Python accepts, is not."""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text
