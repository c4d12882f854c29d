"""CutRule: how many features; TopK; and the rule that a user means by a number or a word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis._ranking import Ranking
from tamis._runtime.warning import warn
from tamis._validation import Number, check_value
from tamis.cutoff.fit_data import FitData
from tamis.cutoff.groups import Column, Indices, Teams
from tamis.exceptions import InputError


class Cut(NamedTuple):
    """Columns that a rule asks for, best first; how many at most; and what else it found."""

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
    # Whether it tests features, so that a selection at chance is what it states or nothing.
    states_level = False
    # What to do, or to think, if nothing was selected.
    remedy = "Choose a more generous rule."

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
        if self.needs_data and not self.is_answered(data):
            raise InputError(
                f"{self.who}: expected the training data, because the rule looks at it, got none. "
                f"Fit with n_features_to_select={self.who}(...), or call recut(rule, X, y)."
            )
        cut = self.find(ranking, data)
        if self.keep is None and self.groups is None:
            support = np.zeros(ranking.n_columns, dtype=bool)
            support[cut.wanted[: cut.limit]] = True
        else:
            support = self.teams(ranking).fill(cut.wanted, cut.limit, ranking)
        if not support.any():
            warn(f"{self.who}: no column was selected. {self.remedy}")
        return support, cut.details

    def needs_rows(self, selector: Any) -> bool:
        """Whether a selector that is about to be fitted must offer its rows."""
        return self.needs_data

    def is_answered(self, data: FitData | None) -> bool:
        """Whether there is what the rule needs to look at."""
        return data is not None and data.X is not None and data.y is not None

    def teams(self, ranking: Ranking) -> Teams:
        """Columns that `keep` and `groups` describe."""
        return Teams.of(self.keep, self.groups, ranking, self.who)


@dataclass(frozen=True, eq=False)
class TopK(CutRule):
    """Keep the `k` best columns, exactly: ties are broken by position, never by keeping more.

    Parameters
    ----------
    k : int
        How many columns, those of `keep` included. More than there are keeps all, with a warning.
    keep, groups : optional
        As in :class:`CutRule`; a group that does not fit is passed over.

    Examples
    --------
    >>> import tamis
    >>> X, y = [[0, 5, 1], [1, 5, 1], [2, 7, 2], [3, 7, 1]], [0, 0, 1, 1]
    >>> tamis.DFT(n_features_to_select=tamis.cutoff.TopK(2)).fit(X, y).get_support()
    array([ True,  True, False])
    """

    k: int

    def __post_init__(self) -> None:
        check_value(self.k, Number(int, low=1), who=self.who, name="k")

    def find(self, ranking: Ranking, data: FitData | None) -> Cut:
        """Columns that vary first; constant ones only when nothing else is left."""
        if self.k > ranking.n_columns:
            n = ranking.n_columns
            warn(f"{self.who}: asked for {self.k} columns, but there are {n}; all are kept.")
        constant = ranking.order[ranking.constant[ranking.order]]
        return Cut(np.concatenate([ranking.useful, constant]), self.k, {})


def as_rule(value: Any, *, who: str = "as_rule", name: str = "n_features_to_select") -> CutRule:
    """Turn the value of `n_features_to_select` into a rule.

    Parameters
    ----------
    value : "auto", int, float, "elbow", "all" or CutRule
        A word, a count, a share or a rule; a rule is returned as it is.
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
    if isinstance(value, CutRule):
        return value
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= 1:
        return TopK(int(value))
    if isinstance(value, str) and value == "auto":
        from tamis.certainty.beyond_chance import BeyondChance

        return BeyondChance()
    from tamis.cutoff.words import rule_of

    return rule_of(value, who, name)
