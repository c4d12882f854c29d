"""Columns by name or index, and columns that stand or fall together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis._ranking import Ranking
from tamis._runtime.wording import did_you_mean
from tamis.exceptions import InputError

Indices = NDArray[np.intp]
Column = int | str


class Teams(NamedTuple):
    """Columns always kept, and a label per column; without labels every column is alone."""

    kept: Indices
    labels: Indices | None

    @classmethod
    def of(cls, keep: Any, groups: Any, ranking: Ranking, who: str) -> Teams:
        """Read any of the accepted forms of `keep` and `groups`."""
        labels = None if groups is None else _labels(groups, ranking, f"{who}: groups")
        return cls(resolve(() if keep is None else keep, ranking, f"{who}: keep"), labels)

    def members(self, column: int) -> Indices:
        """All columns that go with `column`, itself included."""
        if self.labels is None:
            return np.array([column])
        return np.flatnonzero(self.labels == self.labels[column])

    def start(self, ranking: Ranking) -> NDArray[np.bool_]:
        """Mask of the columns that are always kept, and of those that go with them."""
        support = np.zeros(ranking.n_columns, dtype=bool)
        for column in self.kept:
            support[self.members(int(column))] = True
        return support

    def fill(self, wanted: Indices, limit: int | None, ranking: Ranking) -> NDArray[np.bool_]:
        """Take what is always kept, then what is wanted, whole groups at a time, to the limit."""
        support = self.start(ranking)
        count = int(support.sum())
        for column in wanted:
            if support[column]:
                continue
            # Groups that do not fit may leave room, but not for a column that never varies.
            if ranking.constant[column] and not support[ranking.useful].all():
                break
            team = self.members(int(column))
            if limit is None or count + team.size <= limit:
                support[team] = True
                count += team.size
        return support


def _labels(groups: Any, ranking: Ranking, who: str) -> Indices:
    n = ranking.n_columns
    named = isinstance(groups, Mapping)
    groups = _listed(groups.values() if named else groups)
    if groups and not named and not any(_is_list(item) for item in groups):
        if len(groups) != n:
            raise InputError(
                f"{who} must hold lists of columns or one label per column ({n}), "
                f"got {len(groups)} labels."
            )
        codes: dict[Any, int] = {}
        return np.array([codes.setdefault(label, len(codes)) for label in groups])
    labels = np.arange(n)
    for number, members in enumerate(groups):
        columns = resolve(members, ranking, who)
        twice = columns[labels[columns] >= n]
        if twice.size:
            name = ranking.name(int(twice.min()))
            raise InputError(f"{who}: expected every column in one group, got {name!r} in two.")
        labels[columns] = n + number
    return labels


def resolve(columns: Iterable[Column], ranking: Ranking, who: str) -> Indices:
    """Indices of columns given by index or name."""
    found = [_index_of(column, ranking, who) for column in _listed(columns)]
    return np.array(found, dtype=np.intp)


def _is_list(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes)


def _listed(value: Any) -> list[Any]:
    return list(value) if _is_list(value) else [value]


def _index_of(column: Column, ranking: Ranking, who: str) -> int:
    n = ranking.n_columns
    if isinstance(column, int | np.integer) and not isinstance(column, bool):
        if -n <= column < n:
            return int(column) % n
        raise InputError(f"{who}: expected a column index below {n}, got {column!r}.")
    if not isinstance(column, str):
        raise InputError(f"{who}: expected column names or indices, got {column!r}.")
    position = ranking.positions_by_name.get(column)
    if position is not None:
        return position
    hint = did_you_mean(column, ranking.positions_by_name)
    raise InputError(f"{who}: expected a column of the table, got {column!r}.{hint}")
