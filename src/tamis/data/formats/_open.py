"""Open the files of a scan: the format tells which class reads them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tamis.data.formats._array_files import NpyTable, NpzTable
from tamis.data.formats._csv import CsvTable
from tamis.data.formats._file import TableFile
from tamis.data.formats._hdf5 import H5adTable, Hdf5Table
from tamis.data.formats._ipc import IpcTable
from tamis.data.formats._parquet import ParquetTable
from tamis.data.formats._paths import find_files
from tamis.data.formats._zarr import ZarrTable

_READERS: dict[str, Callable[[Path], TableFile]] = {
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
    return [_READERS[kind](path) for path in found]
