"""Open the files of a scan: the format tells which class reads them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tamis.scanning._arrays import NpyTable, NpzTable
from tamis.scanning._csv import CsvTable
from tamis.scanning._file import TableFile
from tamis.scanning._hdf5 import H5adTable, Hdf5Table
from tamis.scanning._ipc import IpcTable
from tamis.scanning._parquet import ParquetTable
from tamis.scanning._paths import find_files
from tamis.scanning._zarr import ZarrTable

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
