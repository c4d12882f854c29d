"""Arrow columns: what the rules need to know of them, and how they become numbers.

Numbers are float64 with NaN where an entry is missing. `tamis.data.frames` does the same for
columns of pandas and polars, without pyarrow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tamis.data.roles import (
    JUDGED_VALUES,
    ColumnCode,
    ColumnFacts,
    is_id_name,
)

if TYPE_CHECKING:
    import pyarrow as pa

PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
SECONDS_PER_DAY = 86_400


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


def decoded(column: Any) -> Any:
    """Replace dictionary codes by values, and string views, on which few functions work."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        return decoded(column.cast(column.type.value_type))
    return column.cast(pa.string()) if str(column.type) == "string_view" else column


def facts_of(name: str, column: Any, named: bool = False) -> ColumnFacts:
    """What the rules need to know of an Arrow column, or of some rows of it.

    Words of a column that the caller named are categories, however many there are.
    """
    from pyarrow import types

    column = plain(column)
    kind = kind_of(column.type)
    kind = "category" if named and kind == "text" else kind
    facts = ColumnFacts(kind, str(column.type), len(column), count_missing(column))
    if facts.kind in {"text", "category"}:
        _look_at_words(facts, column)
    elif types.is_integer(column.type) and not named:
        facts.counts_from = _counts_from(column)
        if is_id_name(name):
            _look_at_values(facts, column.slice(0, JUDGED_VALUES + facts.n_missing).drop_null())
    return facts


def _look_at_words(facts: ColumnFacts, column: Any) -> None:
    from pyarrow import types

    if types.is_dictionary(column.type) and column.type.ordered and len(column):
        chunks = column.unify_dictionaries().chunks if hasattr(column, "chunks") else [column]
        facts.order = tuple(chunks[0].dictionary.to_pylist())
    is_free = facts.kind == "text"
    column = decoded(column)
    facts.n_missing = column.null_count  # a dictionary may hold a null, too
    distinct = column.unique().drop_null()
    _look_at_values(facts, column.drop_null().slice(0, JUDGED_VALUES))
    kept = distinct.slice(0, JUDGED_VALUES + 1) if is_free else distinct
    facts.values = dict.fromkeys(kept.to_pylist())
    if types.is_string(column.type) or types.is_large_string(column.type):
        _look_for_numbers(facts, column)


def _look_at_values(facts: ColumnFacts, present: Any) -> None:
    """Different values among the first ones, and the first that occurs again."""
    import pyarrow as pa

    if isinstance(present, pa.ChunkedArray):
        present = present.combine_chunks()
    present = present.slice(0, JUDGED_VALUES).dictionary_encode()
    if isinstance(present, pa.ChunkedArray):  # combining chunks of strings may leave several
        present = present.unify_dictionaries().combine_chunks()
    codes = present.indices.to_numpy()
    again = np.flatnonzero(codes != np.arange(len(codes)))
    facts.first_repeat = int(again[0]) if again.size else None
    facts.values = dict.fromkeys(present.dictionary.to_pylist())


def _look_for_numbers(facts: ColumnFacts, column: Any) -> None:
    looked_at = column.drop_null().slice(0, JUDGED_VALUES)
    for item in looked_at.value_counts().to_pylist():
        if is_number(item["values"]):
            facts.n_numbers += item["counts"]
        elif facts.no_number is None:
            facts.no_number = item["values"]


def _counts_from(column: Any) -> int | None:
    """First integer, if the first rows count up by one from it."""
    values = column.slice(0, JUDGED_VALUES)
    if not len(values) or values.null_count:
        return None
    first = values[0].as_py()
    if values[len(values) - 1].as_py() - first != len(values) - 1:
        return None
    values = values.to_numpy()
    return int(first) if (values[1:] == values[:-1] + 1).all() else None


def count_missing(column: Any) -> int:
    """Count nulls, and NaN where there can be any."""
    from pyarrow import compute, types

    if not types.is_floating(column.type):
        return int(column.null_count)
    return int(column.null_count + (compute.sum(compute.is_nan(column)).as_py() or 0))


def encode(column: Any, code: ColumnCode | None) -> NDArray[Any]:
    """Numbers of an Arrow column; without a code, it holds numbers."""
    column = plain(column)
    if code is not None and code.kind == "category":
        return _codes(column, code.categories)
    if code is not None and code.kind in {"date", "time", "duration"}:
        return _instants(column)
    return floats(column)


def _codes(column: Any, categories: tuple[Any, ...]) -> NDArray[Any]:
    import pyarrow as pa
    from pyarrow import compute

    values = decoded(column)
    if pa.types.is_null(values.type):
        return np.full(len(values), np.nan)
    known = pa.array(categories, type=values.type)
    return floats(compute.index_in(values, value_set=known, skip_nulls=True))


def _instants(column: Any) -> NDArray[Any]:
    """Days for dates and timestamps, seconds for times and durations."""
    import pyarrow as pa
    from pyarrow import types

    kind = column.type
    if types.is_null(kind):
        return np.full(len(column), np.nan)
    narrow = types.is_date32(kind) or types.is_time32(kind)
    values = column.cast(pa.int32() if narrow else pa.int64())
    whole = values.fill_null(0).to_numpy(zero_copy_only=False)
    if types.is_date32(kind):
        unit = 1
    else:
        unit = PER_SECOND["ms" if types.is_date64(kind) else kind.unit]
        unit *= SECONDS_PER_DAY if types.is_date64(kind) or types.is_timestamp(kind) else 1
    found = in_units(whole, unit)
    return np.where(values.is_null().to_numpy(zero_copy_only=False), np.nan, found)


def in_units(values: NDArray[Any], unit: int) -> NDArray[np.float64]:
    """Integers divided by a unit, the same for seconds and nanoseconds of one instant."""
    whole, rest = np.divmod(values.astype(np.int64, copy=False), unit)
    return np.asarray(whole + rest / unit, dtype=np.float64)


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
