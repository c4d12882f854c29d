"""SeparationProgram: a plane between two sides, every column at its price, by linear programs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.exceptions import InputError

Floats = NDArray[np.float64]
# Columns in the first program, and most that are added to the next.
FIRST, MORE = 50, 50
# By how much a column left out may beat its price, and the tolerance of the solver; the prices are
# scaled so that an error costs about 1.
EXCESS, TOLERANCE = 1e-8, 1e-9


class Plane(NamedTuple):
    """Optimum of one program: ``weights @ row - offset`` is positive on the positive side."""

    weights: Floats
    offset: float
    earned: Floats


class SeparationProgram:
    """Smallest ``cost @ errors + price @ abs(weights)`` of a plane, for one price after another.

    The error of a row is ``max(0, 1 - sign (row @ weights - offset))``. What is solved is the dual:
    multipliers u of the rows between 0 and their costs, ``sign @ u = 0``, and no column earning
    more than its price, ``abs(columns.T @ (sign u)) <= price``, such that ``u.sum()`` is largest.
    Few of these last conditions bind, so they are added as they are violated: the optimum over some
    columns is the optimum over all as soon as no column left out earns more than its price.

    `columns`, (n_rows, n_columns), are of about unit size; `sign` is 1 and -1 for the two sides;
    `cost` of a unit of error is above 0 and of mean 1 or so.
    """

    def __init__(self, columns: Floats, sign: Floats, cost: Floats, who: str):
        self.columns, self.sign, self.cost, self.who = columns, sign, cost, who
        # Multipliers of a plane without columns, where every row is in error.
        self.earned = self._earnings(cost)

    def _earnings(self, multipliers: Floats) -> Floats:
        return (self.sign * multipliers) @ self.columns

    def solve(self, price: Floats) -> Plane:
        """The best plane for these prices (above 0), exact to the tolerance of the solver."""
        working = np.argsort(-np.abs(self.earned) / price, kind="stable")[:FIRST]
        while True:
            weights, offset, multipliers = self._solve_restricted(working, price[working])
            self.earned = self._earnings(multipliers)
            excess = np.abs(self.earned) - price
            excess[working] = 0.0
            wanted = np.flatnonzero(excess > EXCESS)
            if not wanted.size:
                break
            best = np.argsort(-excess[wanted] / price[wanted], kind="stable")[:MORE]
            working = np.concatenate([working, wanted[best]])
        full = np.zeros(price.size)
        full[working] = np.where(np.abs(weights) > TOLERANCE, weights, 0.0)
        return Plane(full, offset, self.earned)

    def _solve_restricted(self, working: NDArray[np.intp], price: Floats) -> Any:
        """Weights, offset and multipliers of the rows for the columns `working` alone.

        What a column earns is a variable of its own, between minus and plus its price, so that the
        basis has one row per column and not one per row of the table, nor two per column.
        """
        n_rows, n_working = self.sign.size, working.size
        equations = np.zeros((n_working + 1, n_rows + n_working))
        equations[:-1, :n_rows] = self.columns[:, working].T * self.sign
        equations[:-1, n_rows:] = -np.eye(n_working)
        equations[-1, :n_rows] = self.sign
        high = np.concatenate([self.cost, price])
        low = np.concatenate([np.zeros(n_rows), -price])
        gain = np.concatenate([-np.ones(n_rows), np.zeros(n_working)])
        result = _solve(gain, equations, np.column_stack([low, high]), self.who)
        slope = result.eqlin.marginals
        return -slope[:-1], float(slope[-1]), result.x[:n_rows]


def _solve(gain: Floats, equations: Floats, bounds: Floats, who: str) -> Any:
    from scipy.optimize import linprog

    right = np.zeros(equations.shape[0])
    options = {"primal_feasibility_tolerance": TOLERANCE, "dual_feasibility_tolerance": TOLERANCE}
    # Presolve finds nothing in a dense program and takes a third of the time; it is a second try.
    for presolve in (False, True):
        result = linprog(
            gain, A_eq=equations, b_eq=right, bounds=bounds, method="highs-ds",
            options=options | {"presolve": presolve},
        )  # fmt: skip
        if result.status == 0:
            return result
    raise InputError(
        f"{who}: expected a linear program that HiGHS can solve, got {result.message!r} "
        "Leave out columns of a few outliers only, or change the penalty."
    )
