"""PermutedScores: scores of many orders of the target at once; Rotations: orders as one group."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.threads import run_parts, split_evenly, threads_for

Floats = NDArray[np.float64]
# Row numbers, one line per order: row i has the target of row ``order[i]``.
Orders = NDArray[np.int32]
# Cells that are looked at in one go.
CELLS_AT_A_TIME = 2**18


class Rotations(NamedTuple):
    """Rows in a random sequence, cut into orbits of equal length that rotate at the same time.

    The rotations are a group, so that a test by all of them is exact (Hemerik and Goeman 2018).
    Rows that are left over keep their target.
    """

    rows: NDArray[np.int32]
    n_orbits: int
    length: int

    def orders(self) -> Orders:
        """Every rotation as an order of the rows, the identity first."""
        n_moved = self.n_orbits * self.length
        moved = self.rows[:n_moved].reshape(self.n_orbits, self.length)
        orders = np.empty((self.length, self.rows.size), np.int32)
        orders[:, self.rows[n_moved:]] = self.rows[n_moved:]
        for step in range(self.length):
            orders[step, moved] = np.roll(moved, step, axis=1)
        return orders


class PermutedScores(Protocol):
    """What a selector offers whose scores of many orders of the target are found at once.

    Orders are compared by a statistic that grows with the score, the same function of it for all
    columns.
    """

    # Whether `targets` takes rotations, too.
    rotates: bool

    def targets(self, orders: Orders | Rotations) -> Any:
        """The target in all these orders, as `statistic` wants it."""

    def statistic(self, columns: NDArray[np.intp], targets: Any) -> NDArray[Any]:
        """Statistic of some columns for every order, ``[column, order]``."""

    def least(self, scores: Floats) -> NDArray[Any]:
        """Statistic that reaches a score; less than its own by what rounding may take away."""

    def scores(self, statistic: NDArray[Any]) -> Floats:
        """Scores that belong to values of the statistic."""


def complete(X: Any, weight: Floats | None, n_jobs: int | None = None) -> bool:
    """Whether a table is dense, nothing is missing, and its rows have no weights."""
    if weight is not None or not isinstance(X, np.ndarray):
        return False
    if X.dtype.kind != "f":
        return True
    height = max(1, CELLS_AT_A_TIME // max(X.shape[1], 1))
    found: list[bool] = []

    def look(first: int, last: int) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            # Infinite values were refused before, so a sum is NaN only where a value is.
            found.append(bool(np.isnan(X[first:last].sum())))

    parts = split_evenly(0, X.shape[0], -(-X.shape[0] // height))
    run_parts(look, parts, threads_for(X.size, n_jobs))
    return not any(found)
