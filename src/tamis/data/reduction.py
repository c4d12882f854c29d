"""Keep some columns of a table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from tamis._runtime.wording import listed, unknown_column
from tamis.data.raw_table import RawTable
from tamis.exceptions import InputError


def reduce_table(table: RawTable, names: Iterable[str], *, target: str | None = None) -> RawTable:
    """Keep the named columns and the target; rows, types and metadata stay as they are.

    Parameters
    ----------
    table : RawTable
        What :func:`read_table` returned; it is not changed.
    names : iterable of str
        Columns to keep; their order does not matter.
    target : str or None, default=None
        Column to keep as well. The array ``y`` of an NPZ file is always kept.

    Returns
    -------
    RawTable
        The kept columns in their original order, the target at its original place. Other arrays
        of an NPZ file stay unless they have one entry per column or name columns by number; a
        note says which were left out.

    Raises
    ------
    InputError
        When a name is unknown, or `names` is empty.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tamis.data import RawTable, reduce_table
    >>> table = RawTable.from_arrow(pa.table({"a": [1], "kind": ["x"], "b": [2], "c": [3]}))
    >>> reduce_table(table, ["c", "a"], target="kind").names
    ('a', 'kind', 'c')
    """
    wanted = _wanted(table, names, target)
    if table.arrow is not None:
        kept = [name for name in table.names if name in wanted]
        arrow = table.arrow.select(kept)
        return replace(table, names=tuple(kept), arrow=arrow, target_name=target)
    return _reduce_matrix(table, wanted)


def _wanted(table: RawTable, names: Iterable[str], target: str | None) -> set[str]:
    wanted = {names} if isinstance(names, str) else set(names)
    if not wanted - {target}:
        raise InputError(f"{table.who}: expected at least one column to keep, got none.")
    if target is not None:
        wanted.add(target)
    known = set(table.column_names)
    for name in sorted(wanted - known):
        raise unknown_column(table.who, name, table.column_names)
    return wanted


def _reduce_matrix(table: RawTable, wanted: set[str]) -> RawTable:
    kept = np.array([j for j, name in enumerate(table.names) if name in wanted], dtype=np.intp)
    if kept.size == 0:
        raise InputError(f"{table.who}: expected at least one column to keep besides y, got none.")
    extras = {name: a for name, a in table.extras.items() if _survives(table, name, a)}
    notes = table.notes
    if lost := sorted(set(table.extras) - set(extras)):
        notes = (*notes, f"arrays of {table.who} about its columns are left out: {listed(lost)}")
    return replace(
        table,
        names=tuple(table.names[j] for j in kept),
        matrix=table.matrix[:, kept],
        extras=extras,
        notes=notes,
    )


def _survives(table: RawTable, name: str, array: np.ndarray) -> bool:
    """Keep what speaks of rows or classes; the rest may speak of columns that are gone."""
    return name == "class_names" or array.shape[:1] == (table.n_rows,)
