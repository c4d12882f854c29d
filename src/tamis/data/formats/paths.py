"""A file by its name: the format, whether it can be read, and the package that reads it."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from tamis.exceptions import InputError, MissingDependencyError

F = TypeVar("F")

FORMATS = {
    ".csv": "csv",
    ".csv.gz": "csv",
    ".tsv": "tsv",
    ".tsv.gz": "tsv",
    ".txt": "tsv",
    ".txt.gz": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".ipc": "feather",
    ".npz": "npz",
}
DELIMITERS = {"csv": ",", "tsv": "\t"}
_EXTRAS = {"pyarrow": "'tamis[cli]'"}  # what brings a package, if not itself


def format_among(formats: Mapping[str, F], path: Path) -> F:
    """The format of a file, by its extension."""
    name = path.name.lower()
    for extension, kind in formats.items():
        if name.endswith(extension):
            return kind
    extra = "save the sheet as CSV" if path.suffix.lower() in {".xls", ".xlsx"} else "convert it"
    raise InputError(
        f"{path.name}: expected a file ending in {', '.join(formats)}, "
        f"got {path.suffix or 'no extension'!r}; {extra} or rename it."
    )


def check_file(path: Path) -> None:
    """Open the file once, so that each way this can fail has its own message."""
    try:
        if not (path.is_file() or path.is_dir()) and path.exists():  # it might never end
            raise OSError(22, "a pipe or device, where a regular file is needed")
        with open(path, "rb") as stream:
            empty = not stream.read(1)
    except OSError as error:
        from tamis.data.formats.patterns import unreadable_path

        raise unreadable_path(path, error) from error
    if empty:
        raise InputError(f"{path.name}: expected a table, got an empty file (0 bytes).")


def import_package(package: str, purpose: str) -> Any:
    """Import an optional package for a purpose such as ``"reading flowers.csv"``."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise MissingDependencyError(
            f"{purpose} needs the package {package}, which is not installed; "
            f"run: pip install {_EXTRAS.get(package, package)}"
        ) from error


def first_line(error: BaseException) -> str:
    """Shorten an error of another package to something a reader can take in."""
    lines = str(error).strip().splitlines()
    return lines[0][:200].rstrip(" .") if lines else type(error).__name__
