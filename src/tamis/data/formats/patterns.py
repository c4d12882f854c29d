"""Which files a scan means: one, a list, a pattern or a folder."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tamis._runtime.wording import listed
from tamis.data.formats.paths import FORMATS, check_file, extension_of, not_found_message
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
            check_file(file)
    return files, next(iter(formats))


def _files_of(item: Any) -> list[Path]:
    if not isinstance(item, str | os.PathLike):
        raise InputError(
            f"scan: expected paths as str or Path, got {type(item).__name__}; "
            "for a table in memory, pass it to the selector directly."
        )
    path = Path(os.path.expanduser(os.fspath(item)))
    if path.exists():
        return _inside(path) if path.is_dir() and not _has_format(path) else [path]
    if not glob.has_magic(str(path)):
        raise InputError(not_found_message(path))
    matches = map(Path, glob.glob(str(path), recursive=True))
    found = sorted(match for match in matches if not match.is_dir() or _has_format(match))
    if not found:
        raise InputError(f"{item}: expected files of this pattern, got none; check the path.")
    return found


def _inside(folder: Path) -> list[Path]:
    """Tables of a folder; what writers leave beside them (``_SUCCESS``, ``.crc``) is none."""
    found = (path for path in folder.iterdir() if path.name[0] not in "._")
    tables = sorted(path for path in found if _has_format(path))
    if not tables:
        raise InputError(
            f"{folder}: expected tables in this folder, got none that end in {', '.join(SCANNED)}."
        )
    return tables


def _has_format(path: Path) -> bool:
    return path.name.lower().endswith(tuple(SCANNED))


def _format(path: Path) -> str:
    kind = SCANNED[extension_of(path, SCANNED)]
    return "text" if kind in {"csv", "tsv"} else kind


def _check_once(files: list[Path]) -> None:
    if len(set(files)) == len(files):
        return
    twice = sorted(file.name for file in set(files) if files.count(file) > 1)
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
