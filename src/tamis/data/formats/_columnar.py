"""Parquet and Feather (Arrow IPC), both ways."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tamis.data.formats._arrow import first_line, import_pyarrow
from tamis.data.table import RawTable
from tamis.exceptions import InputError

if TYPE_CHECKING:
    import pyarrow as pa


def read_parquet(path: Path) -> RawTable:
    """Read one Parquet file; folder names like ``year=2020`` do not become columns."""
    pa = import_pyarrow(f"reading {path.name}")
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as file:
            arrow = file.read()
        arrow.validate(full=True)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise _damaged(path, "Parquet", error) from error
    return RawTable.from_arrow(arrow, path)


def read_feather(path: Path) -> RawTable:
    """Read Feather version 2, which is the Arrow IPC file format, or an Arrow IPC stream."""
    pa = import_pyarrow(f"reading {path.name}")
    from pyarrow import ipc

    with open(path, "rb") as stream:
        start = stream.read(6)
        stream.seek(0)
        if start.startswith(b"FEA1"):
            raise InputError(
                f"{path.name}: expected Feather version 2, got version 1; write it again with a "
                "recent pyarrow, or as Parquet."
            )
        try:
            opened = ipc.open_file(stream) if start == b"ARROW1" else ipc.open_stream(stream)
            arrow = opened.read_all()
            # Arrow trusts the offsets in the file; without this a damaged one can crash Python.
            arrow.validate(full=True)
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise _damaged(path, "Feather", error) from error
    return RawTable.from_arrow(arrow, path)


def write_parquet(arrow: pa.Table, path: Path) -> None:
    """Write Parquet with the Arrow schema inside, so that types come back as they were."""
    from pyarrow import parquet

    parquet.write_table(arrow, path)


def write_feather(arrow: pa.Table, path: Path) -> None:
    """Write Feather version 2."""
    import pyarrow as pa
    from pyarrow import ipc

    codec = "lz4" if pa.Codec.is_available("lz4") else None
    # One dictionary per column is all the format can hold; tables read in pieces have several.
    options = ipc.IpcWriteOptions(compression=codec, unify_dictionaries=True)
    with ipc.new_file(str(path), arrow.schema, options=options) as file:
        file.write_table(arrow)


def _damaged(path: Path, kind: str, error: Exception) -> InputError:
    return InputError(
        f"{path.name}: expected a {kind} file, got a damaged or other file ({first_line(error)}); "
        "write or download it again, or correct its extension."
    )
