"""What the columns of a scan are that do not hold plain numbers, judged over all of its files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.data.formats.base import INTEGER, TableFile
from tamis.data.formats.text import TypesChangedError
from tamis.data.roles import (
    JUDGED_VALUES,
    ColumnCode,
    ColumnFacts,
    ColumnRole,
    column_notes,
    is_id_name,
    judge,
    number_note,
)
from tamis.data.words_and_dates import facts_of
from tamis.exceptions import ColumnTypeError

# Rows of words that are judged at a time.
WORDS_AT_A_TIME = 2**16

# For every file, where the columns are in it.
Positions = Sequence[NDArray[np.intp]]


class Judged(NamedTuple):
    """Roles of the columns, codes of those that are no numbers, and sentences for the user.

    `text_notes` are those among them on text that holds mostly numbers.
    """

    roles: tuple[ColumnRole, ...]
    codes: dict[str, ColumnCode]
    notes: list[str]
    text_notes: list[str]


def judge_columns(
    files: Sequence[TableFile],
    positions: Positions,
    names: Sequence[str],
    named: Collection[str] | None,
) -> Judged:
    """Roles of the columns, and how those that are no numbers become some.

    Words are read through all files, integers only in the first rows, other columns not at all.
    `positions` are those of the columns in each file; `named` are the columns that the caller asked
    for, None if these are all of them.
    """
    asked = {name for name in names if named is None or name in named}
    while True:
        kinds = _find_kinds(files, positions, names)
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
    return Judged(tuple(roles), codes, column_notes(roles, "include", notes), notes)


def _find_kinds(
    files: Sequence[TableFile], positions: Positions, names: Sequence[str]
) -> dict[int, tuple[str, str]]:
    """Kind and type of the columns that may be something else than numbers, in all files.

    Integers that may be identifiers are of kind "integer".
    """
    integers = np.ones(len(names), dtype=bool)
    found: dict[int, dict[str, tuple[TableFile, str]]] = {}
    counts: Counter[int] = Counter()
    for file, own in zip(files, positions, strict=True):
        integers &= file.kinds[own] == INTEGER
        position = {int(j): i for i, j in enumerate(own)} if file.others else {}
        for j, (kind, type_name) in file.others.items():
            if (i := position.get(j)) is not None:
                counts[i] += 1
                found.setdefault(i, {}).setdefault(kind, (file, type_name))
    kinds: dict[int, tuple[str, str]] = {
        int(i): ("integer", "")
        for i in np.flatnonzero(integers)
        if is_id_name(names[int(i)]) or files[0].may_count_up(int(positions[0][i]))
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
