"""The exact energy of the OFW paper's synthetic example and its exact gradient, by enumeration.

With ternary columns and few drawn at a time, all sets of columns can be tried. A set of k columns
has 3^k patterns, and the nearest rows of a pattern are known from how many rows of each class have
which pattern, so no distance is ever computed between rows.
"""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

N_LEVELS, N_CLASSES = 3, 3
# Sets that are looked at together, for memory.
BLOCK = 1000


def energy_tables(X: Any, y: Any, X_test: Any, y_test: Any, size: int) -> tuple[Floats, Floats]:
    """Error of the nearest neighbour on every tuple of `size` columns: leave-one-out, and on test.

    Arrays with `size` axes; columns that occur twice in a tuple count once.
    """
    train, test = (np.asarray(table).astype(np.int64) + 1 for table in (X, X_test))
    n = train.shape[1]
    tables = np.zeros((2, *[n] * size))
    for distinct in range(1, size + 1):
        sets = np.array(list(combinations(range(n), distinct)))
        errors = [
            _errors(train, y, test, y_test, sets[start : start + BLOCK])
            for start in range(0, len(sets), BLOCK)
        ]
        _fill(tables, sets, np.concatenate(errors, axis=1))
    return tables[0], tables[1]


def _fill(tables: Floats, sets: NDArray[np.intp], errors: Floats) -> None:
    """Write the errors of sets at all tuples that have just their columns."""
    size, distinct = tables.ndim - 1, sets.shape[1]
    for places in product(range(distinct), repeat=size):
        if len(set(places)) == distinct:
            where: tuple[Any, ...] = tuple(sets[:, place] for place in places)
            tables[(slice(None), *where)] = errors


def _errors(train: Any, y: Any, test: Any, y_test: Any, sets: NDArray[np.intp]) -> Floats:
    counts, seen = pattern_counts(train, y, sets), pattern_counts(test, y_test, sets)
    n_rows, n_test = len(y), len(y_test)
    left_out = np.zeros(len(sets))
    for label in range(N_CLASSES):
        others = counts.copy()
        others[:, :, label] -= 1  # where there is none of the class, nobody asks
        right = nearest_class(others, sets.shape[1]) == label
        left_out += (counts[:, :, label] * right).sum(axis=1)
    found = nearest_class(counts, sets.shape[1])
    hits = np.take_along_axis(seen, found[:, :, None], axis=2).sum(axis=(1, 2))
    return np.array([1.0 - left_out / n_rows, 1.0 - hits / n_test])


def pattern_counts(rows: Any, y: Any, sets: NDArray[np.intp]) -> NDArray[np.int64]:
    """Rows by set, pattern and class."""
    distinct = sets.shape[1]
    n_cells = N_LEVELS**distinct * N_CLASSES
    codes = np.zeros((len(sets), rows.shape[0]), dtype=np.int64)
    for place in range(distinct):
        codes = codes * N_LEVELS + rows[:, sets[:, place]].T
    codes = codes * N_CLASSES + np.asarray(y) + np.arange(len(sets))[:, None] * n_cells
    counts = np.bincount(codes.ravel(), minlength=len(sets) * n_cells)
    return counts.reshape(len(sets), -1, N_CLASSES)


def nearest_class(counts: NDArray[np.int64], distinct: int) -> NDArray[np.intp]:
    """Most frequent class among the nearest rows of every pattern; of equal ones the first.

    All rows at the least distance vote, as in the learner of OFW.
    """
    patterns = np.array(list(product(range(N_LEVELS), repeat=distinct)))
    distance = (patterns[:, None, :] != patterns[None, :, :]).sum(axis=2)
    votes = np.zeros_like(counts)
    open_ = np.ones(counts.shape[:2], dtype=bool)
    for away in range(distinct + 1):
        near = (distance == away).astype(np.int64)
        around = np.matmul(near, np.maximum(counts, 0))
        votes = np.where(open_[:, :, None], around, votes)
        open_ &= around.sum(axis=2) == 0
    return np.asarray(votes.argmax(axis=2))


def energy(table: Floats, weights: Floats) -> float:
    """Mean error of tuples drawn from the weights: a polynomial in them."""
    value: Any = table
    for _ in range(table.ndim):
        value = value @ weights
    return float(value)


def gradient(table: Floats, weights: Floats) -> Floats:
    """Derivatives of the energy by the weights (Eq. 7 of the paper times the degree)."""
    value: Any = table
    for _ in range(table.ndim - 1):
        value = value @ weights
    return np.asarray(table.ndim * value)


def descend(
    table: Floats, method: str, n_steps: int = 2000, start: Floats | None = None
) -> list[tuple[int, Floats]]:
    """Exact gradient descent, from uniform weights by default; weights on the way, with their step.

    A step is halved until the energy does not rise, and grows again afterwards, so there is no
    step size to choose. The exponential one is Eq. 12; the Euclidean one (Eq. 8) is brought back
    to the simplex where it would leave it.
    """
    weights = np.full(table.shape[0], 1.0 / table.shape[0]) if start is None else start
    path, now, size = [(0, weights)], energy(table, weights), 1.0
    for step in range(1, n_steps + 1):
        slope = gradient(table, weights)
        size *= 2.0
        for _ in range(60):
            tried = _moved(weights, slope, size, method)
            value = energy(table, tried)
            if value <= now:
                break
            size *= 0.5
        gain, weights, now = now - value, tried, value
        path.append((step, weights))
        if gain < 1e-8:
            break
    return path


def _moved(weights: Floats, slope: Floats, size: float, method: str) -> Floats:
    if method == "exponential":
        # Eq. 12: the slope of the energy by log P, without its part across the simplex.
        by_log = weights * slope
        kappa = (weights @ by_log) / (weights @ weights)
        moved = weights * np.exp(-size * (by_log - kappa * weights))
        return np.asarray(moved / moved.sum())
    return project(weights - size * (slope - slope.mean()))


def project(point: Floats) -> Floats:
    """Nearest point of the simplex."""
    falling = np.sort(point)[::-1]
    excess = (np.cumsum(falling) - 1.0) / np.arange(1, point.size + 1)
    return np.maximum(point - excess[np.flatnonzero(falling > excess)[-1]], 0.0)
