"""Threshold, Mass and Budget: rules that go down the order until enough is taken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tamis._ranking import Ranking
from tamis._validation import Number, check_value
from tamis.cutoff.fit_data import FitData
from tamis.cutoff.groups import resolve
from tamis.cutoff.rule import Cut, CutRule
from tamis.exceptions import InputError


@dataclass(frozen=True, eq=False)
class Threshold(CutRule):
    """Keep every column whose score is at least `t`; constant columns never qualify.

    Parameters
    ----------
    t : float
        Smallest score that is good enough.
    keep, groups : optional
        As in :class:`CutRule`.

    Examples
    --------
    >>> import tamis
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> tamis.DFT().fit(X, y).recut(tamis.cutoff.Threshold(0.5)).get_support()
    array([False, False,  True,  True])
    """

    t: float

    def __post_init__(self) -> None:
        check_value(self.t, Number(float), who=self.who, name="t")

    def find(self, ranking: Ranking, data: FitData | None) -> Cut:
        """Take the prefix of the order that reaches the threshold."""
        return Cut(ranking.useful[ranking.curve >= self.t], None, {"threshold": float(self.t)})


@dataclass(frozen=True, eq=False)
class Mass(CutRule):
    """Keep the smallest prefix of the order that holds a share `m` of the total score.

    Parameters
    ----------
    m : float
        Share of the total score, in (0, 1].
    keep, groups : optional
        As in :class:`CutRule`.

    Examples
    --------
    >>> import tamis
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> tamis.DFT().fit(X, y).recut(tamis.cutoff.Mass(0.6)).n_selected_
    2
    """

    m: float

    def __post_init__(self) -> None:
        check_value(self.m, Number(float, low=0, high=1, open_low=True), who=self.who, name="m")

    def find(self, ranking: Ranking, data: FitData | None) -> Cut:
        """Walk down the order until enough is gathered."""
        curve = ranking.curve
        if (curve < 0).any():
            raise InputError(
                f"{self.who}: expected scores that are not negative, because shares of a total "
                f"need that, got {curve.min()!r}. Use TopK, Threshold or Elbow instead."
            )
        total = np.cumsum(curve)
        if not curve.size or total[-1] == 0:
            return Cut(ranking.useful[:0], None, {"mass": 0.0})
        # The last sum may miss the total by rounding when m is 1 or falls on a boundary.
        count = int(np.searchsorted(total, self.m * total[-1] * (1 - 1e-12))) + 1
        return Cut(ranking.useful[:count], None, {"mass": float(total[count - 1] / total[-1])})


@dataclass(frozen=True, eq=False)
class Budget(CutRule):
    """Walk down the order and take every column, or group, that the budget still pays for.

    Parameters
    ----------
    costs : sequence of float, or mapping from column to float
        Cost of every column, not negative. Columns that a mapping leaves out are free.
    budget : float
        What may be spent. The columns in `keep` are paid first, even when they cost more.
    keep, groups : optional
        As in :class:`CutRule`; a group costs the sum of its columns.

    Examples
    --------
    >>> import tamis
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> rule = tamis.cutoff.Budget(costs=[1, 1, 5, 3], budget=4)
    >>> tamis.DFT().fit(X, y).recut(rule).get_support()
    array([ True, False, False,  True])
    """

    costs: Sequence[float] | Mapping[int | str, float]
    budget: float

    def __post_init__(self) -> None:
        check_value(self.budget, Number(float, low=0), who=self.who, name="budget")

    def find(self, ranking: Ranking, data: FitData | None) -> Cut:
        """Spend greedily, best column first."""
        costs, teams = self._costs(ranking), self.teams(ranking)
        taken = teams.start(ranking)
        spent = float(costs[taken].sum())
        wanted = []
        for column in ranking.useful:
            team = teams.members(int(column))
            price = float(costs[team].sum())
            if not taken[column] and spent + price <= self.budget * (1 + 1e-12):
                taken[team] = True
                spent += price
                wanted.append(column)
        return Cut(np.array(wanted, dtype=np.intp), None, {"cost": spent})

    def _costs(self, ranking: Ranking) -> NDArray[np.float64]:
        if isinstance(self.costs, Mapping):
            costs = np.zeros(ranking.n_columns)
            columns = resolve(list(self.costs), ranking, f"{self.who}: costs")
            costs[columns] = self._numbers(list(self.costs.values()))
        else:
            costs = self._numbers(self.costs)
        if costs.shape != (ranking.n_columns,):
            raise InputError(
                f"{self.who}: costs must hold one number per column ({ranking.n_columns}), "
                f"got {costs.size}."
            )
        if not (costs >= 0).all():
            raise InputError(f"{self.who}: costs must not be negative or missing, got {costs!r}.")
        return costs

    def _numbers(self, costs: Sequence[float]) -> NDArray[np.float64]:
        try:
            return np.asarray(costs, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"{self.who}: costs must be numbers, got {costs!r}.") from error
