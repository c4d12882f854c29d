"""Turn a table into numbers for a selector."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from tamis._runtime.wording import listed, unknown_column
from tamis.data import matrix_table
from tamis.data.encode import count_missing, encode, kind_of, plain, plain_type
from tamis.data.prepared import PreparedTable
from tamis.data.roles import (
    EXCLUDED,
    NOT_NAMED,
    ColumnCode,
    ColumnRole,
    column_notes,
    judge,
    number_note,
)
from tamis.data.table import RawTable
from tamis.data.table_target import check_task, find_target
from tamis.data.words_and_dates import facts_of
from tamis.exceptions import ColumnTypeError, InputError


def prepare(
    table: RawTable,
    target: str | None = None,
    *,
    task: str | None = None,
    columns: Iterable[str] | None = None,
    include: Iterable[str] | None = None,
    exclude: Iterable[str] | None = None,
) -> PreparedTable:
    """Decide what every column is, and build the matrix and the target.

    Parameters
    ----------
    table : RawTable
        What :func:`read_table` returned; it is not changed.
    target : str or None, default=None
        The column to predict. None means no target, except for an NPZ file with ``y``, which is
        then the target (exclude ``"y"`` to do without).
    task : {"classification", "regression"} or None, default=None
        None means infer it from the target; ``task_reason`` reports how.
    columns : iterable of str or None, default=None
        Use only these, whatever they look like. None means all.
    include : iterable of str or None, default=None
        Use these too although they look like free text or identifiers.
    exclude : iterable of str or None, default=None
        Never use these.

    Returns
    -------
    PreparedTable
        Matrix, target, names, roles and notes.

    Notes
    -----
    Roles follow the rules of :class:`ColumnRole`, the task is what :func:`infer_task` says. Missing
    entries become NaN. Rows without a target and columns with infinite values are left out, with a
    note.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tamis.data import RawTable, prepare
    >>> table = pa.table({"petal": [1.4, 1.3, 4.7, 5.1], "kind": ["a", "a", "b", "b"]})
    >>> prepared = prepare(RawTable.from_arrow(table, "flowers.csv"), target="kind")
    >>> prepared.X.ravel().tolist(), prepared.y.tolist()
    ([1.4, 1.3, 4.7, 5.1], ['a', 'a', 'b', 'b'])
    >>> prepared.task_reason
    "target 'kind': 2 classes, so classification (set --task to change)"
    """
    choice = make_choice(table, target, columns, include, exclude)
    check_task(table.who, task, choice.target)
    found = find_target(table, choice.target, task)
    codes: dict[str, ColumnCode] = {}
    notes: list[str] = []
    if table.arrow is None:
        roles = matrix_table.roles(table, choice, found.role)
    else:
        roles, codes, notes = _find_roles(table, choice, found.role)
    used = [role.name for role in roles if role.used]
    if not used:
        why = "; ".join(f"{role.name!r}: {role.reason}" for role in roles[:3])
        raise InputError(
            f"{table.who}: expected at least one column to select from, got none ({why}); "
            "name the columns to use in --include."
        )
    if any(role.reason not in {"numbers", "target"} for role in roles):  # else nothing to note
        notes = column_notes(roles, numbers=notes)
    if table.arrow is None:
        X = matrix_table.numbers(table, used, found.kept)
    else:
        X = _numbers(table, used, codes, found.kept)
    prepared = PreparedTable(
        X=X,
        y=found.y,
        feature_names=used,
        task=found.task,
        task_reason=found.reason,
        roles=tuple(roles),
        notes=[*table.notes, *notes, *found.notes],
    )
    infinite = np.isinf(X.data if sparse.issparse(X) else X).any()
    return prepared.without_infinite(table.who) if infinite else prepared


def _find_roles(
    table: RawTable, choice: ColumnChoice, target: ColumnRole | None
) -> tuple[list[ColumnRole], dict[str, ColumnCode], list[str]]:
    """Roles of all columns, codes of the ones used, and notes on text that is mostly numbers."""
    from pyarrow import types

    roles: list[ColumnRole] = []
    codes: dict[str, ColumnCode] = {}
    notes: list[str] = []
    for name, column in zip(table.names, table.arrow.columns, strict=True):
        if target is not None and name == target.name:
            roles.append(target)
        elif (objection := choice.objection(name)) is not None:
            kind = kind_of(plain_type(column.type))
            roles.append(ColumnRole(name, kind, False, objection, column.null_count))
        elif types.is_floating(column.type):  # nothing to judge
            roles.append(ColumnRole(name, "numeric", True, "numbers", count_missing(column)))
        else:
            named = choice.asked_for(name)
            facts = facts_of(name, column, named)
            role, codes[name] = judge(name, facts, named)
            if role.kind == "nested" and named:
                raise ColumnTypeError(
                    f"{table.who}: expected numbers, categories or dates in column {name!r}, got "
                    f"{facts.type_name}; do not name it in --columns or --include."
                )
            roles.append(role)
            if note := number_note(name, facts):
                notes.append(note)
    return roles, codes, notes


def _numbers(
    table: RawTable, used: list[str], codes: Mapping[str, ColumnCode], kept: np.ndarray | None
) -> np.ndarray:
    import pyarrow as pa

    columns = [plain(table.arrow[name]) for name in used]
    narrow = all(pa.types.is_float32(column.type) for column in columns)
    n_rows = table.n_rows if kept is None else int(kept.sum())
    X = np.empty((n_rows, len(used)), dtype=np.float32 if narrow else np.float64)
    # One column at a time: a second full copy of a wide table may not fit in memory.
    for j, (name, column) in enumerate(zip(used, columns, strict=True)):
        values = encode(column, codes.get(name))
        X[:, j] = values if kept is None else values[kept]
    return X


@dataclass(frozen=True)
class ColumnChoice:
    """Which columns the caller wants (`columns` None means all) and does not want."""

    target: str | None
    columns: frozenset[str] | None
    include: frozenset[str]
    exclude: frozenset[str]

    def objection(self, name: str) -> str | None:
        """Say why the caller does not want a column, or None."""
        if name in self.exclude:
            return EXCLUDED
        if self.columns is not None and not self.asked_for(name):
            return NOT_NAMED
        return None

    def asked_for(self, name: str) -> bool:
        """Tell whether the caller asked for a column by name."""
        return name in self.include or (self.columns is not None and name in self.columns)


def make_choice(
    table: Any,
    target: str | None,
    columns: Iterable[str] | None,
    include: Iterable[str] | None,
    exclude: Iterable[str] | None,
) -> ColumnChoice:
    """Check that the names exist and do not contradict each other."""
    only = None if columns is None else _known(table, columns)
    include, exclude = _known(table, include or ()), _known(table, exclude or ())
    if target is None and table.target is not None and table.target_name not in exclude:
        target = table.target_name
    _known(table, [] if target is None else [target])
    wanted = include | (only or frozenset())
    if both := sorted(wanted & exclude):
        raise InputError(
            f"{table.who}: expected a column to be either used or excluded, got {listed(both)} in "
            "both; remove it from --exclude or from the other list."
        )
    if target in wanted | exclude:
        raise InputError(
            f"{table.who}: expected the target {target!r} in --target only, got it in another "
            "list of columns too; remove it there."
        )
    return ColumnChoice(target, only, include, exclude)


def _known(table: Any, names: Iterable[str]) -> frozenset[str]:
    names = [names] if isinstance(names, str) else list(names)
    known = frozenset(table.column_names)
    for name in names:
        if name not in known:
            raise unknown_column(table.who, name, table.column_names)
    return frozenset(names)
