"""Which files a user means, and which format they are in."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tamis._runtime.wording import closest, listed
from tamis.exceptions import InputError

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


def table_format(path: str | Path) -> str:
    """Tell the format of a table from the extension of its file, in any case.

    Call it on an output before long work: a wrong extension is an error at once.

    Parameters
    ----------
    path : str or Path
        Name of a file; it need not exist.

    Returns
    -------
    str
        ``"csv"``, ``"tsv"``, ``"parquet"``, ``"feather"`` or ``"npz"``.

    Raises
    ------
    InputError
        When the extension is not one of those listed in the message.

    Examples
    --------
    >>> from tamis.data import table_format
    >>> table_format("flowers.CSV.gz"), table_format("flowers.pq")
    ('csv', 'parquet')
    """
    extension = _extension(Path(path), FORMATS)
    return FORMATS[extension]


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


def _extension(path: Path, formats: dict[str, str]) -> str:
    """The extension of a file among those of some formats."""
    name = path.name.lower()
    for extension in formats:
        if name.endswith(extension):
            return extension
    extra = "save the sheet as CSV" if path.suffix.lower() in {".xls", ".xlsx"} else "convert it"
    raise InputError(
        f"{path.name}: expected a file ending in {', '.join(formats)}, "
        f"got {path.suffix or 'no extension'!r}; {extra} or rename it."
    )


def _format(path: Path) -> str:
    kind = SCANNED[_extension(path, SCANNED)]
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


def check_file(path: Path) -> None:
    """Open the file once, so that each way this can fail has its own message."""
    if path.is_dir():
        raise InputError(_folder_message(path))
    try:
        with open(path, "rb") as stream:
            empty = not stream.read(1)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise InputError(not_found_message(path)) from error
    except PermissionError as error:
        raise InputError(
            f"{path}: expected a file that you may read, got: permission denied; "
            "change its permissions or copy it elsewhere."
        ) from error
    except OSError as error:
        raise InputError(
            f"{path}: expected a readable file, got: {error.strerror}; check the path."
        ) from error
    if empty:
        raise InputError(f"{path.name}: expected a table, got an empty file (0 bytes).")


def _folder_message(path: Path) -> str:
    tables = [name for name in _names_in(path) if name.lower().endswith(tuple(FORMATS))]
    inside = f"it holds {listed(tables)}" if tables else "it holds no table"
    return f"{path}: expected one file, got a folder; {inside}."


def not_found_message(path: Path) -> str:
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
