"""Turn a table into numbers for a selector."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse

from tamis._runtime.wording import counted, listed, unknown_column
from tamis.data.encode import encode, facts_of, kind_of, plain
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
from tamis.data.table_target import TableTarget, array_target, arrow_target, check_task
from tamis.exceptions import ColumnTypeError, InputError


@dataclass(frozen=True, eq=False)
class PreparedTable:
    """Numbers ready for a selector, and the record of how they came about.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_rows, n_features)
        float64, or float32 where that loses nothing. It may share memory with the table it came
        from: do not write to it.
    y : ndarray of shape (n_rows,) or None
        Class labels as given, or float64 for regression; None without a target.
    feature_names : list of str
        Names of the columns of `X`.
    task : str or None
        ``"classification"``, ``"regression"``, or None without a target.
    task_reason : str
        A sentence that says how the task was found.
    roles : tuple of ColumnRole
        One per column of the file, in its order.
    notes : list of str
        Sentences for the user: what was left out, encoded or inferred.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tamis.data import RawTable, prepare
    >>> prepared = prepare(RawTable.from_arrow(pa.table({"a": [1.5, 2.5], "b": ["x", "z"]})))
    >>> prepared.feature_names, prepared.discrete.tolist()
    (['a', 'b'], [False, True])
    """

    X: Any = field(repr=False)
    y: np.ndarray | None = field(repr=False)
    feature_names: list[str]
    task: str | None
    task_reason: str
    roles: tuple[ColumnRole, ...] = field(repr=False)
    notes: list[str] = field(repr=False)

    @property
    def discrete(self) -> np.ndarray:
        """Mask over the columns of `X`: true for booleans and categories."""
        return np.array([r.kind in {"boolean", "category"} for r in self.roles if r.used])

    @property
    def is_sparse(self) -> bool:
        """Whether `X` is a sparse matrix."""
        return sparse.issparse(self.X)


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
    Of long tables, the first 10,000 values tell whether they differ or count up.
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
    roles, codes, notes = _find_roles(table, choice)
    if found is not None:
        roles = [
            replace(r, n_missing=found.n_missing, n_distinct=found.n_distinct)
            if r.name == choice.target
            else r
            for r in roles
        ]
    used = [role for role in roles if role.used]
    if not used:
        raise _nothing_left(table, roles)
    return PreparedTable(
        X=_numbers(table, used, codes, None if found is None else found.kept),
        y=None if found is None else found.y,
        feature_names=[role.name for role in used],
        task=None if found is None else found.task,
        task_reason="no target, so unsupervised" if found is None else found.reason,
        roles=tuple(roles),
        notes=[*table.notes, *column_notes(roles, numbers=notes), *_target_notes(found)],
    )


def _find_target(table: RawTable, name: str, task: str | None) -> TableTarget:
    if table.arrow is not None:
        return arrow_target(table.who, name, table.arrow[name], task)
    stored = table.target is not None and name == table.target_name
    values: Any = table.target if stored else _matrix_column(table, name)
    return array_target(table.who, name, values, task)


def _find_roles(
    table: RawTable, choice: ColumnChoice
) -> tuple[list[ColumnRole], dict[str, ColumnCode], list[str]]:
    """Roles of all columns, how the used ones become numbers, and text that is mostly numbers."""
    roles: list[ColumnRole] = []
    codes: dict[str, ColumnCode] = {}
    notes: list[str] = []
    if table.arrow is None:
        return matrix_roles(table, choice), codes, notes
    for name in table.names:
        column = table.arrow[name]
        objection = "target" if name == choice.target else choice.objection(name)
        if objection is not None:
            kind = "target" if name == choice.target else kind_of(plain(column).type)
            roles.append(ColumnRole(name, kind, False, objection, column.null_count))
            continue
        named = choice.asked_for(name)
        facts = facts_of(name, column, named)
        role, codes[name] = judge(name, facts, named)
        check_usable(table.who, role, facts.type_name, choice)
        roles.append(role)
        if note := number_note(name, facts):
            notes.append(note)
    return roles, codes, notes


def check_usable(who: str, role: ColumnRole, type_name: str, choice: ColumnChoice) -> None:
    """Raise if the caller asked for a column that cannot become numbers."""
    if role.kind == "nested" and choice.asked_for(role.name):
        raise ColumnTypeError(
            f"{who}: expected numbers, categories or dates in column {role.name!r}, got "
            f"{type_name}; do not name it in --columns or --include."
        )


def _nothing_left(table: RawTable, roles: list[ColumnRole]) -> InputError:
    why = "; ".join(f"{role.name!r}: {role.reason}" for role in roles[:3])
    return InputError(
        f"{table.who}: expected at least one column to select from, got none ({why}); "
        "name the columns to use in --include."
    )


def _numbers(
    table: RawTable,
    used: list[ColumnRole],
    codes: dict[str, ColumnCode],
    kept: np.ndarray | None,
) -> Any:
    if table.arrow is None:
        position = {name: j for j, name in enumerate(table.names)}
        return _matrix_numbers(table, np.array([position[role.name] for role in used]), kept)
    import pyarrow as pa

    columns = [plain(table.arrow[role.name]) for role in used]
    narrow = all(pa.types.is_float32(column.type) for column in columns)
    n_rows = table.n_rows if kept is None else int(kept.sum())
    X = np.empty((n_rows, len(used)), dtype=np.float32 if narrow else np.float64)
    # One column at a time: a second full copy of a wide table may not fit in memory.
    for j, (column, role) in enumerate(zip(columns, used, strict=True)):
        values = encode(column, codes[role.name])
        X[:, j] = values if kept is None else values[kept]
    return X


def _target_notes(found: TableTarget | None) -> list[str]:
    if found is None:
        return []
    n = found.n_missing
    left_out = [f"{counted(n, 'row')} with no target left out"] if n else []
    return [*left_out, found.reason]


@dataclass(frozen=True)
class ColumnChoice:
    """Which columns the caller wants and does not want.

    Parameters
    ----------
    target : str or None
        The target column.
    columns : frozenset of str or None
        Use only these; None means all.
    include, exclude : frozenset of str
        Use these whatever they look like; never use those.
    """

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
    wanted = _known(table, include or ())
    unwanted = _known(table, exclude or ())
    if target is None and table.target is not None and table.target_name not in unwanted:
        target = table.target_name
    if target is not None:
        _known(table, [target])
    choice = ColumnChoice(target, only, wanted, unwanted)
    _check_agreement(table.who, choice)
    return choice


def _known(table: Any, names: Iterable[str]) -> frozenset[str]:
    names = [names] if isinstance(names, str) else list(names)
    known = frozenset(table.column_names)
    for name in names:
        if name not in known:
            raise unknown_column(table.who, name, table.column_names)
    return frozenset(names)


def _check_agreement(who: str, choice: ColumnChoice) -> None:
    wanted = choice.include | (choice.columns or frozenset())
    if both := sorted(wanted & choice.exclude):
        raise InputError(
            f"{who}: expected a column to be either used or excluded, got {listed(both)} in both; "
            "remove it from --exclude or from the other list."
        )
    if choice.target in wanted | choice.exclude:
        raise InputError(
            f"{who}: expected the target {choice.target!r} in --target only, got it in another "
            "list of columns too; remove it there."
        )


def matrix_roles(table: RawTable, choice: ColumnChoice) -> list[ColumnRole]:
    """Roles of a matrix of an NPZ file, the array ``y`` last if there is one.

    Whoever wrote a matrix has decided what is a feature, so nothing is inferred.
    """
    missing = _count_missing(table.matrix)
    roles = []
    for name, n_missing in zip(table.names, missing.tolist(), strict=True):
        objection = "target" if name == choice.target else choice.objection(name)
        kind = "target" if name == choice.target else "numeric"
        roles.append(ColumnRole(name, kind, objection is None, objection or "numbers", n_missing))
    if table.target is not None:
        assert table.target_name is not None
        name = table.target_name
        reason = "target" if name == choice.target else "not the target asked for"
        roles.append(ColumnRole(name, "target", False, reason))
    return roles


def _matrix_numbers(table: RawTable, used: np.ndarray, kept: np.ndarray | None) -> Any:
    """Some columns and rows as floats; sparse stays sparse."""
    matrix, dtype = table.matrix, _float_type(table.matrix.dtype)
    whole = kept is None and used.size == matrix.shape[1]
    if sparse.issparse(matrix):
        part = matrix if whole else matrix[slice(None) if kept is None else kept][:, used]
        return part.astype(dtype, copy=False)
    if whole:
        return np.ascontiguousarray(matrix, dtype=dtype)
    rows = slice(None) if kept is None else kept
    n_rows = matrix.shape[0] if kept is None else int(kept.sum())
    X = np.empty((n_rows, used.size), dtype=dtype)
    for k, j in enumerate(used):
        X[:, k] = matrix[rows, j]
    return X


def _matrix_column(table: RawTable, name: str) -> np.ndarray:
    """Return one column, as the target."""
    column = table.matrix[:, [table.names.index(name)]]
    return (column.toarray() if sparse.issparse(column) else column).ravel()


def _float_type(stored: np.dtype) -> type:
    """Keep float32 where it holds every value exactly: 24 bits are enough for 16-bit integers."""
    exact = stored.itemsize <= 4 if stored.kind == "f" else stored.itemsize <= 2
    return np.float32 if exact else np.float64


def _count_missing(matrix: Any) -> np.ndarray:
    if matrix.dtype.kind != "f":
        return np.zeros(matrix.shape[1], dtype=np.intp)
    if sparse.issparse(matrix):
        return np.bincount(matrix.indices[np.isnan(matrix.data)], minlength=matrix.shape[1])
    return np.isnan(matrix).sum(axis=0)
