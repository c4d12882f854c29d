"""CSV and TSV: how a file is written, and reading it whole."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tamis.data.encode import is_number
from tamis.data.formats.paths import DELIMITERS, FORMATS, format_among, import_package
from tamis.data.table import RawTable
from tamis.exceptions import InputError

if TYPE_CHECKING:
    import pyarrow as pa

MISSING_WORDS = ["", "NA", "N/A", "NaN", "nan", "null", "None", "?"]
SAMPLE_LINES = 50

# Arrow reads in blocks, and a row must fit in one. Many rows per block keep the columns of a wide
# table from falling into a chunk per row or two.
MIN_BLOCK = 4 * 1024**2
MAX_BLOCK = 2**28
LONGEST_LINE = 2**26
ROWS_PER_BLOCK = 64


@dataclass(frozen=True)
class TextDialect:
    """How a text table is written; `row_bytes` has the longest of its first lines."""

    delimiter: str = ","
    decimal_point: str = "."
    row_bytes: int = 0


def is_gzip(path: Path) -> bool:
    """Tell whether the name says the file is gzip-compressed."""
    return path.suffix.lower() == ".gz"


def open_bytes(path: Path) -> Any:
    """Open a file for reading bytes."""
    return gzip.open(path, "rb") if is_gzip(path) else open(path, "rb")


def read_text(path: Path) -> RawTable:
    """Read a CSV or TSV file, with types found from all its rows."""
    pa = import_package("pyarrow", f"reading {path.name}")
    from tamis.data.formats.odd_text import not_utf8

    dialect, notes = sniff(path)
    arrow = parse(path, dialect)
    # Arrow keeps bytes that are not UTF-8 as a binary column; no text file means that.
    if any(map(pa.types.is_binary, arrow.schema.types)):
        raise not_utf8(path)
    check_last_quote(path, arrow)
    if arrow.num_columns > 1 and all(map(is_number, arrow.column_names)):
        notes.append(
            f"all column names of {path.name} are numbers; if its first line is data, put a line "
            "of names above it"
        )
    return RawTable.from_arrow(arrow, path, dialect=dialect, notes=notes)


def sniff(path: Path) -> tuple[TextDialect, list[str]]:
    """Find the dialect of a file; the second result holds notes on what was unusual."""
    from tamis.data.formats.odd_text import guess

    lines = _first_lines(path)
    if not lines:
        raise InputError(f"{path.name}: expected a line of column names, got only blank lines.")
    header = lines[0]
    for line in lines[1:]:
        if header.count('"') % 2 == 0:
            break
        header += line  # a name may hold a line end
    header = re.sub(r'"[^"]*"', "", header)
    usual = DELIMITERS[format_among(FORMATS, path)]
    dialect = TextDialect(usual, row_bytes=max(len(line.encode()) for line in lines))
    if usual in header and usual == ",":
        return dialect, []
    return guess(path, dialect, header, lines[1:])


def _first_lines(path: Path) -> list[str]:
    """Decode the first lines that are not blank."""
    from tamis.data.formats.odd_text import not_utf8, too_long, unreadable

    raw: list[bytes] = []
    try:
        with open_bytes(path) as stream:
            while len(raw) < SAMPLE_LINES and (line := stream.readline(LONGEST_LINE)):
                if len(line) == LONGEST_LINE or (not raw and stream.tell() > LONGEST_LINE):
                    raise too_long(path, LONGEST_LINE)
                raw += [line] if line.strip(b"\r\n") else []
    except (OSError, EOFError, zlib.error) as error:
        raise unreadable(path, error) from error
    try:
        text = b"".join(raw).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise not_utf8(path) from error
    if "\0" in text:  # UTF-16 without a mark, or no text at all
        raise not_utf8(path)
    # A file with the line ends of old Macintoshes arrives as one line.
    return [line for line in re.split(r"\r\n|\r|\n", text) if line][:SAMPLE_LINES]


def parse(path: Path, dialect: TextDialect, text_columns: Sequence[str] | None = None) -> pa.Table:
    """Parse the file; with `text_columns`, only those, each cell as the text it is.

    The block grows until the longest row fits, since only the first rows were measured.
    """
    import pyarrow as pa
    from pyarrow import csv

    from tamis.data.formats.odd_text import parse_failure, unreadable

    as_text = text_columns is not None
    types = None if text_columns is None else dict.fromkeys(text_columns, pa.string())
    block = min(max(MIN_BLOCK, ROWS_PER_BLOCK * dialect.row_bytes), MAX_BLOCK)
    while True:
        try:
            with open_stream(path) as stream:
                return csv.read_csv(stream, **csv_options(dialect, block, types, as_text=as_text))
        except pa.ArrowInvalid as error:
            if "straddling" not in str(error) or block == MAX_BLOCK:
                raise parse_failure(path, dialect, error) from error
            block = min(block * 8, MAX_BLOCK)
        except OSError as error:
            raise unreadable(path, error) from error


def open_stream(path: Path) -> Any:
    """Open a file for Arrow."""
    import pyarrow as pa

    return pa.input_stream(str(path), compression="gzip" if is_gzip(path) else None)


def csv_options(
    dialect: TextDialect,
    block: int,
    types: Mapping[str, Any] | None,
    *,
    as_text: bool = False,
    use_threads: bool = True,
) -> dict[str, Any]:
    """Options of Arrow's parser; with `types`, only these columns are read."""
    from pyarrow import csv

    return {
        "read_options": csv.ReadOptions(block_size=block, use_threads=use_threads),
        "parse_options": csv.ParseOptions(delimiter=dialect.delimiter, newlines_in_values=True),
        "convert_options": csv.ConvertOptions(
            null_values=[] if as_text else MISSING_WORDS,
            strings_can_be_null=not as_text,
            decimal_point=dialect.decimal_point,
            column_types=types,
            include_columns=None if types is None else list(types),
        ),
    }


def check_last_quote(path: Path, arrow: Any) -> None:
    """Refuse a quote that is never closed: Arrow would put the rest of the file in one cell."""
    import pyarrow as pa

    from tamis.data.formats.odd_text import check_end

    if arrow.num_rows and pa.types.is_string(arrow.schema.types[-1]):
        last = arrow.column(arrow.num_columns - 1)[arrow.num_rows - 1].as_py() or ""
        if "\n" in last or "\r" in last:
            check_end(path, last)
