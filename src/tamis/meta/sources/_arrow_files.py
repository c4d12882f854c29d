"""Parts of Parquet and Feather files: names, number of rows, some columns."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tamis.data.formats.base import first_line, import_pyarrow
from tamis.exceptions import InputError

PARQUET = (".parquet", ".pq")
FORMATS = (*PARQUET, ".feather", ".arrow", ".ipc")


def column_names(path: Path) -> list[str]:
    """Names of the columns, each once."""
    with _opened(path) as file:
        names = list((file.schema_arrow if _is_parquet(path) else file.schema).names)
    if len(set(names)) < len(names):
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise InputError(
            f"{path.name}: expected every column name once, got {twice!r} {names.count(twice)} "
            "times."
        )
    return names


def count_rows(path: Path) -> int:
    """Number of rows of a file."""
    with _opened(path) as file:
        if _is_parquet(path):
            return int(file.metadata.num_rows)
    with _opened(path, [0]) as file:
        return int(file.read_all().num_rows)


def read_file_columns(path: Path, names: list[str]) -> Any:
    """Arrow table of some columns, in this order."""
    if _is_parquet(path):
        with _opened(path) as file:
            # "a" would also bring a column "a.b"; hence the selection by name afterwards.
            table = file.read(columns=names)
    else:
        with _opened(path) as file:
            places = [file.schema.get_field_index(name) for name in names]
        with _opened(path, places) as file:
            table = file.read_all()
    # Arrow trusts the offsets in the file; without this a damaged one can crash Python.
    table.validate(full=True)
    return table.select(names)


@contextlib.contextmanager
def _opened(path: Path, places: list[int] | None = None) -> Iterator[Any]:
    """The file as pyarrow sees it; of Feather, only the columns at some places."""
    pa = import_pyarrow(f"reading {path.name}")
    from pyarrow import ipc, parquet

    try:
        if _is_parquet(path):
            with parquet.ParquetFile(path) as file:
                yield file
        else:
            with pa.memory_map(str(path)) as stream:
                yield ipc.open_file(stream, options=ipc.IpcReadOptions(included_fields=places))
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        kind = "Parquet" if _is_parquet(path) else "Feather (version 2)"
        raise InputError(
            f"{path.name}: expected a {kind} file, got a damaged or other file "
            f"({first_line(error)}); write it again, or correct its extension."
        ) from error


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() in PARQUET
