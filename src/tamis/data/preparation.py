"""Turn a table into numbers for a selector."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from tamis._runtime.wording import counted
from tamis.data._choice import Choice, make_choice
from tamis.data._encode import encode
from tamis.data._kinds import plain
from tamis.data._matrix import matrix_column, matrix_numbers, matrix_roles
from tamis.data._notes import column_notes, number_notes
from tamis.data._roles import column_role, skipped_role
from tamis.data._target import Target, array_target, arrow_target, check_task
from tamis.data.prepared_table import ColumnRole, PreparedTable
from tamis.data.raw_table import RawTable
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
        None means guess from the target; the guess is explained in ``task_reason``.
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

    Raises
    ------
    InputError
        When a name is unknown (the closest one is suggested), no column or no target is left, the
        target has a single value, or it does not suit the task.

    Notes
    -----
    Roles: numbers stay numbers; booleans become 0 and 1; dates become days since 1970-01-01, times
    and durations seconds; categories become one column of codes in sorted order. Integers are an
    identifier, and left out, when they all differ over at least 10 rows and either are named like
    one (``id``, ``patient_id``, ``patientId``, ``uuid``, ``index``, ``Unnamed: 0``, ...) or count
    up by one from row to row. Strings that all differ over at least 10 rows are identifiers too.
    Other strings are categories when there are at most 10 different ones, or at least 5 rows for
    each of at most 1000; else they are free text, and left out. Lists, structs and bytes are left
    out. Missing entries become NaN; infinite ones stay. A matrix from NPZ is taken as it is.

    Task: strings, booleans and dictionary-encoded targets are classes. So are whole numbers if
    there are two different ones, or at most 20 that appear twice or more on average, or at most
    100 that run from 0 or 1 without a gap and are fairly even in number. Anything else is
    regression.

    Rows without a target are left out, with a note.

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
    found = None if choice.target is None else _find_target(table, choice.target, task)
    roles = _find_roles(table, choice, found)
    used = [role for role in roles if role.used]
    if not used:
        raise _nothing_left(table, roles)
    return PreparedTable(
        X=_numbers(table, used, None if found is None else found.kept),
        y=None if found is None else found.y,
        feature_names=[role.name for role in used],
        task=None if found is None else found.task,
        task_reason="no target, so unsupervised" if found is None else found.reason,
        roles=tuple(roles),
        notes=_notes(table, roles, found),
    )


def _find_target(table: RawTable, name: str, task: str | None) -> Target:
    if table.arrow is not None:
        return arrow_target(table.who, name, table.arrow[name], task)
    stored = table.target is not None and name == table.target_name
    values = table.target if stored else matrix_column(table, name)
    return array_target(table.who, name, values, task)


def _find_roles(table: RawTable, choice: Choice, found: Target | None) -> list[ColumnRole]:
    if table.arrow is None:
        roles = matrix_roles(table, choice)
    else:
        roles = [_arrow_role(table, choice, name) for name in table.names]
    if found is None:
        return roles
    counts = {"n_missing": found.n_missing, "n_distinct": found.n_distinct}
    return [replace(r, **counts) if r.name == choice.target else r for r in roles]


def _arrow_role(table: RawTable, choice: Choice, name: str) -> ColumnRole:
    if name == choice.target:
        return ColumnRole(name, "target", False, "target")
    column = table.arrow[name]
    if (objection := choice.objection(name)) is not None:
        return skipped_role(name, column, objection)
    role = column_role(name, column, named=choice.asked_for(name))
    if role.kind == "nested" and choice.asked_for(name):
        raise ColumnTypeError(
            f"{table.who}: expected numbers, categories or dates in column {name!r}, got "
            f"{column.type}; do not name it in --columns or --include."
        )
    return role


def _nothing_left(table: RawTable, roles: list[ColumnRole]) -> InputError:
    why = "; ".join(f"{role.name!r}: {role.reason}" for role in roles[:3])
    return InputError(
        f"{table.who}: expected at least one column to select from, got none ({why}); "
        "name the columns to use in --include."
    )


def _numbers(table: RawTable, used: list[ColumnRole], kept: np.ndarray | None):
    if table.arrow is None:
        position = {name: j for j, name in enumerate(table.names)}
        return matrix_numbers(table, np.array([position[role.name] for role in used]), kept)
    import pyarrow as pa

    columns = [plain(table.arrow[role.name]) for role in used]
    narrow = all(pa.types.is_float32(column.type) for column in columns)
    n_rows = table.n_rows if kept is None else int(kept.sum())
    X = np.empty((n_rows, len(used)), dtype=np.float32 if narrow else np.float64)
    # One column at a time: a second full copy of a wide table may not fit in memory.
    for j, (column, role) in enumerate(zip(columns, used, strict=True)):
        values = encode(column, role.kind)
        X[:, j] = values if kept is None else values[kept]
    return X


def _notes(table: RawTable, roles: list[ColumnRole], found: Target | None) -> list[str]:
    notes = [*table.notes, *column_notes(roles)]
    if table.arrow is not None:
        words = {"text", "category", "identifier"}
        judged = [role.name for role in roles if role.kind in words and role.n_distinct is not None]
        notes += number_notes((name, table.arrow[name]) for name in judged)
    if found is None:
        return notes
    if found.n_missing:
        notes.append(f"{counted(found.n_missing, 'row')} with no target left out")
    return [*notes, found.reason]
