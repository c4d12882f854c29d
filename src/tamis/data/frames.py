"""Columns of pandas and polars: what the rules need to know of them, and how they become numbers.

As `tamis.data.encode` does for Arrow, with narwhals, which needs no other package.
"""

from __future__ import annotations

import datetime
import decimal
import numbers
from collections.abc import Callable, Mapping
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from tamis.data import encode, words_and_dates
from tamis.data.roles import JUDGED_VALUES, ColumnCode, ColumnFacts, first_repeat, judge
from tamis.data.words_and_dates import PER_SECOND, SECONDS_PER_DAY, in_units
from tamis.exceptions import ColumnTypeError, InputError

ENCODE = (
    "Encode it as numbers first (for example with sklearn.preprocessing.OrdinalEncoder), or leave "
    "it out; the tamis command does either by itself."
)
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_TYPES: tuple[tuple[Any, str], ...] = (
    (nw.Boolean, "boolean"),
    ((nw.Date, nw.Datetime), "date"),
    (nw.Time, "time"),
    (nw.Duration, "duration"),
    ((nw.Categorical, nw.Enum), "category"),
)
# Which kind a Python object is; a datetime is a date, and a bool is a number.
_OBJECTS: tuple[tuple[Any, str], ...] = (
    (str, "text"),
    ((bool, np.bool_), "boolean"),
    ((datetime.timedelta, np.timedelta64), "duration"),  # numpy's are integers as well
    ((numbers.Real, decimal.Decimal), "numeric"),
    ((datetime.date, np.datetime64), "date"),
    (datetime.time, "time"),
)


def is_frame(X: Any) -> bool:
    """Whether `X` is a pandas or polars DataFrame, an Arrow table or their like."""
    return not isinstance(X, np.ndarray) and bool(nw.dependencies.is_into_dataframe(X))


def coded_columns(X: Any) -> list[str]:
    """Names of the columns that are neither numbers nor booleans by their type."""
    schema = nw.from_native(X).collect_schema()
    return [name for name, dtype in schema.items() if not _is_plain(dtype)]


def _is_plain(dtype: Any) -> bool:
    return bool(dtype.is_numeric() or dtype == nw.Boolean)


def learn_codes(X: Any, who: str) -> dict[str, ColumnCode]:
    """How the columns of a frame become numbers that are not numbers by their type.

    Text and identifiers are errors: someone who passes a frame wants all of its columns.
    """
    return codes_from(frame_facts(X, coded_columns(X)), who)


def frame_facts(X: Any, names: list[str]) -> dict[str, ColumnFacts]:
    """What the rules need to know of some columns of a frame."""
    frame = nw.from_native(X)
    return {name: _facts_of(name, frame[name]) for name in names}


def codes_from(facts_by_name: dict[str, ColumnFacts], who: str) -> dict[str, ColumnCode]:
    """How columns become numbers; an error for those that cannot."""
    codes = {}
    for name, facts in facts_by_name.items():
        try:
            role, codes[name] = judge(name, facts, named=False)
        except TypeError as error:
            raise ColumnTypeError(
                f"{who}: expected values of one type in column {name!r}, got several. {ENCODE}"
            ) from error
        if not role.used:
            shown = facts.type_name if role.kind == "nested" else role.reason
            raise not_a_number(who, (name, shown))
    return codes


def encode_frame(X: Any, codes: Mapping[str, ColumnCode], who: str) -> NDArray[Any]:
    """All columns of a frame as one matrix of floats."""
    frame = nw.from_native(X)
    schema = frame.collect_schema()
    is_narrow = all(dtype == nw.Float32 for dtype in schema.values())
    matrix = np.empty(frame.shape, dtype=np.float32 if is_narrow else np.float64, order="F")
    for j, name in enumerate(frame.columns):
        code = codes.get(name)
        if code is None and not _is_plain(schema[name]):
            raise not_a_number(who, (name, f"{schema[name]}, where fit saw numbers"))
        if code is not None and code.kind == "category":
            _check_known(frame[name], code.categories, name, who)
        try:
            matrix[:, j] = _numbers(frame[name], code)
        except OverflowError as error:
            raise not_a_number(who, (name, "a number too large for float64")) from error
    return matrix


def not_a_number(who: str, column: tuple[Any, str]) -> ColumnTypeError:
    """Build the error for a column that cannot be used."""
    return ColumnTypeError(
        f"{who}: expected columns of numbers, categories or dates, got column {column[0]!r} with "
        f"{column[1]}. {ENCODE}"
    )


