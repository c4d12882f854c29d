"""The format of a file by its name, and whether it can be read."""

from __future__ import annotations

from pathlib import Path

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
    extension = extension_of(Path(path), FORMATS)
    return FORMATS[extension]


def extension_of(path: Path, formats: dict[str, str]) -> str:
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
