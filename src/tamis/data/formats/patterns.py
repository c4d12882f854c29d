"""Paths other than that of one readable file: lists, patterns, folders, and what is wrong."""

from __future__ import annotations

import glob
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tamis._runtime.wording import closest, listed
from tamis.data.formats.paths import FORMATS, format_among
from tamis.exceptions import InputError


def find_files(paths: Any, formats: Mapping[str, Any]) -> list[Path]:
    """List the files, of one of the formats by extension, in a settled order.

    A pattern and a folder are sorted by name; a list keeps its order.
    """
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    extensions = tuple(formats)
    files = [file for item in given for file in _files_of(item, extensions)]
    if not files:
        raise InputError("scan: expected at least one file, got an empty list of paths.")
    if len(set(files)) < len(files):
        twice = sorted(file.name for file in set(files) if files.count(file) > 1)
        raise InputError(
            f"scan: expected every file once, got {listed(twice)} more than once; "
            "look for patterns that overlap."
        )
    examples = {format_among(formats, file): file.name for file in reversed(files)}
    if len(examples) > 1:
        raise InputError(
            f"scan: expected files of one format, got {listed(sorted(examples.values()))}; "
            "name the files with a pattern such as '*.parquet'."
        )
    return files


def _files_of(item: Any, extensions: tuple[str, ...]) -> list[Path]:
    if not isinstance(item, str | os.PathLike):
        raise InputError(
            f"scan: expected paths as str or Path, got {type(item).__name__}; "
            "for a table in memory, pass it to the selector directly."
        )
    path = Path(os.path.expanduser(os.fspath(item)))
    if path.is_dir() and not _ends(path, extensions):
        return _inside(path, extensions)
    if path.exists():
        return [path]
    if not glob.has_magic(str(path)):
        raise InputError(_not_found_message(path))
    matches = map(Path, glob.glob(str(path), recursive=True))
    found = sorted(match for match in matches if not match.is_dir() or _ends(match, extensions))
    if not found:
        raise InputError(f"{item}: expected files of this pattern, got none; check the path.")
    return found


def _inside(folder: Path, extensions: tuple[str, ...]) -> list[Path]:
    """Tables of a folder; what writers leave beside them (``_SUCCESS``, ``.crc``) is none."""
    found = (path for path in folder.iterdir() if path.name[0] not in "._")
    tables = sorted(path for path in found if _ends(path, extensions))
    if not tables:
        raise InputError(
            f"{folder}: expected tables in this folder, got none that end in "
            f"{', '.join(extensions)}."
        )
    return tables


def _ends(path: Path, extensions: tuple[str, ...]) -> bool:
    return path.name.lower().endswith(extensions)


def unreadable_path(path: Path, error: OSError) -> InputError:
    """Build the error for a path that cannot be opened as a file."""
    if path.is_dir():
        tables = [name for name in _names_in(path) if name.lower().endswith(tuple(FORMATS))]
        inside = f"it holds {listed(tables)}" if tables else "it holds no table"
        return InputError(f"{path}: expected one file, got a folder; {inside}.")
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return InputError(_not_found_message(path))
    if isinstance(error, PermissionError):
        return InputError(
            f"{path}: expected a file that you may read, got: permission denied; "
            "change its permissions or copy it elsewhere."
        )
    return InputError(f"{path}: expected a readable file, got: {error.strerror}; check the path.")


def _not_found_message(path: Path) -> str:
    """Say that there is no such file, and which one may be meant."""
    folder = path.parent
    if not folder.is_dir():
        return f"{path}: expected a file, but there is no folder {str(folder)!r}; check the path."
    guess = closest(path.name, _names_in(folder))
    remedy = f"did you mean {str(path.with_name(guess))!r}?" if guess else "check the path."
    return f"{path}: expected a file, got no file of that name; {remedy}"


def _names_in(folder: Path) -> list[str]:
    try:
        return sorted(item.name for item in folder.iterdir())
    except OSError:  # a folder that may be entered but not listed
        return []
