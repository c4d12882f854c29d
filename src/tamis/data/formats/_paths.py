"""From what a user calls a table to a list of files."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tamis._runtime.wording import listed
from tamis.data.formats.names import FORMATS
from tamis.data.reader import _check_file, _not_found_message
from tamis.exceptions import InputError

SCANNED = {
    **FORMATS,
    ".npy": "npy",
    ".h5": "hdf5",
    ".hdf5": "hdf5",
    ".h5ad": "h5ad",
    ".zarr": "zarr",
}


def find_files(paths: Any) -> tuple[list[Path], str]:
    """List the files in a settled order, and tell their format.

    A pattern and a folder are sorted by name; a list keeps its order.
    """
    single = isinstance(paths, str | os.PathLike)
    given = [paths] if single else list(paths)
    files = [file for item in given for file in _files_of(item)]
    if not files:
        raise InputError("scan: expected at least one file, got an empty list of paths.")
    _check_once(files)
    formats = {_format(file): file for file in reversed(files)}
    if len(formats) > 1:
        raise _mixed(formats.values())
    for file in files:
        if not (file.is_dir() and file.suffix.lower() == ".zarr"):
            _check_file(file)
    return files, next(iter(formats))


def _files_of(item: Any) -> list[Path]:
    if not isinstance(item, str | os.PathLike):
        raise InputError(
            f"scan: expected paths as str or Path, got {type(item).__name__}; "
            "for a table in memory, pass it to the selector directly."
        )
    path = Path(os.path.expanduser(os.fspath(item)))
    if path.exists():
        return _inside(path) if path.is_dir() and _extension(path) is None else [path]
    if not glob.has_magic(str(path)):
        raise InputError(_not_found_message(path))
    found = sorted(
        Path(name) for name in glob.glob(str(path), recursive=True) if _is_table(Path(name))
    )
    if not found:
        raise InputError(f"{item}: expected files of this pattern, got none; check the path.")
    return found


def _inside(folder: Path) -> list[Path]:
    """Tables of a folder; what writers leave beside them (``_SUCCESS``, ``.crc``) is none."""
    tables = sorted(
        path for path in folder.iterdir() if path.name[0] not in "._" and _extension(path)
    )
    if not tables:
        raise InputError(
            f"{folder}: expected tables in this folder, got none that end in {', '.join(SCANNED)}."
        )
    return tables


def _is_table(path: Path) -> bool:
    return not path.is_dir() or _extension(path) is not None


def _extension(path: Path) -> str | None:
    name = path.name.lower()
    return next((extension for extension in SCANNED if name.endswith(extension)), None)


def _format(path: Path) -> str:
    extension = _extension(path)
    if extension is None:
        raise InputError(
            f"{path.name}: expected a file ending in {', '.join(SCANNED)}, "
            f"got {path.suffix or 'no extension'!r}; convert it or rename it."
        )
    kind = SCANNED[extension]
    return "text" if kind in {"csv", "tsv"} else kind


def _check_once(files: list[Path]) -> None:
    if len(set(files)) == len(files):
        return
    twice = sorted(str(file) for file in set(files) if files.count(file) > 1)
    raise InputError(
        f"scan: expected every file once, got {listed(twice)} more than once; "
        "look for patterns that overlap."
    )


def _mixed(examples: Iterable[Path]) -> InputError:
    names = sorted(path.name for path in examples)
    return InputError(
        f"scan: expected files of one format, got {listed(names)}; "
        "name the files with a pattern such as '*.parquet'."
    )
