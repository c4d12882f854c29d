"""Loops over row-major blocks that merge the moments of every class."""

import numpy as np

from tamis._runtime.compilation import inline, kernel

# Rows that are read twice while they are in cache.
MOMENT_ROWS = 64


@inline
def merge_tile(k, j, w, m, s, total, mean, spread):
    """Merge a tile's moments into running ones by the formula of Chan, Golub and LeVeque."""
    if w > 0.0:
        new = total[k, j] + w
        d = m - mean[k, j]
        mean[k, j] += d * (w / new)
        spread[k, j] += s + d * d * (total[k, j] * w / new)
        total[k, j] = new


@kernel
def class_moments_rows(X, order, bounds, weights, total, mean, spread, first, last):
    """Merge the rows of a block, sorted by class, into ``[class, column]`` tables.

    `order` lists the rows; those of class k lie at ``bounds[k]`` to ``bounds[k + 1]``. Deviations
    are taken from the mean of a tile of rows, which is read twice, so nothing cancels.
    """
    n = last - first
    w = np.empty(n)
    m = np.empty(n)
    s = np.empty(n)
    for k in range(bounds.shape[0] - 1):
        for a in range(bounds[k], bounds[k + 1], MOMENT_ROWS):
            b = min(a + MOMENT_ROWS, bounds[k + 1])
            w[:] = 0.0
            m[:] = 0.0
            s[:] = 0.0
            for i in range(a, b):
                row = X[order[i], first:last]
                weight = weights[order[i]]
                for j in range(n):
                    x = np.float64(row[j])
                    w[j] += weight if x == x else 0.0
                    m[j] += weight * x if x == x else 0.0
            for j in range(n):
                m[j] = m[j] / w[j] if w[j] > 0.0 else 0.0
            for i in range(a, b):
                row = X[order[i], first:last]
                weight = weights[order[i]]
                for j in range(n):
                    d = np.float64(row[j]) - m[j]
                    s[j] += weight * d * d if d == d else 0.0
            for j in range(n):
                merge_tile(k, first + j, w[j], m[j], s[j], total, mean, spread)
