"""Read a table file of any supported format, or open many."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tamis.data.formats.arrow_ipc import IpcTable, read_feather
from tamis.data.formats.base import TableFile
from tamis.data.formats.dialect import read_text
from tamis.data.formats.hdf5 import H5adTable, Hdf5Table
from tamis.data.formats.npz import NpyTable, NpzTable, read_npz
from tamis.data.formats.parquet import ParquetTable, read_parquet
from tamis.data.formats.paths import check_file, table_format
from tamis.data.formats.patterns import find_files
from tamis.data.formats.text import CsvTable
from tamis.data.formats.zarr import ZarrTable
from tamis.data.table import RawTable

_READERS = {
    "csv": read_text,
    "tsv": read_text,
    "parquet": read_parquet,
    "feather": read_feather,
    "npz": read_npz,
}


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
    return _READERS[table_format(path)](path)


_TABLE_FILES: dict[str, type[Any]] = {
    "parquet": ParquetTable,
    "feather": IpcTable,
    "text": CsvTable,
    "npy": NpyTable,
    "npz": NpzTable,
    "hdf5": Hdf5Table,
    "h5ad": H5adTable,
    "zarr": ZarrTable,
}


def open_files(paths: Any) -> list[TableFile]:
    """Read the schemas and headers of all files."""
    found, kind = find_files(paths)
    return [_TABLE_FILES[kind](path) for path in found]
