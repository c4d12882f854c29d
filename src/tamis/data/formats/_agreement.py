"""Which columns a scan has, and where they are in each of its files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.wording import counted, listed, unknown_column
from tamis.data.formats._file import NARROW, OTHER, TableFile
from tamis.exceptions import ColumnTypeError, InputError

# For every file, where the columns of the first file are in it; None: where they are in the first.
Places = tuple[NDArray[np.intp] | None, ...]


def choose_columns(
    files: Sequence[TableFile], columns: Any, reserved: Sequence[str]
) -> NDArray[np.intp]:
    """Positions, in the first file, of the columns that are asked for.

    `reserved` are the names of target and weight.
    """
    first = files[0]
    if columns is None:
        names = first.names or ()
        stored = [name for name in reserved if name in names and name not in first.beside]
        taken = [names.index(name) for name in stored]
        found = np.delete(np.arange(first.n_columns), taken)
    else:
        given = [columns] if isinstance(columns, str) else list(columns)
        if both := [name for name in reserved if name in given and name not in first.beside]:
            raise InputError(
                f"scan: expected target and weight outside of columns, got {listed(both)} among "
                "them; leave it out of columns."
            )
        found = positions(first.path.name, first.names, first.n_columns, given)
    if len(found) == 0:
        raise InputError(f"{first.path.name}: expected at least one column to use, got none.")
    return found


def positions(
    who: str, names: tuple[str, ...] | None, n_columns: int, asked: Sequence[Any]
) -> NDArray[np.intp]:
    """Positions of columns that are given by name or, where they have none, by number."""
    if asked and all(isinstance(item, str) for item in asked):
        if names is None:
            raise InputError(
                f"{who}: expected columns as numbers from 0 to {n_columns - 1}, since they have no "
                f"names, got {listed(list(asked))}."
            )
        index = {name: j for j, name in enumerate(names)}
        for name in asked:
            if name not in index:
                raise unknown_column(who, name, names)
        found = [index[name] for name in asked]
    else:
        found = [_number(who, item, names, n_columns) for item in asked]
    if len(set(found)) < len(found):
        twice = [str(item) for i, item in enumerate(asked) if item in asked[:i]]
        raise InputError(f"{who}: expected every column once, got {listed(twice)} twice.")
    return np.array(found, dtype=np.intp)


def _number(who: str, item: Any, names: tuple[str, ...] | None, n_columns: int) -> int:
    if names is not None or isinstance(item, bool) or not isinstance(item, int | np.integer):
        raise InputError(
            f"{who}: expected columns as {'names' if names is not None else 'numbers'}, "
            f"got {item!r}."
        )
    if not 0 <= item < n_columns:
        raise InputError(f"{who}: expected a column from 0 to {n_columns - 1}, got {item}.")
    return int(item)


def find_places(
    files: Sequence[TableFile], columns: NDArray[np.intp], reserved: Sequence[str], every: bool
) -> Places:
    """Find the columns in each file, or say which one is missing.

    `every` tells that all columns are used, so that one more in a later file is an error too.
    """
    first = files[0]
    places: list[NDArray[np.intp] | None] = []
    for file in files:
        for name in reserved:
            if not file.has(name):
                raise _missing(file, name, first)
        if file.names == first.names:
            file.names = first.names  # one copy of the names, however many files
            _check_count(file, first)
            places.append(None)
        else:
            places.append(_by_name(file, first, columns, reserved, every))
    return tuple(places)


def _check_count(file: TableFile, first: TableFile) -> None:
    if file.n_columns != first.n_columns:
        raise InputError(
            f"{file.path.name}: expected {counted(first.n_columns, 'column')}, as in "
            f"{first.path.name}, got {file.n_columns:,}; leave it out."
        )


def _by_name(
    file: TableFile,
    first: TableFile,
    columns: NDArray[np.intp],
    reserved: Sequence[str],
    every: bool,
) -> NDArray[np.intp]:
    if file.names is None or first.names is None:
        named, other = (file, first) if first.names is None else (first, file)
        raise InputError(
            f"{other.path.name}: expected names of the columns, as in {named.path.name}, got none; "
            "write all files with names, or none."
        )
    index = {name: j for j, name in enumerate(file.names)}
    for j in columns:
        if first.names[j] not in index:
            raise _missing(file, first.names[j], first)
    if every:
        known = {*first.names, *reserved}
        if extra := [name for name in file.names if name not in known]:
            raise InputError(
                f"{file.path.name}: expected the columns of {first.path.name}, got "
                f"{listed(extra)} as well; name the columns to use with columns=."
            )
    return np.array([index.get(name, -1) for name in first.names], dtype=np.intp)


def _missing(file: TableFile, name: str, first: TableFile) -> InputError:
    return InputError(
        f"{file.path.name}: expected a column {name!r}, as in {first.path.name}, got none of that "
        "name; leave out the file, or leave out the column with columns=."
    )


def check_numbers(files: Sequence[TableFile], places: Places, columns: NDArray[np.intp]) -> None:
    """Raise if a column holds something that is not a number in one of the files."""
    for file, place in zip(files, places, strict=True):
        own = columns if place is None else place[columns]
        odd = own[file.kinds[own] == OTHER]
        if odd.size:
            names = [file.names[j] if file.names else str(j) for j in odd]
            raise ColumnTypeError(
                f"{file.path.name}: expected numbers in every column, got {file.others[odd[0]]} in "
                f"{listed(names)}; name the columns to use with columns=, or encode them as "
                "numbers first."
            )


def common_dtype(
    files: Sequence[TableFile], places: Places, columns: NDArray[np.intp]
) -> np.dtype[Any]:
    """The type of blocks: float32 if that holds all columns of all files, else float64."""
    narrow = all(
        (file.kinds[columns if place is None else place[columns]] == NARROW).all()
        for file, place in zip(files, places, strict=True)
    )
    return np.dtype(np.float32 if narrow else np.float64)
