"""Which columns the caller asked for, checked against the table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tamis._runtime.wording import listed, unknown_column
from tamis.data.raw_table import RawTable
from tamis.exceptions import InputError

NOT_NAMED = "not named in --columns"
EXCLUDED = "named in --exclude"


@dataclass(frozen=True)
class Choice:
    """The caller's say on columns.

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
    table: RawTable,
    target: str | None,
    columns: Iterable[str] | None,
    include: Iterable[str] | None,
    exclude: Iterable[str] | None,
) -> Choice:
    """Check that the names exist and do not contradict each other."""
    only = None if columns is None else _known(table, columns)
    wanted = _known(table, include or ())
    unwanted = _known(table, exclude or ())
    if target is None and table.target is not None and table.target_name not in unwanted:
        target = table.target_name
    if target is not None:
        _known(table, [target])
    choice = Choice(target, only, wanted, unwanted)
    _check_agreement(table.who, choice)
    return choice


def _known(table: RawTable, names: Iterable[str]) -> frozenset[str]:
    names = [names] if isinstance(names, str) else list(names)
    known = frozenset(table.column_names)
    for name in names:
        if name not in known:
            raise unknown_column(table.who, name, table.column_names)
    return frozenset(names)


def _check_agreement(who: str, choice: Choice) -> None:
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
