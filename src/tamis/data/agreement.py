"""Which columns a scan has, what they are, and where they are in each of its files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.wording import counted, listed, unknown_column
from tamis.data.encode import facts_of
from tamis.data.formats.base import INTEGER, NARROW, TableFile, TypesChangedError
from tamis.data.roles import (
    JUDGED_VALUES,
    ColumnCode,
    ColumnFacts,
    ColumnRole,
    is_id_name,
    judge,
    number_note,
)
from tamis.exceptions import ColumnTypeError, InputError

# For every file, where the columns of the first file are in it; None: where they are in the first.
Places = tuple[NDArray[np.intp] | None, ...]
Named = Collection[str]
# Rows of words that are judged at a time.
WORDS_AT_A_TIME = 2**16


def choose_columns(
    files: Sequence[TableFile], columns: Any, reserved: Sequence[str], exclude: Sequence[str]
) -> NDArray[np.intp]:
    """Positions, in the first file, of the columns that may be used.

    `reserved` are the names of target and weight.
    """
    first = files[0]
    for name in exclude:
        if name not in (first.names or ()):
            raise unknown_column(first.path.name, name, first.names or ())
    if columns is None:
        names = first.names or ()
        stored = [name for name in reserved if name in names and name not in first.beside]
        stored += exclude
        taken = [names.index(name) for name in stored]
        found = np.delete(np.arange(first.n_columns), taken)
    else:
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


def judge_columns(
    files: Sequence[TableFile], places: Places, columns: NDArray[np.intp], named: Named | None
) -> tuple[list[ColumnRole], dict[str, ColumnCode], list[str]]:
    """Roles of the columns, how those that are no numbers become some, and notes on text.

    Words are read through all files, integers only in the first rows, other columns not at all.
    `named` are the columns that the caller asked for, None if these are all of them.
    """
    first = files[0]
    names = [first.names[j] if first.names else f"x{j}" for j in columns]
    asked = {name for name in names if named is None or name in named}
    while True:
        kinds = _find_kinds(files, places, columns, names)
        try:
            facts = _gather(files, names, kinds, asked)
            break
        except TypesChangedError:
            continue
    roles, codes, notes = [], {}, []
    for i, name in enumerate(names):
        kind, type_name = kinds.get(i, ("numeric", ""))
        kind = "numeric" if kind in {"integer", "empty"} else kind
        found = facts.get(name) or ColumnFacts(kind, type_name)
        role, code = judge(name, found, name in asked)
        roles.append(role)
        if role.used and code.kind not in {"numeric", "boolean"}:
            codes[name] = code
        if note := number_note(name, found):
            notes.append(note)
    return roles, codes, notes


def _find_kinds(
    files: Sequence[TableFile], places: Places, columns: NDArray[np.intp], names: Sequence[str]
) -> dict[int, tuple[str, str]]:
    """Kind and type of the columns that may be something else than numbers, in all files.

    Integers that may be identifiers are of kind "integer".
    """
    integers = np.ones(len(columns), dtype=bool)
    found: dict[int, dict[str, tuple[TableFile, str]]] = {}
    counts: Counter[int] = Counter()
    for file, place in zip(files, places, strict=True):
        own = columns if place is None else place[columns]
        integers &= file.kinds[own] == INTEGER
        position = {int(j): i for i, j in enumerate(own)} if file.others else {}
        for j, (kind, type_name) in file.others.items():
            if (i := position.get(j)) is not None:
                counts[i] += 1
                found.setdefault(i, {}).setdefault(kind, (file, type_name))
    kinds: dict[int, tuple[str, str]] = {
        int(i): ("integer", "")
        for i in np.flatnonzero(integers)
        if is_id_name(names[int(i)]) or files[0].may_count_up(int(columns[i]))
    }
    for i, seen in found.items():
        are_numbers = counts[i] < len(files)
        kinds[i] = _one_kind(names[i], seen, are_numbers, files[0].path.name)
    return kinds


def _one_kind(
    name: str, seen: dict[str, tuple[TableFile, str]], are_numbers: bool, first: str
) -> tuple[str, str]:
    """The kind of a column that has these kinds in the files, and is numbers in others."""
    present = {kind: where for kind, where in seen.items() if kind != "empty"}
    if are_numbers and set(present) <= {"boolean"}:
        return "numeric", ""
    if not are_numbers and set(present) == {"text", "category"}:
        return "category", present["category"][1]
    if len(present) == 1 and not are_numbers:
        kind, (_, type_name) = present.popitem()
        return kind, type_name
    if not present:
        return "numeric", ""
    kind, (file, _) = list(present.items())[-1]
    raise ColumnTypeError(
        f"{file.path.name}: expected the same kind of values as in {first} in every column, got "
        f"{kind} in {name!r}; name the columns to use with columns=, or write the files alike."
    )


def _gather(
    files: Sequence[TableFile],
    names: Sequence[str],
    kinds: dict[int, tuple[str, str]],
    asked: set[str],
) -> dict[str, ColumnFacts]:
    """Read words through all files, and the first rows of integers.

    In text files, everything is read that the first rows do not show to be numbers.
    """
    is_text = files[0].labels_need_reading
    read = {"text", "category", *(("empty", "boolean", "date", "time") if is_text else ())}
    words = {names[i]: kind for i, (kind, _) in kinds.items() if kind in read}
    integers = {names[i]: kind for i, (kind, _) in kinds.items() if kind == "integer"}
    integers = {name: kind for name, kind in integers.items() if name not in asked}
    return {
        **_read_facts(files, words, WORDS_AT_A_TIME, asked),
        **_read_facts(files, integers, JUDGED_VALUES, asked),
    }


def _read_facts(
    files: Sequence[TableFile], kinds: dict[str, str], rows: int, asked: set[str]
) -> dict[str, ColumnFacts]:
    """Facts about columns, read until no further row can change a role."""
    facts: dict[str, ColumnFacts] = {}
    parts = [(file, part) for file in files for part in range(file.n_parts)]
    for file, part in parts:
        waiting = [name for name in kinds if name not in facts or not facts[name].is_settled()]
        if not waiting:
            break
        try:
            for batch in file.batches(part, waiting, rows):
                batch.validate(full=True)  # or a damaged file could crash Python
                columns = dict(zip(batch.schema.names, batch.columns, strict=True))
                for name in waiting:
                    found = facts_of(name, columns[name], name in asked)
                    found.kind = "category" if kinds[name] == "category" else found.kind
                    facts[name] = facts[name].merge(found) if name in facts else found
                if all(facts[name].is_settled() for name in waiting):
                    break
        except file.damage as error:
            file.check_unchanged()
            raise file.damaged(file.where(part), error) from error
    return facts


def common_dtype(
    files: Sequence[TableFile], places: Places, columns: NDArray[np.intp]
) -> np.dtype[Any]:
    """The type of blocks: float32 if that holds all columns of all files, else float64."""
    narrow = all(
        (file.kinds[columns if place is None else place[columns]] == NARROW).all()
        for file, place in zip(files, places, strict=True)
    )
    return np.dtype(np.float32 if narrow else np.float64)
