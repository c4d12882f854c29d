"""Loops over permuted targets: columns made ready, shares of class variances, counts by bits."""

import numpy as np

from tamis._runtime.compilation import inline, kernel

# Rows whose mean is taken off before values become float32.
FIRST_ROWS = 64
# A first guess of the mean that is so many deviations off is made again.
FAR = 8.0


@kernel
def standardise(X, rows, skip, first, last, out):
    """Write columns first to last of some rows to ``out``: mean 0, squares that sum to 1.

    ``out[:, 0]`` is column `first`.

    Deviations from the mean of a few rows are small enough for float32, and the table is read once.
    Columns in `skip` become 0.
    """
    n, width = rows.shape[0], last - first
    guess, total, squares = np.zeros(width), np.empty(width), np.empty(width)
    few = min(n, FIRST_ROWS)
    for i in range(few):
        for j in range(width):
            guess[j] += np.float64(X[rows[i], first + j]) / few
    for _ in range(2):
        total[:] = 0.0
        squares[:] = 0.0
        for i in range(n):
            line, cells = X[rows[i], first:last], out[i]
            for j in range(width):
                d = np.float64(line[j]) - guess[j]
                total[j] += d
                squares[j] += d * d
                cells[j] = np.float32(d)
        far = False
        for j in range(width):
            offset = total[j] * total[j] / n
            squares[j] = max(squares[j] - offset, 0.0)
            far = far or (offset > FAR * FAR * squares[j] and not skip[first + j])
        if not far:
            break
        for j in range(width):
            guess[j] += total[j] / n
    mean, scale = np.empty(width, np.float32), np.zeros(width, np.float32)
    for j in range(width):
        mean[j] = total[j] / n
        if squares[j] > 0.0 and not skip[first + j]:
            scale[j] = 1.0 / np.sqrt(squares[j])
    for i in range(n):
        cells = out[i]
        for j in range(width):
            cells[j] = (cells[j] - mean[j]) * scale[j]


@kernel
def sum_products(spectrum, target, out):
    """Sum over orbits of ``spectrum[orbit, k, column] * target[orbit, k]``."""
    out[:] = 0.0
    for c in range(target.shape[0]):
        for k in range(out.shape[0]):
            factor, one, line = target[c, k], spectrum[c, k], out[k]
            for j in range(line.shape[0]):
                line[j] += one[j] * factor


@inline
def two_variance_shares(sums, squares, sizes, out):
    """As `variance_shares` for two classes, in one go."""
    zero, one = np.float32(0.0), np.float32(1.0)
    a, c = one / np.float32(sizes[0]), one / np.float32(sizes[1])
    b = one / np.float32(sizes[0] - 1) if sizes[0] > 1 else zero
    d = one / np.float32(sizes[1] - 1) if sizes[1] > 1 else zero
    gaps = a * a + c * c
    for j in range(out.shape[0]):
        line, s, q = out[j], sums[j], squares[j]
        for i in range(line.shape[0]):
            square = s[i] * s[i]
            above = square * gaps
            first = max(q[i] - square * a, zero) * b
            second = max(one - q[i] - square * c, zero) * d
            whole = max(above + first + second, np.float32(1e-30))
            line[i] = np.sqrt(above / whole)


@kernel
def variance_shares(sums, squares, sizes, out):
    """Root of between / (between + within) of plain Fisher, from sums ``[class, column, order]``.

    Of all classes but the last, whose sums follow: columns have mean 0 and squares that sum to 1.
    """
    n_classes = sizes.shape[0]
    if n_classes == 2:
        two_variance_shares(sums[0], squares[0], sizes, out)
        return
    one = np.float32(1.0)
    mean = np.empty(n_classes, np.float32)
    free = np.empty(n_classes, np.float32)
    for k in range(n_classes):
        mean[k] = one / sizes[k]
        free[k] = one / (sizes[k] - 1) if sizes[k] > 1 else np.float32(0.0)
    width, count = out.shape
    rest_sum = np.empty(count, np.float32)
    rest_square = np.empty(count, np.float32)
    within = np.empty(count, np.float32)
    for j in range(width):
        between = out[j]
        between[:] = 0.0
        rest_sum[:] = 0.0
        rest_square[:] = 1.0
        within[:] = 0.0
        for k in range(n_classes - 1):
            s, q, a, b = sums[k][j], squares[k][j], mean[k], free[k]
            for i in range(count):
                gap = s[i] * a
                between[i] += gap * gap
                within[i] += max(q[i] - s[i] * gap, np.float32(0.0)) * b
                rest_sum[i] += s[i]
                rest_square[i] -= q[i]
        a, b = mean[n_classes - 1], free[n_classes - 1]
        for i in range(count):
            gap = rest_sum[i] * a
            above = between[i] + gap * gap
            below = within[i] + max(rest_square[i] - rest_sum[i] * gap, np.float32(0.0)) * b
            whole = above + below
            between[i] = np.sqrt(above / whole) if whole > 0.0 else np.float32(0.0)
