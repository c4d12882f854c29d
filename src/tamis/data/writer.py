"""Write a table file of any supported format."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tamis._runtime.atomic import atomic_path
from tamis.data.formats._arrow import first_line, import_pyarrow
from tamis.data.formats._columnar import write_feather, write_parquet
from tamis.data.formats._convert import as_arrays, as_arrow
from tamis.data.formats._text_write import write_text
from tamis.data.formats.names import table_format
from tamis.data.table import RawTable
from tamis.exceptions import InputError


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
            np.savez_compressed(temporary, **as_arrays(table))
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
