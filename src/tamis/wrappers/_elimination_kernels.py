"""Compiled loop of recursive elimination: train, drop the weakest features, update the matrix."""

import numpy as np

from tamis._runtime.compilation import inline, kernel
from tamis.linear_svm.hinge_kernels import squared_weights, train_problems


@kernel
def drop(weights, count, alive, order, criterion):
    """Drop the `count` weakest columns, of equal ones the later first; returns them."""
    n_left = weights.size
    if count == 1:
        places = np.zeros(1, np.int64)
        for a in range(1, n_left):
            if weights[a] <= weights[places[0]]:
                places[0] = a
    else:
        places = n_left - 1 - np.argsort(weights[::-1], kind="mergesort")[:count]
    gone = alive[places]
    for c in range(count):
        order[n_left - 1 - c] = gone[c]
        criterion[gone[c]] = weights[places[c]]
        alive[places[c]] = -1
    kept = 0
    for a in range(n_left):
        if alive[a] >= 0:
            alive[kept] = alive[a]
            kept += 1
    return gone


@inline
def take_out(gram, column):
    """Take a column out of the Gram matrix."""
    for i in range(column.size):
        for j in range(column.size):
            gram[i, j] -= column[i] * column[j]


@kernel
def eliminate(
    columns, gram, ranges, starts, sign, low, high, beta, alive, order, criterion, step, mass, stop,
    max_rounds, tol, max_iter,
):  # fmt: skip
    """Train, drop the weakest columns, take them out of the Gram matrix, and again.

    `step` is a share of the columns left if below 1, else a number. Ends after `max_rounds`, with
    `stop` columns left, or when the trace of the matrix has fallen to `mass`: rounding errors of
    what was taken out are left. Returns the columns left, rounds, largest gap, and whether it is
    stale.
    """
    n_left, rounds, worst, stale = alive.size, 0, 0.0, False
    weights = np.empty(n_left)
    while rounds < max_rounds and n_left > stop:
        gap = train_problems(gram, ranges, starts, sign, low, high, beta, tol, max_iter)
        worst = max(worst, gap)
        squared_weights(columns, alive[:n_left], ranges, starts, beta, weights)
        count = max(1, int(step * n_left) if step < 1.0 else min(int(step), n_left))
        gone = drop(weights[:n_left], count, alive, order, criterion)
        n_left -= count
        rounds += 1
        stale = count > n_left  # then it is less work to make the matrix anew
        if not stale:
            for column in gone:
                take_out(gram, columns[column])
        if stale or np.trace(gram) <= mass:
            stale = True
            break
    return n_left, rounds, worst, stale
