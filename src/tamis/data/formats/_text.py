"""Read CSV and TSV with Arrow."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tamis.data.formats._arrow import import_pyarrow
from tamis.data.formats._sniff import TextDialect, sniff
from tamis.data.formats._streams import is_gzip, open_bytes
from tamis.data.formats._text_errors import not_utf8, parse_failure, unreadable
from tamis.data.roles import is_number
from tamis.data.table import RawTable
from tamis.exceptions import InputError

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


def _conversion(dialect: TextDialect, text_columns: Sequence[str] | None):
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
