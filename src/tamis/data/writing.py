"""Write a table file of any supported format.

Text is written cell by cell. A table that came from text is read again as text, so that ``007``,
``1.50`` and ``1e3`` stay what they are; only the quotes around a cell may change, since they are
written where CSV needs them. Blank lines and the kind of line ends are not kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from tamis._runtime.atomic import atomic_path
from tamis.data.encode import plain
from tamis.data.formats.arrow_ipc import write_feather
from tamis.data.formats.base import first_line, import_pyarrow
from tamis.data.formats.dialect import open_text_output, parse
from tamis.data.formats.parquet import write_parquet
from tamis.data.formats.paths import DELIMITERS, table_format
from tamis.data.table import RawTable
from tamis.exceptions import ColumnTypeError, InputError

if TYPE_CHECKING:
    import pyarrow as pa


def write_table(table: RawTable, path: str | Path, *, force: bool = False) -> None:
    r"""Write a table; the extension tells the format. Nothing is ever half written.

    Parameters
    ----------
    table : RawTable
        From :func:`read_table` or :func:`reduce_table`.
    path : str or Path
        Any extension that :func:`read_table` knows.
    force : bool, default=False
        Replace an existing file; the file that the table was read from is fine.

    Raises
    ------
    InputError
        When the extension is unknown, the file exists and `force` is false, the folder is missing
        or not writable, or the format cannot hold a column.

    Notes
    -----
    Parquet and Feather keep types, dictionaries, nulls and metadata. From text to text, every
    cell keeps its text (``007``, ``1.50``), and the separator stays unless the extension changes;
    quotes are written only where they are needed. From other formats to text, missing entries
    become empty cells. NPZ holds one numeric matrix ``X``, ``feature_names`` and the target that
    :func:`reduce_table` kept as ``y``; a column of text is an error.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from tamis.data import read_table, reduce_table, write_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     source, output = pathlib.Path(folder, "in.csv"), pathlib.Path(folder, "out.csv")
    ...     _ = source.write_text("a,b,kind\n007,1.50,x\n008,2.50,y\n")
    ...     write_table(reduce_table(read_table(source), ["a"], target="kind"), output)
    ...     output.read_text()
    'a,kind\n007,x\n008,y\n'
    """
    path = Path(path)
    kind = table_format(path)
    with atomic_path(path, force) as temporary:
        if kind == "npz":
            arrays: Any = as_arrays(table)
            np.savez_compressed(temporary, **arrays)
        else:
            _write_with_arrow(table, kind, path, temporary)


def _write_with_arrow(table: RawTable, kind: str, path: Path, temporary: Path) -> None:
    pa = import_pyarrow(f"writing {path.name}")
    try:
        if kind == "parquet":
            write_parquet(as_arrow(table), temporary)
        elif kind == "feather":
            write_feather(as_arrow(table), temporary)
        else:
            write_text(table, path, temporary)
    except pa.ArrowException as error:
        raise InputError(
            f"{path}: expected columns that {kind} can hold, got: {first_line(error)}; "
            "try another format."
        ) from error


def as_arrow(table: RawTable) -> pa.Table:
    """Return the table as Arrow, the target of an NPZ file as last column."""
    if table.arrow is not None:
        return table.arrow
    pa = import_pyarrow(f"writing the columns of {table.who}")
    if sparse.issparse(table.matrix):
        columns = _dense_columns(table.matrix)
    else:
        columns = [np.ascontiguousarray(column) for column in table.matrix.T]
    if table.target is not None:
        columns.append(table.target)
    return pa.table([pa.array(column) for column in columns], names=list(table.column_names))


def _dense_columns(matrix: sparse.csr_matrix) -> list[np.ndarray]:
    """Unpack column by column, by hand: slicing a sparse matrix 100,000 times takes seconds."""
    by_column = matrix.tocsc()
    by_column.sum_duplicates()
    columns = []
    for start, end in pairwise(by_column.indptr):
        column = np.zeros(matrix.shape[0], dtype=matrix.dtype)
        column[by_column.indices[start:end]] = by_column.data[start:end]
        columns.append(column)
    return columns


def as_arrays(table: RawTable) -> dict[str, np.ndarray]:
    """Return the arrays of an NPZ file that holds the table."""
    if table.arrow is not None:
        return _from_arrow(table)
    arrays = dict(table.extras)
    if sparse.issparse(table.matrix):
        m = table.matrix
        arrays |= {"data": m.data, "indices": m.indices, "indptr": m.indptr, "shape": m.shape}
    else:
        arrays["X"] = table.matrix
    if table.target is not None:
        arrays["y"] = table.target
    arrays["feature_names"] = np.array(table.names)
    return {name: np.asarray(value) for name, value in arrays.items()}


def _from_arrow(table: RawTable) -> dict[str, np.ndarray]:
    names = [name for name in table.names if name != table.target_name]
    columns = [_numbers(table, name) for name in names]
    X = np.empty((table.n_rows, len(names)), dtype=np.result_type(*columns))
    for j, column in enumerate(columns):
        X[:, j] = column
    arrays = {"X": X, "feature_names": np.array(names)}
    if table.target_name is not None:
        arrays["y"] = _labels(table)
    return arrays


def _numbers(table: RawTable, name: str) -> np.ndarray:
    """Return a numeric column as it is, with NaN for missing entries."""
    import pyarrow as pa
    from pyarrow import compute

    column = table.arrow[name]
    kind = column.type
    whole = pa.types.is_integer(kind) or pa.types.is_boolean(kind)
    if pa.types.is_decimal(kind) or pa.types.is_null(kind) or (whole and column.null_count):
        column = compute.cast(column, pa.float64(), safe=False)
    values = column.to_numpy()
    if values.dtype.kind not in "biuf":
        raise ColumnTypeError(
            f"{table.who}: expected numbers only, since NPZ holds one matrix, got {kind} in column "
            f"{name!r}; write .parquet, .feather or .csv instead."
        )
    return values


def _labels(table: RawTable) -> np.ndarray:
    """Return the target as numbers if it can be, else as text; a missing label becomes ''."""
    try:
        return _numbers(table, str(table.target_name))
    except ColumnTypeError:
        values = table.arrow[table.target_name].to_pylist()
    return np.array(["" if value is None else str(value) for value in values])


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
    assert table.dialect is not None
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
