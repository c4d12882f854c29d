"""Read a table file of any supported format."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tamis.data.formats.arrow_ipc import is_ipc_stream
from tamis.data.formats.dialect import read_text
from tamis.data.formats.npz import read_npz
from tamis.data.formats.paths import (
    FORMATS,
    check_file,
    first_line,
    format_among,
    import_package,
)
from tamis.data.table import RawTable
from tamis.exceptions import InputError


def table_format(path: str | Path) -> str:
    """Tell the format of a table from the extension of its file, in any case.

    Call it on an output before long work: a wrong extension is an error at once.

    Parameters
    ----------
    path : str or Path
        Name of a file; it need not exist.

    Returns
    -------
    str
        ``"csv"``, ``"tsv"``, ``"parquet"``, ``"feather"`` or ``"npz"``.

    Raises
    ------
    InputError
        When the extension is not one of those listed in the message.

    Examples
    --------
    >>> from tamis.data import table_format
    >>> table_format("flowers.CSV.gz"), table_format("flowers.pq")
    ('csv', 'parquet')
    """
    return format_among(FORMATS, Path(path))


def read_table(path: str | Path) -> RawTable:
    r"""Read a table; the extension tells the format.

    Parameters
    ----------
    path : str or Path
        ``.csv``; ``.tsv`` or ``.txt`` (tab-separated); these three with ``.gz``; ``.parquet`` or
        ``.pq``; ``.feather``, ``.arrow`` or ``.ipc``; ``.npz``.

    Returns
    -------
    RawTable
        The table with its types, untouched.

    Raises
    ------
    InputError
        When the file cannot be read as a table; the message says why, where and what to do.
    MissingDependencyError
        When pyarrow is needed and not installed.

    Notes
    -----
    Text: UTF-8 with or without a byte order mark, any line ends, cells in double quotes may hold
    separators and line breaks. Empty cells and ``NA N/A NaN nan null None ?`` are missing. When
    the header has no separator of the expected kind but has semicolons, commas, tabs or bars,
    those are used and a note says so; decimal commas likewise. Blank lines are not rows.

    NPZ: ``X`` (dense) or ``data, indices, indptr, shape`` (CSR, or CSC with ``format``), with
    ``y`` and ``feature_names`` where there are any. Pickled objects are never loaded; a sparse
    matrix stays sparse. Repeated feature names get a number and a note.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from tamis.data import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "flowers.csv")
    ...     _ = path.write_text("petal,species\n1.4,setosa\n4.7,virginica\n")
    ...     table = read_table(path)
    >>> table.names, table.n_rows
    (('petal', 'species'), 2)
    """
    path = Path(path)
    check_file(path)
    kind = table_format(path)
    if kind == "parquet":
        # Folder names like ``year=2020`` do not become columns.
        return _read_arrow(path, "Parquet", _parquet)
    if kind == "feather":
        return _read_arrow(path, "Feather", _feather)
    return read_npz(path) if kind == "npz" else read_text(path)


def _read_arrow(path: Path, kind: str, read: Callable[[Path], Any]) -> RawTable:
    pa = import_package("pyarrow", f"reading {path.name}")
    try:
        arrow = read(path)
        # Arrow trusts the offsets in the file; without this a damaged one can crash Python.
        arrow.validate(full=True)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"{path.name}: expected a {kind} file, got a damaged or other file "
            f"({first_line(error)}); write or download it again, or correct its extension."
        ) from error
    return RawTable.from_arrow(arrow, path)


def _parquet(path: Path) -> Any:
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        return file.read()


def _feather(path: Path) -> Any:
    """Read Feather version 2, which is the Arrow IPC file format, or an Arrow IPC stream."""
    import pyarrow as pa
    from pyarrow import ipc

    opener = ipc.open_stream if is_ipc_stream(path) else ipc.open_file
    with pa.OSFile(str(path)) as source:
        return opener(source).read_all()
