"""Text tables that are not plain: other separators, decimal commas, and what is wrong."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from pathlib import Path
from typing import IO

from tamis.data.formats.dialect import TextDialect, is_gzip, open_bytes
from tamis.data.formats.paths import first_line
from tamis.exceptions import InputError

_COUNTS = re.compile(r"Expected (\d+) columns, got (\d+)")
_MAGIC = {
    b"\x1f\x8b": "it looks gzip-compressed: add .gz to its name",
    b"PK": "it looks like a spreadsheet or zip archive: export it as CSV",
    b"PAR1": "it looks like Parquet: rename it to .parquet",
    b"\xff\xfe": "it looks like UTF-16: save it as UTF-8",
    b"\xfe\xff": "it looks like UTF-16: save it as UTF-8",
}
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d*,(\d+)(?:[eE][+-]?\d+)?\s*")
_DECIMAL_POINT = re.compile(r"\s*[+-]?\d*\.\d+(?:[eE][+-]?\d+)?\s*")


def guess(
    path: Path, usual: TextDialect, header: str, lines: list[str]
) -> tuple[TextDialect, list[str]]:
    """Find the dialect from the names without quoted ones and some lines, and notes on it."""
    dialect, notes = usual, []
    best = max((";", "\t", ",", "|"), key=header.count)
    if usual.delimiter not in header and best in header:
        dialect = replace(dialect, delimiter=best)
        notes.append(f"{path.name} is separated by {_label(dialect)}")
    if dialect.delimiter != "," and _uses_decimal_comma(lines, dialect.delimiter):
        dialect = replace(dialect, decimal_point=",")
        notes.append(f"{path.name} has decimal commas: '1,5' is read as 1.5")
    return dialect, notes


def _label(dialect: TextDialect) -> str:
    return "a tab" if dialect.delimiter == "\t" else repr(dialect.delimiter)


def _uses_decimal_comma(lines: list[str], delimiter: str) -> bool:
    """Tell ``1,5`` from ``1,500``: only a fraction that is not three digits long proves it."""
    cells = [cell.strip('"') for line in lines for cell in line.split(delimiter)]
    if any(_DECIMAL_POINT.fullmatch(cell) for cell in cells):
        return False
    found = (_DECIMAL_COMMA.fullmatch(cell) for cell in cells)
    return any(match is not None and len(match[1]) != 3 for match in found)


def not_utf8(path: Path) -> InputError:
    """Name the first line that is not UTF-8, and guess what the file is instead."""
    with open_bytes(path) as stream:
        start = stream.read(4)
        stream.seek(0)
        number, byte = _first_bad_byte(stream)
    hint = next((text for magic, text in _MAGIC.items() if start.startswith(magic)), None)
    hint = hint or "save it as UTF-8 (for Latin-1: iconv -f latin1 -t utf-8)"
    return InputError(
        f"{path.name}: expected UTF-8 text, got byte 0x{byte:02x} on line {number:,}; {hint}."
    )


def _first_bad_byte(stream: IO[bytes]) -> tuple[int, int]:
    for number, line in enumerate(stream, start=1):
        try:
            line.decode()
        except UnicodeDecodeError as error:
            return number, line[error.start]
        if b"\0" in line:
            return number, 0
    return 1, 0


def unreadable(path: Path, error: Exception) -> InputError:
    """Report that the bytes could not be read or unpacked."""
    kind = "gzip-compressed text" if is_gzip(path) else "readable text"
    return InputError(
        f"{path.name}: expected {kind}, got a damaged or other file ({first_line(error)}); "
        "download or write it again."
    )


def parse_failure(path: Path, dialect: TextDialect, error: Exception) -> InputError:
    """Turn an error of Arrow's parser into one that names the line and the remedy."""
    if "straddling" in str(error):
        return InputError(
            f"{path.name}: expected rows of less than 2 GB, got a longer one; "
            "look for a quote that is not closed."
        )
    if (counts := _COUNTS.search(str(error))) is not None:
        return _ragged(path, dialect, counts)
    if "Empty CSV" in str(error):
        return InputError(
            f"{path.name}: expected a line of column names and at least one row of data, "
            "got no rows; check that the file was written to the end, and look for an open quote."
        )
    return InputError(f"{path.name}: expected a table as text, got: {first_line(error)}.")


def _ragged(path: Path, dialect: TextDialect, counts: re.Match[str]) -> InputError:
    found = _first_ragged_line(path, dialect)
    line, expected, got = found or (None, int(counts[1]), int(counts[2]))
    where = f"on line {line:,}" if line else "in one row"
    remedy = f"put quotes around a cell that holds {_label(dialect)}, or remove what is too much"
    if got < expected:
        remedy = f"add what is missing, or use one separator ({_label(dialect)}) in the whole file"
    elif got == expected + 1 and line == 2:
        remedy += "; if the first column holds row labels, give it a name in line 1"
    return InputError(
        f"{path.name}: expected {expected:,} fields on every line, as in the header, "
        f"got {got:,} {where}; {remedy}."
    )


def _first_ragged_line(path: Path, dialect: TextDialect) -> tuple[int, int, int] | None:
    """Read the file again with the csv module, which knows line numbers and Arrow does not."""
    with open_bytes(path) as raw:
        text = io.TextIOWrapper(raw, "utf-8-sig", "replace", newline="")
        reader = csv.reader(text, delimiter=dialect.delimiter)
        expected, line = 0, 1
        try:
            for record in reader:
                expected = expected or len(record)
                if record and len(record) != expected:
                    return line, expected, len(record)
                line = reader.line_num + 1
        except csv.Error:  # a cell beyond the limit of the csv module
            pass
    return None


def check_end(path: Path, last: str) -> None:
    """Refuse a file that ends within quotes, given its last cell."""
    tail = b""
    with open_bytes(path) as stream:
        while chunk := stream.read(1024**2):
            tail = (tail + chunk)[-4096:]
    if not tail.rstrip(b"\r\n").endswith(b'"'):
        raise InputError(
            f"{path.name}: expected every quote to be closed, got one open at the end of the file, "
            f"in the cell that starts with {last[:40]!r}; close it or remove it."
        )


def too_long(path: Path, limit: int) -> InputError:
    """Build the error for a line that has no end within the limit."""
    return InputError(
        f"{path.name}: expected lines below {limit // 2**20} MiB, got a longer one at its "
        "beginning. Check that it is a text table with line ends, or write it as Parquet."
    )
