"""Budget: the best columns whose costs fit."""

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
class Budget(CutRule):
    """Walk down the order and take every column, or group, that the budget still pays for.

    Parameters
    ----------
    costs : sequence of float, or mapping from column to float
        Cost of every column, not negative. Columns that a mapping leaves out are free.
    budget : float
        What may be spent. The columns in `keep` are paid first, even when they cost more.
    keep : sequence of int or str, or None
        Columns that are always selected.
    groups : sequence of sequences, mapping, or sequence of labels, or None
        Columns that stand or fall together; a group costs the sum of its columns.

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
        taken = np.zeros(ranking.n_columns, dtype=bool)
        for column in self.kept_columns(ranking):
            taken[teams.members(int(column))] = True
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