def _facts_of(name: str, column: Any) -> ColumnFacts:
    """What the rules need to know of a column, or of some rows of it."""
    if _is_arrow(column):
        return words_and_dates.facts_of(name, column.to_native())
    kind, type_name = _kind_of(column)
    facts = ColumnFacts(kind, type_name, len(column), int(column.null_count()))
    if kind not in {"text", "category"}:
        return facts
    if isinstance(column.dtype, nw.Enum):
        facts.order = tuple(column.cat.get_categories().to_list())
    present = column.drop_nulls()
    facts.first_repeat = first_repeat(present.head(JUDGED_VALUES).to_list())
    distinct = present.unique(maintain_order=True).to_list()
    facts.values = dict.fromkeys(distinct[: JUDGED_VALUES + 1] if kind == "text" else distinct)
    return facts


def _is_arrow(column: Any) -> bool:
    return type(column.to_native()).__module__.split(".")[0] == "pyarrow"


def _kind_of(column: Any) -> tuple[str, str]:
    """The kind of a column by its type, or by its values where they are Python objects."""
    dtype, name = column.dtype, str(column.dtype)
    if dtype.is_numeric():
        return "numeric", name
    if dtype in (nw.Object, nw.Unknown, nw.String):
        if column.is_null().all():
            return "numeric", name  # nothing that is not a number
        return ("text", name) if dtype == nw.String else _kind_of_objects(column)
    return next((kind for types, kind in _TYPES if isinstance(dtype, types)), "nested"), name


def _kind_of_objects(column: Any) -> tuple[str, str]:
    name = str(getattr(column.to_native(), "dtype", column.dtype))
    values = column.drop_nulls().to_list()
    kinds = set()
    for value in values:
        kinds.add(next((kind for types, kind in _OBJECTS if isinstance(value, types)), "nested"))
        if "nested" in kinds:
            break
    if kinds <= {"numeric", "boolean"}:
        return ("numeric" if "numeric" in kinds else "boolean"), name
    if len(kinds) == 1:
        return kinds.pop(), name
    odd = next((value for value in values if isinstance(value, str)), None)
    return "nested", name if odd is None else repr(odd)


def _numbers(column: Any, code: ColumnCode | None) -> NDArray[Any]:
    """Numbers of a column, NaN where an entry is missing."""
    if _is_arrow(column):
        return encode.encode(column.to_native(), code)
    if code is not None and code.kind == "category":
        position = {value: float(i) for i, value in enumerate(code.categories)}
        return _each(column, position.__getitem__)
    if code is not None and code.kind in _AS_NUMBER:
        return _instants(column, code.kind)
    values = column.to_numpy()
    if values.dtype.kind in "biuf" and not column.null_count():
        return values
    return _each(column, float)


def _check_known(column: Any, categories: tuple[Any, ...], name: str, who: str) -> None:
    known = set(categories)
    for value in column.drop_nulls().unique().to_list():
        if value not in known:
            raise InputError(
                f"{who}: expected the categories of column {name!r} that fit saw, got {value!r} as "
                "well. Fit on rows that hold every category, or encode the column first."
            )


def _each(column: Any, number: Callable[[Any], float]) -> NDArray[Any]:
    """A number for every value that is there."""
    cells = zip(column.to_list(), column.is_null().to_list(), strict=True)
    return np.array([np.nan if missing else number(value) for value, missing in cells], dtype=float)


def _instants(column: Any, kind: str) -> NDArray[Any]:
    """Days for dates and timestamps, seconds for times and durations."""
    dtype = column.dtype
    unit = getattr(dtype, "time_unit", "ms")
    if isinstance(dtype, nw.Duration):
        unit = "ns" if unit == "ns" else "us"
        total = column.dt.total_nanoseconds() if unit == "ns" else column.dt.total_microseconds()
        size = PER_SECOND[unit]
    elif isinstance(dtype, nw.Datetime | nw.Date):
        unit = "ms" if unit == "s" else unit
        total = column.dt.timestamp(unit)
        size = PER_SECOND[unit] * SECONDS_PER_DAY
    else:
        return _each(column, _AS_NUMBER[kind])
    return in_units(total.fill_null(0).to_numpy(), column.is_null().to_numpy(), size)


def _days(value: Any) -> float:
    if isinstance(value, np.datetime64):
        return float((value - np.datetime64(0, "D")) / np.timedelta64(1, "D"))
    if not isinstance(value, datetime.datetime):
        return float((value - _EPOCH.date()).days)
    value = value if value.tzinfo else value.replace(tzinfo=datetime.UTC)
    return (value - _EPOCH) / datetime.timedelta(days=1)


def _seconds_of_day(value: Any) -> float:
    return value.hour * 3600 + value.minute * 60 + value.second + value.microsecond / 1e6


_AS_NUMBER: dict[str, Callable[[Any], float]] = {
    "date": _days,
    "time": _seconds_of_day,
    "duration": lambda value: float(np.timedelta64(value) / np.timedelta64(1, "s")),
}
