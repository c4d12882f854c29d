"""CSV and TSV: read whole, or as a stream in which a file is one part."""

from __future__ import annotations

import csv as plain_csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tamis.data.formats.base import (
    TEXT,
    LabelType,
    Piece,
    Request,
    TableFile,
    TypesChangedError,
    check_names,
    import_pyarrow,
)
from tamis.data.formats.batches import column_kinds, piece_of
from tamis.data.formats.dialect import (
    TextDialect,
    is_gzip,
    not_utf8,
    open_bytes,
    parse_failure,
    sniff,
    unreadable,
)
from tamis.data.roles import ColumnCode, is_number
from tamis.data.table import RawTable
from tamis.exceptions import ColumnTypeError, InputError

if TYPE_CHECKING:
    import pyarrow as pa


MISSING_WORDS = ("", "NA", "N/A", "NaN", "nan", "null", "None", "?")

# Arrow reads in blocks, and a row must fit in one. Many rows per block keep the columns of a wide
# table from falling into a chunk per row or two.
MIN_BLOCK = 4 * 1024**2
MAX_BLOCK = 2**31 - 1
ROWS_PER_BLOCK = 64


def read_text(path: Path) -> RawTable:
    """Read a CSV or TSV file, with types found from all its rows."""
    import_pyarrow(f"reading {path.name}")
    dialect, notes = sniff(path)
    arrow = parse(path, dialect)
    _check_encoding(path, arrow)
    _check_last_quote(path, arrow)
    if len(arrow.column_names) > 1 and all(map(is_number, arrow.column_names)):
        notes.append(
            f"all column names of {path.name} are numbers; if its first line is data, put a line "
            "of names above it"
        )
    return RawTable.from_arrow(arrow, path, dialect=dialect, notes=notes)


def parse(path: Path, dialect: TextDialect, text_columns: Sequence[str] | None = None) -> pa.Table:
    """Parse the file; with `text_columns`, only those, each cell as the text it is.

    The block grows until the longest row fits, since only the first rows were measured.
    """
    import pyarrow as pa
    from pyarrow import csv

    block = min(max(MIN_BLOCK, ROWS_PER_BLOCK * dialect.row_bytes), MAX_BLOCK)
    while True:
        try:
            with pa.input_stream(str(path), compression="gzip" if is_gzip(path) else None) as file:
                return csv.read_csv(
                    file,
                    read_options=csv.ReadOptions(block_size=block),
                    parse_options=csv.ParseOptions(
                        delimiter=dialect.delimiter, newlines_in_values=True
                    ),
                    convert_options=_conversion(dialect, text_columns),
                )
        except pa.ArrowInvalid as error:
            if "straddling" not in str(error) or block == MAX_BLOCK:
                raise parse_failure(path, dialect, error) from error
            block = min(block * 8, MAX_BLOCK)
        except OSError as error:
            raise unreadable(path, error) from error


def _conversion(dialect: TextDialect, text_columns: Sequence[str] | None) -> Any:
    import pyarrow as pa
    from pyarrow import csv

    if text_columns is not None:
        return csv.ConvertOptions(
            include_columns=list(text_columns),
            column_types=dict.fromkeys(text_columns, pa.string()),
            null_values=[],
            strings_can_be_null=False,
        )
    return csv.ConvertOptions(
        null_values=list(MISSING_WORDS),
        strings_can_be_null=True,
        decimal_point=dialect.decimal_point,
    )


def _check_encoding(path: Path, arrow: pa.Table) -> None:
    """Arrow keeps bytes that are not UTF-8 as a binary column; no text file means that."""
    import pyarrow as pa

    if any(pa.types.is_binary(kind) for kind in arrow.schema.types):
        raise not_utf8(path)


def _check_last_quote(path: Path, arrow: pa.Table) -> None:
    """Refuse a quote that is never closed: Arrow would put the rest of the file in one cell."""
    import pyarrow as pa

    if arrow.num_rows == 0 or not pa.types.is_string(arrow.schema.types[-1]):
        return
    last = arrow.column(-1)[arrow.num_rows - 1].as_py()
    if last is None or not ("\n" in last or "\r" in last):
        return
    if not _tail(path).rstrip(b"\r\n").endswith(b'"'):
        raise InputError(
            f"{path.name}: expected every quote to be closed, got one open at the end of the file, "
            f"in the cell that starts with {last[:40]!r}; close it or remove it."
        )


def _tail(path: Path) -> bytes:
    tail = b""
    with open_bytes(path) as stream:
        while chunk := stream.read(1024**2):
            tail = (tail + chunk)[-4096:]
    return tail


# Bytes of text that Arrow parses at a time; it reads some of them ahead.
LEAST_BYTES, LARGEST_BYTES = 64 * 2**10, 4 * 2**20
ROWS_TO_GUESS_FROM = 64

# What a target may be, in the order of Arrow's own inference.
_LABEL_TYPES = ("int64", "bool", "M8[D]", "M8[s]", "M8[ns]", "float64")

_NOT_A_NUMBER = re.compile(
    r"In CSV column #(\d+): (?:Row #(\d+): )?CSV conversion error to [^:]+: invalid value '(.*)'",
    re.DOTALL,
)


