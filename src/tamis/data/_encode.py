"""Turn one Arrow column into float64 numbers, NaN where an entry is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tamis.data._kinds import plain

if TYPE_CHECKING:
    import pyarrow as pa

_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_SECONDS_PER_DAY = 86_400


def encode(column: pa.ChunkedArray, kind: str) -> np.ndarray:
    """Encode a column whose role has this `kind`."""
    column = plain(column)
    if kind == "category":
        return _codes(column)
    if kind in {"date", "time", "duration"}:
        return _instants(column)
    return _floats(column)


def categories_of(column: pa.ChunkedArray) -> list[Any]:
    """List the values that occur, in the order of their codes.

    That order is sorted, except for an ordered dictionary, whose own order means something
    (small, medium, large).
    """
    from pyarrow import types

    values = distinct_values(column)
    if types.is_dictionary(column.type) and column.type.ordered:
        dictionary = column.unify_dictionaries().chunk(0).dictionary.to_pylist()
        position = {value: i for i, value in enumerate(dictionary)}
        return sorted(values, key=position.__getitem__)
    return sorted(values)


def distinct_values(column: pa.ChunkedArray) -> list[Any]:
    """List the values that occur, in the order of the rows."""
    return decoded(column).unique().drop_null().to_pylist()


def decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Replace dictionary codes by values, and string views, on which few functions work."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        return decoded(column.cast(column.type.value_type))
    return column.cast(pa.string()) if str(column.type) == "string_view" else column


def _codes(column: pa.ChunkedArray) -> np.ndarray:
    import pyarrow as pa
    from pyarrow import compute

    values = decoded(column)
    categories = pa.array(categories_of(column), type=values.type)
    return _floats(compute.index_in(values, value_set=categories, skip_nulls=True))


def _instants(column: pa.ChunkedArray) -> np.ndarray:
    """Days for dates and timestamps, seconds for times and durations."""
    import pyarrow as pa

    kind = column.type
    narrow = pa.types.is_date32(kind) or pa.types.is_time32(kind)
    values = _floats(column.cast(pa.int32() if narrow else pa.int64()))
    if pa.types.is_date32(kind):
        return values
    seconds = values / (1000 if pa.types.is_date64(kind) else _PER_SECOND[kind.unit])
    is_date = pa.types.is_date64(kind) or pa.types.is_timestamp(kind)
    return seconds / _SECONDS_PER_DAY if is_date else seconds


def _floats(column: pa.ChunkedArray) -> np.ndarray:
    import pyarrow as pa
    from pyarrow import compute

    # Unsafe, since integers beyond 2**53 are rounded rather than refused.
    return compute.cast(column, pa.float64(), safe=False).to_numpy()
