"""Recursive elimination of columns by the weights of linear problems."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.compilation import announce_compilation
from tamis.linear_svm import hinge

Floats = NDArray[np.float64]
# The Gram matrix is made anew when what is left of it is a quarter of what it was: columns that
# were taken out leave rounding errors of their size behind.
FADED = 0.25
# With so few columns it is made anew in every round, which then costs no more than taking one out.
FEW_COLUMNS = 4


@dataclass(frozen=True)
class Training:
    """How the problems are trained, and how many columns go in a round."""

    step: float
    multi_class: str
    tol: float
    max_iter: int


class Elimination:
    """An elimination under way; what it has found so far is in `order` and `criterion`.

    `columns` is the transposed table, (n_columns, n_rows) and C-ordered; `codes` are the sorted
    classes of its rows, `price` the positive cost of a unit of slack of each row.
    """

    def __init__(
        self, columns: Floats, codes: NDArray[np.int32], price: Floats, training: Training
    ):
        self.columns, self.training = columns, training
        self.problems = hinge.make_problems(codes, price, training.multi_class)
        self.beta = np.zeros(self.problems.sign.size)
        self.alive = np.arange(columns.shape[0])
        # Best first; filled from the end.
        self.order = np.empty(columns.shape[0], dtype=np.int64)
        self.criterion = np.zeros(columns.shape[0])
        self.gap = 0.0
        self._gram: Floats | None = None
        self._mass = 0.0

    @property
    def positions(self) -> Floats:
        """Number of columns for the best, 1 for the one dropped first."""
        positions = np.empty(self.order.size)
        positions[self.order] = np.arange(self.order.size, 0, -1)
        return positions

    def turns(self, n_rounds: int) -> Iterator[int]:
        """Run until all columns are in order, `n_rounds` at a time; yields how many are left."""
        while self.alive.size:
            done = 0
            while self.alive.size and done < n_rounds:
                done += self._advance(n_rounds - done, self.training.step)
            yield int(self.alive.size)

    def finish(self) -> None:
        """Order all columns that are left by one training."""
        if self.alive.size:
            self._advance(1, float(self.alive.size))

    def _advance(self, max_rounds: int, step: float) -> int:
        """Some more rounds, at least one; returns how many."""
        if hinge.is_long(self.columns.shape[1], self.alive.size):
            self._one_long_round(step)
            return 1
        return self._many_rounds(max_rounds, step)

    def _many_rounds(self, max_rounds: int, step: float) -> int:
        from tamis.wrappers import _elimination_kernels as kernels

        n_rows = self.columns.shape[1]
        stop = n_rows // hinge.LONG if n_rows > hinge.FEW_ROWS else 0
        training = self.training
        if self._gram is None:
            whole = self.alive.size == len(self.columns)
            left = self.columns if whole else self.columns[self.alive]
            self._gram = left.T @ left
            self._mass = FADED * float(np.trace(self._gram))
        mass = self._mass if self.alive.size > FEW_COLUMNS else np.inf
        with announce_compilation(kernels.eliminate):
            n_left, n_rounds, gap, stale = kernels.eliminate(
                self.columns, self._gram, *self.problems, self.beta, self.alive, self.order,
                self.criterion, float(step), mass, min(stop, self.alive.size - 1), max_rounds,
                training.tol, training.max_iter,
            )  # fmt: skip
        if stale:
            self._gram = None
        self.gap = max(self.gap, gap)
        self.alive = self.alive[:n_left]
        return int(n_rounds)

    def _one_long_round(self, step: float) -> None:
        from tamis.wrappers import _elimination_kernels as kernels

        left = self.columns[self.alive]
        training = self.training
        gap = hinge.train_problems(left, self.problems, self.beta, training.tol, training.max_iter)
        weights = hinge.squared_weights(left, self.problems, self.beta)
        size = weights.size
        count = dropped(step, size)
        gone = kernels.weakest(weights, count)
        self.order[size - count : size] = self.alive[gone][::-1]
        self.criterion[self.alive[gone]] = weights[gone]
        self.alive = np.delete(self.alive, gone)
        self._gram, self.gap = None, max(self.gap, gap)


def dropped(step: float, n_left: int) -> int:
    """Columns that go in a round."""
    return max(1, int(step * n_left)) if step < 1 else min(int(step), n_left)


def count_rounds(step: float, n_columns: int) -> int:
    """Rounds of an elimination."""
    count = 0
    while n_columns:
        n_columns -= dropped(step, n_columns)
        count += 1
    return count
