"""Loops of GFlip on the matrix of squared distances, whose diagonal is infinite.

Rows come sorted by class: the class of row i is the range ``begin[i]`` to ``end[i]``.
"""

import numpy as np

from tamis._runtime.compilation import inline, kernel

# Distances that are compared side by side.
LANES = 32


@inline
def smallest(squares, column, value, sign, first, last, lanes):
    """Smallest squared distance in a range of rows, with `sign` times one column added."""
    lanes[:] = np.inf
    p = first
    while p + LANES <= last:
        near, cells = squares[p : p + LANES], column[p : p + LANES]
        for c in range(LANES):
            gap = value - cells[c]
            square = near[c] + sign * (gap * gap)
            lanes[c] = square if square < lanes[c] else lanes[c]
        p += LANES
    best = np.inf
    while p < last:
        gap = value - column[p]
        best = min(best, squares[p] + sign * (gap * gap))
        p += 1
    for c in range(LANES):
        best = min(best, lanes[c])
    return max(best, 0.0)  # a column that is taken out may leave less than nothing by rounding


@kernel
def margins(squares, column, sign, begin, end, first, last, out):
    """Margins of some rows; `sign` adds the column (1), takes it out (-1) or leaves it (0)."""
    lanes = np.empty(LANES)
    n_rows = squares.shape[0]
    for i in range(first, last):
        x, row = column[i], squares[i]
        hit = smallest(row, column, x, sign, begin[i], end[i], lanes)
        miss = smallest(row, column, x, sign, 0, begin[i], lanes)
        miss = min(miss, smallest(row, column, x, sign, end[i], n_rows, lanes))
        out[i] = 0.5 * (np.sqrt(miss) - np.sqrt(hit)) if end[i] - begin[i] > 1 else 0.0


@kernel
def add_column(squares, column, first, last):
    """Add the squared differences of a column to a range of rows."""
    for i in range(first, last):
        x, row = column[i], squares[i]
        for p in range(row.shape[0]):
            gap = x - column[p]
            row[p] += gap * gap
