"""Where a scan's columns are in its files, given by name or number; types that files share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.wording import counted, listed, unknown_column
from tamis.data.formats.base import TEXT, LabelType, TableFile
from tamis.data.judging import Positions
from tamis.exceptions import ColumnTypeError, InputError


def named_columns(
    first: TableFile, columns: Any, reserved: Sequence[str], exclude: Sequence[str]
) -> NDArray[np.intp]:
    """Positions of the columns that a user names; `reserved` are names of target and weight."""
    given = [columns] if isinstance(columns, str) else list(columns)
    if both := [name for name in given if name in exclude]:
        raise InputError(
            f"scan: expected a column in columns or in exclude, got {listed(both)} in both; "
            "leave it out of one."
        )
    if both := [name for name in reserved if name in given and name not in first.beside]:
        raise InputError(
            f"scan: expected target and weight outside of columns, got {listed(both)} among "
            "them; leave it out of columns."
        )
    return _positions(first.path.name, first.names, first.n_columns, given)


def selected(
    who: str, names: tuple[str, ...] | None, n_columns: int, columns: Any
) -> NDArray[np.intp]:
    """Positions of columns that are given by name, by number or by a mask."""
    asked = np.asarray(columns)
    if asked.dtype.kind == "b":
        if asked.shape != (n_columns,):
            raise InputError(
                f"{who}: expected one flag for each of {n_columns:,} columns, got "
                f"shape {asked.shape}."
            )
        asked = np.flatnonzero(asked)
    if asked.size == 0:
        raise InputError(f"{who}: expected at least one column, got none.")
    return _positions(who, None if asked.dtype.kind in "iu" else names, n_columns, asked.tolist())


def _positions(
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


def find_positions(
    files: Sequence[TableFile], columns: NDArray[np.intp], reserved: Sequence[str], every: bool
) -> Positions:
    """Positions of the columns in each file, or an error that says which one is missing.

    `every` tells that all columns are used, so that one more in a later file is an error too.
    """
    first = files[0]
    found = []
    for file in files:
        for name in reserved:
            if not file.has(name):
                raise _missing(file, name, first)
        if file.names != first.names:
            found.append(_by_name(file, first, columns, reserved, every))
            continue
        file.names = first.names  # one copy of the names, however many files
        if file.n_columns != first.n_columns:
            raise InputError(
                f"{file.path.name}: expected {counted(first.n_columns, 'column')}, as in "
                f"{first.path.name}, got {file.n_columns:,}; leave it out."
            )
        found.append(columns)
    return found


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
    return np.array([index[first.names[j]] for j in columns], dtype=np.intp)


def _missing(file: TableFile, name: str, first: TableFile) -> InputError:
    return InputError(
        f"{file.path.name}: expected a column {name!r}, as in {first.path.name}, got none of that "
        "name; leave out the file, or leave out the column with columns=."
    )


def common_type(name: str, files: Sequence[TableFile]) -> LabelType:
    """The type that the target has in all files, whatever it has in each.

    Numbers of several types become the one that holds all. Numbers in one file and text in another
    are an error, except in text files, where numbers can be read as text.
    """
    found: dict[LabelType, TableFile] = {}
    for file in files:
        found.setdefault(file.label_type(name), file)
    types = [dtype for dtype in found if dtype is not None]
    if TEXT not in types:
        return np.result_type(*types) if types else None
    others = [dtype for dtype in types if dtype != TEXT]
    if others and not files[0].labels_need_reading:
        raise ColumnTypeError(
            f"{found[others[0]].path.name}: expected text in {name!r}, as in "
            f"{listed([found[TEXT].path.name])}, got {others[0]}; write both files alike."
        )
    return TEXT
