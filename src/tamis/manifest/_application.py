"""The selected columns of another table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from tamis._runtime.wording import counted, listed
from tamis.data import RawTable, reduce_table
from tamis.exceptions import InputError
from tamis.manifest._fingerprint import is_frame
from tamis.manifest._record import Manifest

# A message that names more than so many columns helps nobody.
MAX_MISSING = 50


def apply(manifest: Manifest, table: Any, *, also: Iterable[str] = ()) -> Any:
    """Take the selected columns of a table, by name.

    Parameters
    ----------
    manifest : Manifest
        From :func:`read_manifest` or :func:`make_manifest`.
    table : DataFrame, Arrow table, RawTable, array or sparse matrix
        Any table that has the columns; others are left out. The columns of an array are called
        ``x0``, ``x1``, ...
    also : iterable of str, default=()
        Columns to take as well, such as the target; they come last.

    Returns
    -------
    reduced : same type as `table`
        The selected columns in the order of ``manifest.selected``, which is that of the table they
        were selected on: a model that learned from those finds every column in its place. Rows and
        types are those of `table`.

    Raises
    ------
    InputError
        When columns are missing; the message lists them.

    Examples
    --------
    >>> import pandas as pd
    >>> from tamis.manifest import Manifest, apply
    >>> choice = Manifest(["b", "a"], [2.0, 1.0], selected=["b"], method="by hand")
    >>> apply(choice, pd.DataFrame({"a": [1, 2], "b": [3, 4], "c": [5, 6]}))
       b
    0  3
    1  4
    """
    wanted = list(dict.fromkeys([*manifest.selected, *also]))
    if isinstance(table, RawTable):
        return _from_file(wanted, table)
    if is_frame(table):
        return _from_frame(wanted, table)
    if getattr(table, "ndim", None) != 2:
        raise InputError(
            "apply: expected a DataFrame, an array or a sparse matrix of two dimensions, got "
            f"{type(table).__name__}. Pass a table."
        )
    position = {f"x{j}": j for j in range(table.shape[1])}
    _check_present(wanted, position, "apply")
    table = table.tocsr() if hasattr(table, "tocsr") and table.format == "coo" else table
    return table[:, [position[name] for name in wanted]]


def _from_file(wanted: list[str], table: RawTable) -> RawTable:
    _check_present(wanted, table.column_names, table.who)
    reduced = reduce_table(table, wanted)
    if reduced.arrow is not None:
        return replace(reduced, names=tuple(wanted), arrow=reduced.arrow.select(wanted))
    position = {name: j for j, name in enumerate(reduced.names)}
    names = [name for name in wanted if name in position]  # y of an NPZ file is no column
    matrix = reduced.matrix[:, [position[name] for name in names]]
    return replace(reduced, names=tuple(names), matrix=matrix)


def _from_frame(wanted: list[str], table: Any) -> Any:
    if hasattr(table, "loc"):  # pandas, whose names of columns need not be strings
        position = {str(name): j for j, name in enumerate(table.columns)}
        _check_present(wanted, position, "apply")
        return table.iloc[:, [position[name] for name in wanted]]
    names = table.column_names if hasattr(table, "column_names") else table.columns
    _check_present(wanted, names, "apply")
    return table.select(wanted)


def _check_present(wanted: list[str], names: Iterable[str], who: str) -> None:
    known = set(names)
    missing = [name for name in wanted if name not in known]
    if missing:
        raise InputError(
            f"{who}: expected all {counted(len(wanted), 'selected column')}, got a table without "
            f"{listed(missing, MAX_MISSING)}. Add them, or select again on this table."
        )
