"""Decide what each column of an Arrow table is and whether it is used.

The rules, in this order:

- integers, real numbers, decimals: ``numeric``, except integers that are an *identifier*: all
  present values differ, there are at least `MIN_ROWS_FOR_IDENTIFIER` of them, and either the name
  says so (``id``, ``patient_id``, ``patientId``, ``uuid``, ``guid``, ``index``, ``rowid``,
  ``Unnamed: 0``, an empty name, ...) or they count up by one from row to row;
- booleans: ``boolean``, 0 and 1;
- dates and timestamps: ``date``, days since 1970-01-01; times of day and durations: seconds;
- strings that all differ, at least `MIN_ROWS_FOR_IDENTIFIER` of them: ``identifier``, left out;
- other strings: ``category`` if there are at most `MIN_CATEGORIES` different ones, or at least
  `ROWS_PER_CATEGORY` rows for each and no more than `MAX_CATEGORIES`; else ``text``, left out;
- dictionary-encoded columns: ``category`` whatever their number, unless they are an identifier;
- lists, structs, bytes and the like: ``nested``, left out.

A column that the caller names is used although it looks like text or an identifier.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tamis._runtime.wording import counted
from tamis.data._encode import categories_of, decoded
from tamis.data._kinds import count_missing, is_text, kind_of, plain
from tamis.data.prepared_table import ColumnRole

if TYPE_CHECKING:
    import pyarrow as pa

MIN_ROWS_FOR_IDENTIFIER = 10
MIN_CATEGORIES = 10
ROWS_PER_CATEGORY = 5
MAX_CATEGORIES = 1000

_ID_NAME = re.compile(
    r"|id|idx|index|uuid|guid|row|row[ _.-]?(id|number|num|no)|unnamed: ?\d+"
    r"|__index_level_\d+__|.*[ _.-](id|uuid|guid)",
    re.IGNORECASE,
)
_CAMEL_ID = re.compile(r".*[a-z0-9](Id|ID)")

_HOW = {
    "numeric": "numbers",
    "boolean": "false is 0, true is 1",
    "date": "days since 1970-01-01",
    "time": "seconds since midnight",
    "duration": "seconds",
}


def column_role(name: str, column: pa.ChunkedArray, named: bool) -> ColumnRole:
    """Apply the rules to one column; `named` says that the caller asked for it."""
    column = plain(column)
    kind = kind_of(column.type)
    if kind == "nested":
        return ColumnRole(name, kind, False, f"holds {column.type}, which is not a number")
    if kind in {"text", "category"}:
        return _words_role(name, column, named)
    n_missing = count_missing(column)
    n_distinct = _count_distinct(column) if _is_countable(column) else None
    if not named and n_distinct == len(column) - n_missing and _is_row_label(name, column):
        reason = f"identifier, all {n_distinct:,} values differ"
        return ColumnRole(name, "identifier", False, reason, n_missing, n_distinct)
    return ColumnRole(name, kind, True, _HOW[kind], n_missing, n_distinct)


def skipped_role(name: str, column: pa.ChunkedArray, reason: str) -> ColumnRole:
    """Record a column that the caller does not want, without looking into it."""
    return ColumnRole(name, kind_of(plain(column).type), False, reason, column.null_count)


def _words_role(name: str, column: pa.ChunkedArray, named: bool) -> ColumnRole:
    values = decoded(column)
    n_missing, n_distinct = values.null_count, _count_distinct(values)
    n_present = len(column) - n_missing
    if not named and n_distinct == n_present >= MIN_ROWS_FOR_IDENTIFIER:
        reason = f"identifier, all {n_distinct:,} values differ"
        return ColumnRole(name, "identifier", False, reason, n_missing, n_distinct)
    if not named and is_text(column.type) and n_distinct > _category_limit(n_present):
        values = counted(n_distinct, "different value")
        reason = f"free text, {values} in {counted(len(column), 'row')}"
        return ColumnRole(name, "text", False, reason, n_missing, n_distinct)
    order = "given" if getattr(column.type, "ordered", False) else "sorted"
    reason = f"codes of {counted(n_distinct, 'value')} in {order} order"
    labels = tuple(str(value) for value in categories_of(column))
    return ColumnRole(name, "category", True, reason, n_missing, n_distinct, labels)


def _category_limit(n_present: int) -> int:
    return max(MIN_CATEGORIES, min(MAX_CATEGORIES, n_present // ROWS_PER_CATEGORY))


def _is_countable(column: pa.ChunkedArray) -> bool:
    """Count whole numbers only: a million different real ones take half a second per column."""
    from pyarrow import types

    return types.is_integer(column.type) or types.is_boolean(column.type)


def _count_distinct(column: pa.ChunkedArray) -> int:
    from pyarrow import compute

    return compute.count_distinct(column, mode="only_valid").as_py()


def _is_row_label(name: str, column: pa.ChunkedArray) -> bool:
    """Tell an identifier among integer columns whose values are known to differ."""
    from pyarrow import types

    if not types.is_integer(column.type):
        return False
    if len(column) - column.null_count < MIN_ROWS_FOR_IDENTIFIER:
        return False
    return is_id_name(name) or _counts_up(column)


def is_id_name(name: str) -> bool:
    """Tell whether a column is named like an identifier."""
    name = name.strip()
    return bool(_ID_NAME.fullmatch(name) or _CAMEL_ID.fullmatch(name))


def _counts_up(column: pa.ChunkedArray) -> bool:
    """Tell whether every row holds one more than the row before."""
    if column.null_count:
        return False
    values = column.to_numpy()
    if int(values[-1]) - int(values[0]) != len(values) - 1:
        return False
    return bool((values[1:] == values[:-1] + 1).all())
