"""Keep some columns of a table, and write it in any supported format.

Text is written cell by cell. A table that came from text is read again as text, so that ``007``,
``1.50`` and ``1e3`` stay what they are; only the quotes around a cell may change, since they are
written where CSV needs them. Blank lines and the kind of line ends are not kept.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from tamis._runtime.atomic import atomic_path
from tamis._runtime.wording import unknown_column
from tamis.data import matrix_table
from tamis.data.encode import decoded, floats, plain
from tamis.data.formats.dialect import is_gzip, parse
from tamis.data.formats.paths import DELIMITERS, first_line, import_package
from tamis.data.reading import table_format
from tamis.data.table import RawTable
from tamis.exceptions import ColumnTypeError, InputError

if TYPE_CHECKING:
    import pyarrow as pa

# Cells turned into Python strings at a time: about 100 MB.
CELLS_AT_A_TIME = 1_000_000
_SPECIAL = re.compile(r'["\r\n]')


def reduce_table(table: RawTable, names: Iterable[str], *, target: str | None = None) -> RawTable:
    """Keep the named columns and the target; rows, types and metadata stay as they are.

    Parameters
    ----------
    table : RawTable
        What :func:`read_table` returned; it is not changed.
    names : iterable of str
        Columns to keep; their order does not matter.
    target : str or None, default=None
        Column to keep as well. The array ``y`` of an NPZ file is always kept.

    Returns
    -------
    RawTable
        The kept columns in their original order, the target at its original place. Other arrays
        of an NPZ file stay unless they have one entry per column or name columns by number; a
        note says which were left out.

    Raises
    ------
    InputError
        When a name is unknown, or `names` is empty.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tamis.data import RawTable, reduce_table
    >>> table = RawTable.from_arrow(pa.table({"a": [1], "kind": ["x"], "b": [2], "c": [3]}))
    >>> reduce_table(table, ["c", "a"], target="kind").names
    ('a', 'kind', 'c')
    """
    wanted = {names} if isinstance(names, str) else set(names)
    if not wanted - {target}:
        raise InputError(f"{table.who}: expected at least one column to keep, got none.")
    if target is not None:
        wanted.add(target)
    for name in sorted(wanted.difference(table.column_names)):
        raise unknown_column(table.who, name, table.column_names)
    if table.arrow is None:
        return matrix_table.reduced(table, wanted)
    kept = tuple(name for name in table.names if name in wanted)
    return replace(table, names=kept, arrow=table.arrow.select(kept), target_name=target)


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
            arrays: Any = _as_arrays(table)
            np.savez_compressed(temporary, **arrays)
            return
        pa = import_package("pyarrow", f"writing {path.name}")
        try:
            if kind == "parquet":
                from pyarrow import parquet

                parquet.write_table(_as_arrow(table), temporary)
            elif kind == "feather":
                _write_feather(_as_arrow(table), temporary)
            else:
                _write_text(table, path, temporary)
        except pa.ArrowException as error:
            raise InputError(
                f"{path}: expected columns that {kind} can hold, got: {first_line(error)}; "
                "try another format."
            ) from error


def _write_feather(arrow: pa.Table, path: Path) -> None:
    """Write Feather version 2."""
    import pyarrow as pa
    from pyarrow import ipc

    codec = "lz4" if pa.Codec.is_available("lz4") else None
    # One dictionary per column is all the format can hold; tables read in pieces have several.
    options = ipc.IpcWriteOptions(compression=codec, unify_dictionaries=True)
    with ipc.new_file(str(path), arrow.schema, options=options) as file:
        file.write_table(arrow)


def _as_arrow(table: RawTable) -> pa.Table:
    """Return the table as Arrow, the target of an NPZ file as last column."""
    if table.arrow is not None:
        return table.arrow
    pa = import_package("pyarrow", f"writing the columns of {table.who}")
    columns = _dense_columns(table.matrix) if sparse.issparse(table.matrix) else [*table.matrix.T]
    if table.target is not None:
        columns.append(table.target)
    arrays = [pa.array(np.ascontiguousarray(column)) for column in columns]
    return pa.table(arrays, names=list(table.column_names))


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


def _as_arrays(table: RawTable) -> dict[str, np.ndarray]:
    """Return the arrays of an NPZ file that holds the table."""
    m = table.matrix
    if m is None:
        names = [name for name in table.names if name != table.target_name]
        columns = [_numbers(table, name) for name in names]
        m = np.empty((table.n_rows, len(names)), dtype=np.result_type(*columns))
        for j, column in enumerate(columns):
            m[:, j] = column
        y = None if table.target_name is None else _labels(table)
    else:
        names, y = list(table.names), table.target
    arrays = dict(table.extras)
    if sparse.issparse(m):
        arrays |= {"data": m.data, "indices": m.indices, "indptr": m.indptr, "shape": m.shape}
    else:
        arrays["X"] = m
    if y is not None:
        arrays["y"] = y
    arrays["feature_names"] = np.array(names)
    return {name: np.asarray(value) for name, value in arrays.items()}


def _numbers(table: RawTable, name: str) -> np.ndarray:
    """Return a numeric column as it is, with NaN for missing entries."""
    from pyarrow import types

    column = table.arrow[name]
    kind = column.type
    has_holes = column.null_count and (types.is_integer(kind) or types.is_boolean(kind))
    as_floats = has_holes or types.is_decimal(kind) or types.is_null(kind)
    values = floats(column) if as_floats else column.to_numpy()
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


def _write_text(table: RawTable, path: Path, temporary: Path) -> None:
    """Write the table to `temporary` in the format that the name of `path` asks for."""
    delimiter = DELIMITERS[table_format(path)]
    if table.dialect is None:
        arrow = _as_text(table)
    else:
        # The kept columns of the source once more, every cell as its text.
        arrow = parse(table.path, table.dialect, table.names)
        if arrow.num_rows != table.n_rows:
            raise InputError(
                f"{table.who}: expected {table.n_rows:,} rows as before, got {arrow.num_rows:,}; "
                "the file changed meanwhile, run again."
            )
        if table_format(table.path) == table_format(path):
            delimiter = table.dialect.delimiter
    step = max(1, CELLS_AT_A_TIME // arrow.num_columns)
    names = table.column_names
    # A reader would take any separator in a lone name for that of the file.
    lone = len(names) == 1 and re.search(r"[;,|\t]", names[0])
    with open_text_output(temporary) as stream:
        stream.write(f"{_quoted(names[0])}\n" if lone else _line(names, delimiter))
        for start in range(0, arrow.num_rows, step):
            columns = (column.to_pylist() for column in arrow.slice(start, step).columns)
            stream.writelines(_line(row, delimiter) for row in zip(*columns, strict=True))


def _as_text(table: RawTable) -> pa.Table:
    """Turn every column into strings; missing entries become empty."""
    import pyarrow as pa

    arrow = _as_arrow(table)
    columns = []
    for name, column in zip(arrow.column_names, arrow.columns, strict=True):
        column = decoded(plain(column))
        try:
            columns.append(column.cast(pa.string()).fill_null(""))
        except pa.ArrowException as error:
            raise ColumnTypeError(
                f"{table.who}: expected columns that fit in text, got {column.type} in column "
                f"{name!r}; write .parquet or .feather instead."
            ) from error
    return pa.table(columns, names=arrow.column_names)


def _line(cells: Sequence[str], delimiter: str) -> str:
    """Join cells, with quotes only where they are needed; looked at one by one only then."""
    line = delimiter.join(cells)
    if not line:  # a blank line would not count as a row
        return '""\n'
    if line.count(delimiter) >= len(cells) or _SPECIAL.search(line):
        quoted = (_quoted(c) if delimiter in c or _SPECIAL.search(c) else c for c in cells)
        line = delimiter.join(quoted)
    return line + "\n"


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"'


def open_text_output(path: Path) -> IO[str]:
    """Open a file for writing UTF-8 text with line feeds."""
    opener = gzip.open if is_gzip(path) else open
    return opener(path, "wt", encoding="utf-8", newline="")
