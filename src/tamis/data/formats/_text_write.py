"""Write CSV and TSV, cell by cell as text.

A table that came from text is read again as text, so that ``007``, ``1.50`` and ``1e3`` stay what
they are; only the quotes around a cell may change, since they are written where CSV needs them.
Blank lines and the kind of line ends are not kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tamis.data.encode import plain
from tamis.data.formats._convert import as_arrow
from tamis.data.formats._streams import open_text_output
from tamis.data.formats._text import parse
from tamis.data.formats.names import DELIMITERS, table_format
from tamis.data.table import RawTable
from tamis.exceptions import ColumnTypeError, InputError

if TYPE_CHECKING:
    import pyarrow as pa

# Cells turned into Python strings at a time: about 100 MB.
CELLS_AT_A_TIME = 1_000_000


def write_text(table: RawTable, path: Path, temporary: Path) -> None:
    """Write the table to `temporary` in the format that the name of `path` asks for."""
    delimiter = DELIMITERS[table_format(path)]
    if table.dialect is not None:
        arrow = _source_text(table)
        if table_format(table.path) == table_format(path):
            delimiter = table.dialect.delimiter
    else:
        arrow = _as_text(table)
    with open_text_output(temporary) as stream:
        stream.write(_header(table.column_names, delimiter))
        stream.writelines(_line(row, delimiter) for row in _rows(arrow))


def _source_text(table: RawTable) -> pa.Table:
    """Read the kept columns of the source once more, every cell as its text."""
    text = parse(table.path, table.dialect, table.names)
    if text.num_rows != table.n_rows:
        raise InputError(
            f"{table.who}: expected {table.n_rows:,} rows as before, got {text.num_rows:,}; "
            "the file changed meanwhile, run again."
        )
    return text


def _as_text(table: RawTable) -> pa.Table:
    """Turn every column into strings; missing entries become empty."""
    import pyarrow as pa

    arrow = as_arrow(table)
    columns = []
    for name, column in zip(arrow.column_names, arrow.columns, strict=True):
        column = plain(column)
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        try:
            columns.append(column.cast(pa.string()).fill_null(""))
        except pa.ArrowException as error:
            raise ColumnTypeError(
                f"{table.who}: expected columns that fit in text, got {column.type} in column "
                f"{name!r}; write .parquet or .feather instead."
            ) from error
    return pa.table(columns, names=arrow.column_names)


def _rows(arrow: pa.Table) -> Iterator[tuple[str, ...]]:
    step = max(1, CELLS_AT_A_TIME // arrow.num_columns)
    for start in range(0, arrow.num_rows, step):
        part = arrow.slice(start, step)
        yield from zip(*(column.to_pylist() for column in part.columns), strict=True)


def _header(names: Sequence[str], delimiter: str) -> str:
    """Quote a lone name that holds any separator, or the reader would take that for the one."""
    if len(names) == 1 and re.search(r"[;,|\t]", names[0]):
        return '"' + names[0].replace('"', '""') + '"\n'
    return _line(names, delimiter)


def _line(cells: Sequence[str], delimiter: str) -> str:
    """Join cells, with quotes only where they are needed; looked at one by one only then."""
    line = delimiter.join(cells)
    if not line:  # a blank line would not count as a row
        return '""\n'
    plain_row = line.count(delimiter) == len(cells) - 1 and not re.search(r'["\r\n]', line)
    return (line if plain_row else delimiter.join(_cell(c, delimiter) for c in cells)) + "\n"


def _cell(cell: str, delimiter: str) -> str:
    if delimiter in cell or re.search(r'["\r\n]', cell):
        return '"' + cell.replace('"', '""') + '"'
    return cell
