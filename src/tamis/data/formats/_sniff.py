"""Look at the first lines of a text table: separator, decimal mark, length of a row."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from tamis.data.formats._streams import open_bytes
from tamis.data.formats._text_errors import not_utf8, unreadable
from tamis.data.formats.names import DELIMITERS, table_format
from tamis.exceptions import InputError

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
