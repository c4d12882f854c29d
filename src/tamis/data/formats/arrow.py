"""Columns of Arrow as arrays of numpy: what they hold, their numbers, a target among them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.data.encode import decoded, encode, floats, is_text, kind_of, plain, plain_type
from tamis.data.formats.base import INTEGER, NARROW, OTHER, TEXT, WIDE, LabelType, TableFile
from tamis.data.formats.paths import import_package
from tamis.data.roles import ColumnCode


class ArrowFile(TableFile):
    """A file that pyarrow reads; a subclass has a ``schema``, and tells ``_set_columns`` of it."""

    schema: Any

    def __init__(self, path: Path):
        pa = import_package("pyarrow", f"reading {path.name}")
        super().__init__(path)
        self.damage = (pa.ArrowException, OSError, UnicodeDecodeError)

    def _set_columns(self, schema: Any) -> None:
        """Take names and kinds of the columns."""
        self.names, types = tuple(schema.names), schema.types
        if len(set(self.names)) < max(len(types), 1):
            from tamis.data.table import check_names

            check_names(self.path.name, self.names)
        known = {kind: _kind_and_word(plain_type(kind)) for kind in set(types)}
        self.kinds = np.array([known[kind][0] for kind in types], dtype=np.uint8)
        words = ((j, known[kind][1], kind) for j, kind in enumerate(types))
        self.others = {j: (word, str(kind)) for j, word, kind in words if word != "numeric"}

    def label_type(self, name: str) -> LabelType:
        """The type of a column in memory."""
        found = _label_type(self.schema.field(name).type)
        if isinstance(found, str):
            raise self.odd_label(name, found)
        return found


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


def _label_type(kind: Any) -> LabelType | str:
    """The type of a target in memory, or in words what it is instead of numbers and text."""
    from pyarrow import types

    kind = plain_type(kind)
    if types.is_dictionary(kind):
        return _label_type(kind.value_type)
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


def numbers_of(column: Any, code: ColumnCode | None) -> NDArray[Any]:
    """Numbers of an array of Arrow; nulls become NaN."""
    from pyarrow import types

    if code is not None:
        return encode(column, code)
    kind = column.type
    plain_numbers = types.is_floating(kind) or types.is_integer(kind)
    if plain_numbers or (types.is_boolean(kind) and column.null_count == 0):
        return column.to_numpy(zero_copy_only=False)
    return floats(plain(column))


def labels_of(column: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    """A target or weight as an array; a null becomes NaN among numbers, None elsewhere."""
    import pyarrow as pa
    from pyarrow import compute

    values = plain(column if hasattr(column, "chunks") else pa.chunked_array([column]))
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
