"""Words and dates in Arrow columns: what the rules need to know of them, and their numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.data.encode import count_missing, decoded, floats, is_number, kind_of, plain
from tamis.data.roles import JUDGED_VALUES, ColumnFacts, is_id_name

PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
SECONDS_PER_DAY = 86_400


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
        look_at_words(facts, column)
    elif types.is_integer(column.type) and not named:
        facts.counts_from = counts_from(column)
        if is_id_name(name):
            look_at_values(facts, column.slice(0, JUDGED_VALUES + facts.n_missing).drop_null())
    return facts


def look_at_words(facts: ColumnFacts, column: Any) -> None:
    """Note the values of text or of a category."""
    from pyarrow import types

    if types.is_dictionary(column.type) and column.type.ordered and len(column):
        chunks = column.unify_dictionaries().chunks if hasattr(column, "chunks") else [column]
        facts.order = tuple(chunks[0].dictionary.to_pylist())
    column = decoded(column)
    facts.n_missing = column.null_count  # a dictionary may hold a null, too
    present = column.drop_null().slice(0, JUDGED_VALUES)
    look_at_values(facts, present)
    distinct = column.unique().drop_null()
    kept = distinct.slice(0, JUDGED_VALUES + 1) if facts.kind == "text" else distinct
    facts.values = dict.fromkeys(kept.to_pylist())
    if types.is_string(column.type) or types.is_large_string(column.type):
        for item in present.value_counts().to_pylist():
            if is_number(item["values"]):
                facts.n_numbers += item["counts"]
            elif facts.no_number is None:
                facts.no_number = item["values"]


def look_at_values(facts: ColumnFacts, present: Any) -> None:
    """Note the different values among the first ones, and the first that occurs again."""
    from pyarrow import compute

    present = present.slice(0, JUDGED_VALUES)
    distinct = present.unique()
    codes = compute.index_in(present, value_set=distinct).to_numpy()
    again = np.flatnonzero(codes != np.arange(len(codes)))
    facts.first_repeat = int(again[0]) if again.size else None
    facts.values = dict.fromkeys(distinct.to_pylist())


def counts_from(column: Any) -> int | None:
    """First integer, if the first rows count up by one from it."""
    values = column.slice(0, JUDGED_VALUES)
    if not len(values) or values.null_count:
        return None
    first = values[0].as_py()
    if values[len(values) - 1].as_py() - first != len(values) - 1:
        return None
    values = values.to_numpy()
    return int(first) if (values[1:] == values[:-1] + 1).all() else None


def codes_of(column: Any, categories: tuple[Any, ...]) -> NDArray[Any]:
    """Codes of categories."""
    import pyarrow as pa
    from pyarrow import compute

    values = decoded(column)
    if pa.types.is_null(values.type):
        return np.full(len(values), np.nan)
    known = pa.array(categories, type=values.type)
    return floats(compute.index_in(values, value_set=known, skip_nulls=True))


def instants_of(column: Any) -> NDArray[Any]:
    """Days for dates and timestamps, seconds for times and durations."""
    import pyarrow as pa
    from pyarrow import types

    kind = column.type
    if types.is_null(kind):
        return np.full(len(column), np.nan)
    is_narrow = types.is_date32(kind) or types.is_time32(kind)
    values = column.cast(pa.int32() if is_narrow else pa.int64())
    if types.is_date32(kind):
        unit = 1
    else:
        unit = PER_SECOND["ms" if types.is_date64(kind) else kind.unit]
        unit *= SECONDS_PER_DAY if types.is_date64(kind) or types.is_timestamp(kind) else 1
    whole = values.fill_null(0).to_numpy(zero_copy_only=False)
    return in_units(whole, values.is_null().to_numpy(zero_copy_only=False), unit)


def in_units(values: NDArray[Any], missing: NDArray[np.bool_], unit: int) -> NDArray[np.float64]:
    """Integers divided by a unit, the same for seconds and nanoseconds of one instant."""
    whole, rest = np.divmod(values.astype(np.int64, copy=False), unit)
    return np.where(missing, np.nan, whole + rest / unit)
