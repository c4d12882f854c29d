"""Parquet and Feather files that are read whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tamis.data.formats.arrow_ipc import is_ipc_stream
from tamis.data.formats.paths import first_line, import_package
from tamis.data.table import RawTable
from tamis.exceptions import InputError


def read_arrow(path: Path, kind: str) -> RawTable:
    """Read a "parquet" or "feather" file."""
    pa = import_package("pyarrow", f"reading {path.name}")
    try:
        arrow = _parquet(path) if kind == "parquet" else _feather(path)
        # Arrow trusts the offsets in the file; without this a damaged one can crash Python.
        arrow.validate(full=True)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"{path.name}: expected a {kind.capitalize()} file, got a damaged or other file "
            f"({first_line(error)}); write or download it again, or correct its extension."
        ) from error
    return RawTable.from_arrow(arrow, path)


def _parquet(path: Path) -> Any:
    """Read Parquet; folder names like ``year=2020`` do not become columns."""
    from pyarrow import parquet

    # Buffers of the whole file beside its columns would take twice the memory.
    with parquet.ParquetFile(path, pre_buffer=False) as file:
        return file.read()


def _feather(path: Path) -> Any:
    """Read Feather version 2, which is the Arrow IPC file format, or an Arrow IPC stream."""
    import pyarrow as pa
    from pyarrow import ipc

    opener = ipc.open_stream if is_ipc_stream(path) else ipc.open_file
    with pa.OSFile(str(path)) as source:
        return opener(source).read_all()