class CsvTable(TableFile):
    """One CSV or TSV file.

    What the first rows hold tells columns of numbers from others; a cell further down that is no
    number is an error then.
    """

    format = "text"
    labels_need_reading = True
    part_rows = None

    def __init__(self, path: Path):
        pa = import_pyarrow(f"reading {path.name}")
        super().__init__(path)
        self.damage = ()  # every error has its own message below
        self.dialect, _ = sniff(path)
        block = max(LARGEST_BYTES, ROWS_TO_GUESS_FROM * self.dialect.row_bytes)
        try:
            with self._open(None, min(block, MAX_BLOCK)) as reader:
                schema = reader.schema
        except pa.ArrowInvalid as error:
            if "Empty CSV" not in str(error):
                raise parse_failure(path, self.dialect, error) from error
            # Only a line of names, and no line end after it.
            schema = pa.schema([(name, pa.null()) for name in self._header()])
        except OSError as error:
            raise unreadable(path, error) from error
        self.names = tuple(schema.names)
        check_names(path.name, self.names)
        if any(pa.types.is_binary(kind) for kind in schema.types):
            raise not_utf8(path)
        self._set_schema(schema)

    def _set_schema(self, schema: Any) -> None:
        self.schema = schema
        self.kinds, self.others = column_kinds(schema)

    def _header(self) -> list[str]:
        with open_bytes(self.path) as raw:
            text = io.TextIOWrapper(raw, "utf-8-sig", newline="")
            rows = plain_csv.reader(text, delimiter=self.dialect.delimiter)
            return next(row for row in rows if row)

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
        assert self.names is not None
        names = [self.names[j] for j in request.columns]
        known = self.schema.types
        types = {
            self.names[j]: _read_as(known[j], request.codes.get(self.names[j]))
            for j in request.columns
        }
        types |= {name: _arrow_type(dtype) for name, dtype in request.labels}
        size = request.rows * max(self.dialect.row_bytes, 1)
        size = min(max(size, LEAST_BYTES), LARGEST_BYTES)
        try:
            for batch in self._batches(types, size):
                for start in range(0, batch.num_rows, request.rows):
                    yield piece_of(batch.slice(start, request.rows), names, request)
        except _ConversionError as error:
            raise self._not_a_number(error) from error.__cause__

    def batches(self, part: int, names: list[str], rows: int) -> Iterator[Any]:
        """Record batches of some columns, with the types that the first rows have.

        Where a cell further down is of another type, the column gets the next more general one
        and `TypesChangedError` is raised.
        """
        known = dict(zip(self.schema.names, self.schema.types, strict=True))
        types = {name: known[name] for name in names}
        try:
            yield from self._batches(types, LARGEST_BYTES)
        except _ConversionError as error:
            found = _NOT_A_NUMBER.search(str(error))
            assert found is not None
            column = int(found[1])
            field = self.schema.field(column)
            field = field.with_type(_generalised(field.type, found[3]))
            self._set_schema(self.schema.set(column, field))
            raise TypesChangedError from error

    def _batches(self, types: Mapping[str, Any], block: int) -> Iterator[Any]:
        """Record batches of some columns; the block grows until the longest row fits."""
        import pyarrow as pa

        assert self.names is not None
        # A quote that is not closed shows in the last column, wherever it was opened.
        types = {self.names[-1]: pa.string(), **types}
        block = max(block, 2 * self.dialect.row_bytes)
        n_rows, last = 0, None
        while True:
            seen = 0
            try:
                with self._open(types, min(block, MAX_BLOCK)) as reader:
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
            column = last.select([self.names[-1]])
            _check_last_quote(self.path, pa.Table.from_batches([column]))

    @contextmanager
    def _open(self, types: Mapping[str, Any] | None, block: int) -> Iterator[Any]:
        import pyarrow as pa
        from pyarrow import csv

        conversion = csv.ConvertOptions(
            null_values=list(MISSING_WORDS),
            strings_can_be_null=True,
            decimal_point=self.dialect.decimal_point,
            column_types=types,
            include_columns=None if types is None else list(types),
        )
        parsing = csv.ParseOptions(delimiter=self.dialect.delimiter, newlines_in_values=True)
        compression = "gzip" if is_gzip(self.path) else None
        with (
            pa.input_stream(str(self.path), compression=compression) as stream,
            csv.open_csv(
                stream,
                read_options=csv.ReadOptions(block_size=block, use_threads=False),
                parse_options=parsing,
                convert_options=conversion,
            ) as reader,
        ):
            yield reader

    def _explained(self, error: Exception) -> Exception:
        if "invalid UTF8" in str(error):
            return not_utf8(self.path)
        if _NOT_A_NUMBER.search(str(error)):
            return _ConversionError(str(error))
        return parse_failure(self.path, self.dialect, error)

    def _not_a_number(self, error: _ConversionError) -> InputError:
        found = _NOT_A_NUMBER.search(str(error))
        assert found is not None
        assert self.names is not None
        column, row, value = found.groups()
        # Arrow counts the line of names as row 1.
        where = f" in row {int(row) - 1:,} below the names" if row else ""
        return ColumnTypeError(
            f"{self.path.name}: expected numbers in column {self.names[int(column)]!r}, "
            f"got {value!r}{where}; correct it, or name the columns to use with columns=."
        )


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


class _ConversionError(Exception):
    """A cell is not of the type that was asked for."""


def _arrow_type(dtype: np.dtype[Any]) -> Any:
    import pyarrow as pa

    if dtype == TEXT:
        return pa.string()
    return pa.from_numpy_dtype(dtype)
