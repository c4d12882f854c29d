"""Read a table file of any supported format."""

from __future__ import annotations

from pathlib import Path

from tamis._runtime.wording import closest, listed
from tamis.data.formats._columnar import read_feather, read_parquet
from tamis.data.formats._npz import read_npz
from tamis.data.formats._text import read_text
from tamis.data.formats.names import FORMATS, table_format
from tamis.data.table import RawTable
from tamis.exceptions import InputError

_READERS = {
    "csv": read_text,
    "tsv": read_text,
    "parquet": read_parquet,
    "feather": read_feather,
    "npz": read_npz,
}


def read_table(path: str | Path) -> RawTable:
    r"""Read a table; the extension tells the format.

    Parameters
    ----------
    path : str or Path
        ``.csv``; ``.tsv`` or ``.txt`` (tab-separated); these three with ``.gz``; ``.parquet`` or
        ``.pq``; ``.feather``, ``.arrow`` or ``.ipc``; ``.npz``.

    Returns
    -------
    RawTable
        The table with its types, untouched.

    Raises
    ------
    InputError
        When the file is missing, empty, unreadable, ragged, not UTF-8, has no rows or has two
        columns of one name. The message says where and what to do.
    MissingDependencyError
        When pyarrow is needed and not installed.

    Notes
    -----
    Text: UTF-8 with or without a byte order mark, any line ends, cells in double quotes may hold
    separators and line breaks. Empty cells and ``NA N/A NaN nan null None ?`` are missing. When
    the header has no separator of the expected kind but has semicolons, commas, tabs or bars,
    those are used and a note says so; decimal commas likewise. Blank lines are not rows.

    NPZ: ``X`` (dense) or ``data, indices, indptr, shape`` (CSR, or CSC with ``format``), with
    ``y`` and ``feature_names`` where there are any. Pickled objects are never loaded; a sparse
    matrix stays sparse. Repeated feature names get a number and a note.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from tamis.data import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "flowers.csv")
    ...     _ = path.write_text("petal,species\n1.4,setosa\n4.7,virginica\n")
    ...     table = read_table(path)
    >>> table.names, table.n_rows
    (('petal', 'species'), 2)
    """
    path = Path(path)
    _check_file(path)
    return _READERS[table_format(path)](path)


def _check_file(path: Path) -> None:
    """Open the file once, so that each way this can fail has its own message."""
    if path.is_dir():
        raise InputError(_folder_message(path))
    try:
        with open(path, "rb") as stream:
            empty = not stream.read(1)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise InputError(_not_found_message(path)) from error
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


def _not_found_message(path: Path) -> str:
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
