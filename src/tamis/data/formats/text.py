"""CSV and TSV as a stream of blocks, in which a file is one part."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tamis.data.formats.arrow import ArrowFile
from tamis.data.formats.base import TEXT, LabelType, Piece, Request
from tamis.data.formats.batches import piece_of
from tamis.data.formats.dialect import (
    MAX_BLOCK,
    check_last_quote,
    csv_options,
    open_bytes,
    open_stream,
    sniff,
)
from tamis.data.formats.odd_text import not_utf8, parse_failure, unreadable
from tamis.data.roles import ColumnCode
from tamis.exceptions import ColumnTypeError, InputError

# Bytes of text that Arrow parses at a time; it reads some of them ahead.
LEAST_BYTES, LARGEST_BYTES = 64 * 2**10, 4 * 2**20
ROWS_TO_GUESS_FROM = 64

# What a target may be, in the order of Arrow's own inference.
_LABEL_TYPES = ("int64", "bool", "M8[D]", "M8[s]", "M8[ns]", "float64")

_NOT_A_NUMBER = re.compile(
    r"In CSV column #(\d+): (?:Row #(\d+): )?CSV conversion error to [^:]+: invalid value '(.*)'",
    re.DOTALL,
)


class _ConversionError(Exception):
    """A cell (column, row if known, text) is not of the type that was asked for."""


class TypesChangedError(Exception):
    """Rows that were read while columns were judged changed the type of one."""


class CsvTable(ArrowFile):
    """One CSV or TSV file.

    What the first rows hold tells columns of numbers from others; a cell further down that is no
    number is an error then.
    """

    format = "text"
    labels_need_reading = True
    part_rows = None

    def __init__(self, path: Path):
        super().__init__(path)
        import pyarrow as pa

        self.damage = ()  # every error has its own message below
        self.dialect, _ = sniff(path)
        block = max(LARGEST_BYTES, ROWS_TO_GUESS_FROM * self.dialect.row_bytes)
        try:
            with open_stream(path) as stream, self._open(stream, None, block) as reader:
                schema = reader.schema
        except pa.ArrowInvalid as error:
            if "Empty CSV" not in str(error):
                raise parse_failure(path, self.dialect, error) from error
            schema = self._schema_of_names(block)
        except OSError as error:
            raise unreadable(path, error) from error
        self._set_columns(schema)
        if any(map(pa.types.is_binary, schema.types)):
            raise not_utf8(path)

    def _schema_of_names(self, block: int) -> Any:
        """The schema of a line of names and nothing else; Arrow wants a line end after it."""
        import pyarrow as pa

        with open_bytes(self.path) as names:
            line = io.BytesIO(names.read(block) + b"\n")
        try:
            return self._open(line, None, block).schema
        except pa.ArrowInvalid as error:  # a quote that is never closed
            raise parse_failure(self.path, self.dialect, error) from error

    def _set_columns(self, schema: Any) -> None:
        self.schema = schema
        super()._set_columns(schema)

    def label_type(self, name: str) -> LabelType:
        """Numbers, booleans or dates if all rows hold them, else text; this reads the column.

        A column of text is found out by its first rows, so only others take the whole file.
        """
        self.check_unchanged()
        for dtype in _LABEL_TYPES:
            try:
                for _ in self._batches({name: _arrow_type(np.dtype(dtype))}, LARGEST_BYTES):
                    pass
            except _ConversionError:
                continue
            except InputError:
                self.check_unchanged()
                raise
            return np.dtype(dtype)
        return TEXT

    def read(self, part: int, request: Request) -> Iterator[Piece]:
        """Pieces of the file."""
        fields = [self.schema.field(int(j)) for j in request.columns]
        names = [field.name for field in fields]
        types = {f.name: _read_as(f.type, request.codes.get(f.name)) for f in fields}
        types |= {name: _arrow_type(dtype) for name, dtype in request.labels}
        size = request.rows * max(self.dialect.row_bytes, 1)
        size = min(max(size, LEAST_BYTES), LARGEST_BYTES)
        try:
            for batch in self._batches(types, size):
                for start in range(0, batch.num_rows, request.rows):
                    yield piece_of(batch.slice(start, request.rows), names, request)
        except _ConversionError as error:
            column, row, cell = error.args
            # Arrow counts the line of names as row 1.
            where = f" in row {int(row) - 1:,} below the names" if row else ""
            raise ColumnTypeError(
                f"{self.path.name}: expected numbers in column {self.schema.names[column]!r}, got "
                f"{cell!r}{where}; correct it, or name the columns to use with columns=."
            ) from error.__cause__

    def batches(self, part: int, names: list[str], rows: int) -> Iterator[Any]:
        """Record batches of some columns, with the types that the first rows have.

        Where a cell further down is of another type, the column gets the next more general one
        and `TypesChangedError` is raised.
        """
        types = {name: self.schema.field(name).type for name in names}
        try:
            yield from self._batches(types, LARGEST_BYTES)
        except _ConversionError as error:
            column, _, cell = error.args
            field = self.schema.field(column)
            field = field.with_type(_generalised(field.type, cell))
            self._set_columns(self.schema.set(column, field))
            raise TypesChangedError from error

    def _batches(self, types: Mapping[str, Any], block: int) -> Iterator[Any]:
        """Record batches of some columns; the block grows until the longest row fits."""
        import pyarrow as pa

        # A quote that is not closed shows in the last column, wherever it was opened.
        last_name = self.schema.names[-1]
        types = {last_name: pa.string(), **types}
        block = max(block, 2 * self.dialect.row_bytes)
        n_rows, last = 0, None
        while True:
            seen = 0
            try:
                with open_stream(self.path) as stream, self._open(stream, types, block) as reader:
                    for batch in reader:
                        # After a longer row, the file is read again up to it.
                        new = batch.slice(min(max(n_rows - seen, 0), batch.num_rows))
                        seen += batch.num_rows
                        n_rows = max(n_rows, seen)
                        if new.num_rows:
                            last = new.slice(new.num_rows - 1)
                            yield new
                break
            except pa.ArrowInvalid as error:
                if "Empty CSV" in str(error):  # a line of names and nothing else
                    return
                if "straddling" not in str(error) or block >= MAX_BLOCK:
                    raise self._explained(error) from error
                block *= 8
            except OSError as error:
                raise unreadable(self.path, error) from error
        if last is not None:
            check_last_quote(self.path, last.select([last_name]))

    def _open(self, stream: Any, types: Mapping[str, Any] | None, block: int) -> Any:
        from pyarrow import csv

        options = csv_options(self.dialect, min(block, MAX_BLOCK), types, use_threads=False)
        return csv.open_csv(stream, **options)

    def _explained(self, error: Exception) -> Exception:
        if "invalid UTF8" in str(error):
            return not_utf8(self.path)
        if found := _NOT_A_NUMBER.search(str(error)):
            return _ConversionError(int(found[1]), found[2], found[3])
        return parse_failure(self.path, self.dialect, error)


def _read_as(kind: Any, code: ColumnCode | None) -> Any:
    """The Arrow type that a column of some inferred type is read as."""
    import pyarrow as pa

    if code is None:
        return kind if pa.types.is_boolean(kind) else pa.float64()
    if code.kind == "category":
        return pa.string()
    return pa.timestamp("s") if pa.types.is_null(kind) else kind


def _generalised(kind: Any, cell: str) -> Any:
    """The type of a column that has held values of one type so far, and now a cell of no such."""
    import pyarrow as pa
    from pyarrow import csv

    if pa.types.is_null(kind):
        quoted = '"' + cell.replace('"', '""') + '"'
        return csv.read_csv(io.BytesIO(f"x\n{quoted}\n".encode())).schema.types[0]
    if pa.types.is_integer(kind):
        return pa.float64()
    if pa.types.is_date(kind):
        return pa.timestamp("s")
    return pa.timestamp("ns") if kind == pa.timestamp("s") else pa.string()


def _arrow_type(dtype: np.dtype[Any]) -> Any:
    import pyarrow as pa

    return pa.string() if dtype == TEXT else pa.from_numpy_dtype(dtype)
