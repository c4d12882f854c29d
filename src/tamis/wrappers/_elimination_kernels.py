"""Compiled loop of recursive elimination: train, drop the weakest features, update the matrix."""

import numpy as np

from tamis._runtime.compilation import inline, kernel
from tamis.linear_svm.hinge_kernels import squared_weights, train_problems


@kernel
def weakest(weights, count):
    """Places of the `count` smallest, weakest first; of equal ones the later goes first."""
    if count == 1:
        place = 0
        for a in range(1, weights.size):
            if weights[a] <= weights[place]:
                place = a
        return np.full(1, place)
    last = weights.size - 1
    return last - np.argsort(weights[::-1], kind="mergesort")[:count]


@inline
def take_out(gram, column):
    """Take a column out of the Gram matrix."""
    for i in range(column.size):
        for j in range(column.size):
            gram[i, j] -= column[i] * column[j]


@inline
def close_gaps(alive, count):
    """Move the entries that are not negative to the front; returns how many there are."""
    kept = 0
    for a in range(count):
        if alive[a] >= 0:
            alive[kept] = alive[a]
            kept += 1
    return kept


@kernel
def eliminate(
    columns, gram, ranges, starts, sign, low, high, beta, alive, order, criterion, step, mass, stop,
    max_rounds, tol, max_iter,
):  # fmt: skip
    """Train, drop the weakest columns, take them out of the Gram matrix, and again.

    `step` is a share of the columns left if below 1, else a number; `alive` holds the columns left
    in ascending order. Ends after `max_rounds`, with `stop` columns left, or when the trace of the
    matrix has fallen to `mass`, for then what was taken out has left its rounding errors. Returns
    the number of columns left, the rounds, the largest gap, and whether the matrix has to be made
    anew.
    """
    n_left, rounds, worst, stale = alive.size, 0, 0.0, False
    weights = np.empty(n_left)
    while rounds < max_rounds and n_left > stop:
        gap = train_problems(gram, ranges, starts, sign, low, high, beta, tol, max_iter)
        worst = max(worst, gap)
        squared_weights(columns, alive[:n_left], ranges, starts, beta, weights)
        count = max(1, int(step * n_left) if step < 1.0 else min(int(step), n_left))
        places = weakest(weights[:n_left], count)
        for place in range(count):
            order[n_left - 1 - place] = alive[places[place]]
            criterion[alive[places[place]]] = weights[places[place]]
        stale = 2 * count > n_left  # then it is less work to make the matrix anew
        for c in range(count):
            if not stale:
                take_out(gram, columns[alive[places[c]]])
            alive[places[c]] = -1
        n_left = close_gaps(alive, n_left)
        rounds += 1
        if stale or np.trace(gram) <= mass:
            stale = True
            break
    return n_left, rounds, worst, stale
