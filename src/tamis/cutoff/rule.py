"""CutRule: how many features; and the rule that a user means by a number or a word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis._ranking import Ranking
from tamis._runtime.warning import warn
from tamis.cutoff.fit_data import FitData
from tamis.cutoff.groups import Column, Indices, Teams, resolve
from tamis.exceptions import InputError

EXPECTED = (
    "an int of at least 1, a float in (0, 1], 'elbow', 'all', or a rule from tamis.cutoff such "
    "as TopK(20)"
)


class Cut(NamedTuple):
    """Result of a rule.

    `wanted` columns are asked for, best first; `limit` bounds how many (or None); `details` holds
    whatever else the rule found out, as plain numbers and arrays.
    """

    wanted: Indices
    limit: int | None
    details: dict[str, Any]


@dataclass(frozen=True, kw_only=True, eq=False)
class CutRule:
    """Base of the rules that decide how many columns are selected.

    Parameters
    ----------
    keep : sequence of int or str, or None
        Columns that are always selected, by index or name.
    groups : sequence of sequences, mapping, or sequence of labels, or None
        Columns that stand or fall together: lists of columns, a mapping from group names to
        lists of columns, or one label per column. A group has the rank of its best column.
    """

    keep: Sequence[Column] | None = None
    groups: Sequence[Any] | Mapping[Any, Sequence[Column]] | None = None

    needs_data = False

    @property
    def who(self) -> str:
        """Name used in messages."""
        return type(self).__name__

    def find(self, ranking: Ranking, data: FitData | None) -> Cut:
        """Columns that the rule asks for, before `keep` and `groups` are looked at."""
        raise NotImplementedError

    def select(
        self, ranking: Ranking, data: FitData | None = None
    ) -> tuple[NDArray[np.bool_], dict[str, Any]]:
        """Mask of the selected columns, and what the rule found out on the way."""
        if self.needs_data and (data is None or data.X is None or data.y is None):
            raise InputError(
                f"{self.who}: expected the training data, because the rule looks at it, got none. "
                f"Fit with n_features_to_select={self.who}(...), or call recut(rule, X, y)."
            )
        cut = self.find(ranking, data)
        support = self._fill(cut, ranking)
        if not support.any():
            warn(
                f"{self.who}: no column was selected. Choose a more generous rule.",
            )
        return support, cut.details

    def _fill(self, cut: Cut, ranking: Ranking) -> NDArray[np.bool_]:
        """Take `keep` first, then what is wanted, whole groups at a time, up to the limit."""
        support = np.zeros(ranking.n_columns, dtype=bool)
        if self.keep is None and self.groups is None:
            support[cut.wanted[: cut.limit]] = True
            return support
        teams = self.teams(ranking)
        for column in self.kept_columns(ranking):
            support[teams.members(int(column))] = True
        count = int(support.sum())
        for column in cut.wanted:
            if support[column]:
                continue
            # Groups that do not fit may leave room, but not for a column that never varies.
            if ranking.constant[column] and not support[ranking.useful].all():
                break
            team = teams.members(int(column))
            if cut.limit is None or count + team.size <= cut.limit:
                support[team] = True
                count += team.size
        return support

    def kept_columns(self, ranking: Ranking) -> Indices:
        """Indices of the columns named in `keep`."""
        return resolve(() if self.keep is None else self.keep, ranking, f"{self.who}: keep")

    def teams(self, ranking: Ranking) -> Teams:
        """Partition of the columns that `groups` describes."""
        return Teams.of(self.groups, ranking, f"{self.who}: groups")


def as_rule(value: Any, *, who: str = "as_rule", name: str = "n_features_to_select") -> CutRule:
    """Turn the value of `n_features_to_select` into a rule.

    Parameters
    ----------
    value : int, float, "elbow", "all" or CutRule
        A count, a share, a word or a rule; a rule is returned as it is.
    who, name : str
        Who asks, and for which parameter; used in the error message.

    Returns
    -------
    rule : CutRule
        The rule meant.

    Examples
    --------
    >>> from tamis.cutoff import as_rule
    >>> as_rule(0.1)
    Fraction(keep=None, groups=None, f=0.1)
    """
    from tamis.cutoff.elbow import Elbow
    from tamis.cutoff.fraction import Fraction
    from tamis.cutoff.top_k import TopK

    if isinstance(value, CutRule):
        return value
    if isinstance(value, str):
        if value == "elbow":
            return Elbow()
        if value == "all":
            return Fraction(1.0)
    elif isinstance(value, bool | np.bool_):
        pass
    elif isinstance(value, int | np.integer) and value >= 1:
        return TopK(int(value))
    elif isinstance(value, float | np.floating) and 0 < value <= 1:
        return Fraction(float(value))
    raise InputError(f"{who}: {name} must be {EXPECTED}, got {value!r}.")
