"""How a text table is written, and what is wrong with it."""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any

from tamis.data.formats.base import first_line
from tamis.data.formats.paths import DELIMITERS, table_format
from tamis.exceptions import InputError


def is_gzip(path: Path) -> bool:
    """Tell whether the name says the file is gzip-compressed."""
    return path.name.lower().endswith(".gz")


def open_bytes(path: Path) -> Any:
    """Open a file for reading bytes."""
    return gzip.open(path, "rb") if is_gzip(path) else open(path, "rb")


def open_text_output(path: Path) -> IO[str]:
    """Open a file for writing UTF-8 text with line feeds."""
    opener = gzip.open if is_gzip(path) else open
    return opener(path, "wt", encoding="utf-8", newline="")


SAMPLE_LINES = 50
_ALTERNATIVES = (";", "\t", ",", "|")
_QUOTED = re.compile(r'"[^"]*"')
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d*,(\d+)(?:[eE][+-]?\d+)?\s*")
_DECIMAL_POINT = re.compile(r"\s*[+-]?\d*\.\d+(?:[eE][+-]?\d+)?\s*")


@dataclass(frozen=True)
class TextDialect:
    """How a text table is written.

    Parameters
    ----------
    delimiter : str
        What stands between two cells.
    decimal_point : str
        ``"."`` or ``","``.
    row_bytes : int
        The longest of the first lines, to choose how much to read at a time.
    """

    delimiter: str = ","
    decimal_point: str = "."
    row_bytes: int = 0

    @property
    def label(self) -> str:
        """The separator in words."""
        return "a tab" if self.delimiter == "\t" else repr(self.delimiter)


def sniff(path: Path) -> tuple[TextDialect, list[str]]:
    """Find the dialect of a file; the second result holds notes on what was unusual."""
    lines = _first_lines(path)
    if not lines:
        raise InputError(f"{path.name}: expected a line of column names, got only blank lines.")
    usual = DELIMITERS[table_format(path)]
    header = _header(lines)
    delimiter = _delimiter(header, usual)
    comma = delimiter != "," and _uses_decimal_comma(lines, delimiter)
    longest = max(len(line.encode()) for line in lines)
    dialect = TextDialect(delimiter, "," if comma else ".", longest)
    notes = [f"{path.name} is separated by {dialect.label}"] if delimiter != usual else []
    if comma:
        notes.append(f"{path.name} has decimal commas: '1,5' is read as 1.5")
    return dialect, notes


def _first_lines(path: Path) -> list[str]:
    """Decode the first lines that are not blank."""
    try:
        with open_bytes(path) as stream:
            raw = list(islice((line for line in stream if line.strip(b"\r\n")), SAMPLE_LINES))
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


def _header(lines: list[str]) -> str:
    """Join lines until the quotes of the header are closed."""
    header = lines[0]
    for line in lines[1:]:
        if header.count('"') % 2 == 0:
            break
        header += "\n" + line
    return header


def _delimiter(header: str, usual: str) -> str:
    """Keep the usual separator if the header has it; else take the most frequent other one."""
    bare = _QUOTED.sub("", header)
    if usual in bare:
        return usual
    best = max(_ALTERNATIVES, key=bare.count)
    return best if best in bare else usual


def _uses_decimal_comma(lines: list[str], delimiter: str) -> bool:
    """Tell ``1,5`` from ``1,500``: only a fraction that is not three digits long proves it."""
    cells = [cell.strip('"') for line in lines[1:] for cell in line.split(delimiter)]
    if any(_DECIMAL_POINT.fullmatch(cell) for cell in cells):
        return False
    found = (_DECIMAL_COMMA.fullmatch(cell) for cell in cells)
    return any(match is not None and len(match[1]) != 3 for match in found)


_COUNTS = re.compile(r"Expected (\d+) columns, got (\d+)")
_MAGIC = {
    b"\x1f\x8b": "it looks gzip-compressed: add .gz to its name",
    b"PK": "it looks like a spreadsheet or zip archive: export it as CSV",
    b"PAR1": "it looks like Parquet: rename it to .parquet",
    b"\xff\xfe": "it looks like UTF-16: save it as UTF-8",
    b"\xfe\xff": "it looks like UTF-16: save it as UTF-8",
}


def not_utf8(path: Path) -> InputError:
    """Name the first line that is not UTF-8, and guess what the file is instead."""
    with open_bytes(path) as stream:
        start = stream.read(4)
    hint = next((text for magic, text in _MAGIC.items() if start.startswith(magic)), None)
    hint = hint or "save it as UTF-8 (for Latin-1: iconv -f latin1 -t utf-8)"
    line, byte = _first_bad_byte(path)
    return InputError(
        f"{path.name}: expected UTF-8 text, got byte 0x{byte:02x} on line {line:,}; {hint}."
    )


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
            "got no rows; check that the file was written to the end."
        )
    return InputError(f"{path.name}: expected a table as text, got: {first_line(error)}.")


def _ragged(path: Path, dialect: TextDialect, counts: re.Match[str]) -> InputError:
    found = _first_ragged_line(path, dialect)
    line, expected, got = found or (None, int(counts[1]), int(counts[2]))
    where = f"on line {line:,}" if line else "in one row"
    remedy = f"put quotes around a cell that holds {dialect.label}, or remove what is too much"
    if got < expected:
        remedy = f"add what is missing, or use one separator ({dialect.label}) in the whole file"
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
                if record and not expected:
                    expected = len(record)
                elif record and len(record) != expected:
                    return line, expected, len(record)
                line = reader.line_num + 1
        except csv.Error:  # a cell beyond the limit of the csv module
            return None
    return None


def _first_bad_byte(path: Path) -> tuple[int, int]:
    with open_bytes(path) as stream:
        for number, line in enumerate(stream, start=1):
            try:
                line.decode()
            except UnicodeDecodeError as error:
                return number, line[error.start]
            if b"\0" in line:
                return number, 0
    return 1, 0
