"""Best cut of every column from its summary by bins; arrays in, arrays out."""

import numpy as np

from tamis._jit import inline, kernel


@inline
def xlog2x(x, logs, whole):
    """``x * log2(x)``; whole numbers, which unweighted counts are, come from a table."""
    if whole:
        return logs[np.uint32(x)]
    return x * np.log2(x) if x > 0.0 else 0.0


@inline
def entropy_curve(counts, j, logs, whole, n_left, curve):
    """Weighted entropy, in bits, of every cut of column j; returns that without a cut.

    With n_c the weight of class c on one side and n their sum, a side contributes
    ``n log n - sum_c n_c log n_c`` (n times its entropy), so no probability is ever formed.
    """
    n_cuts = curve.shape[0]
    n_left[:] = 0.0
    curve[:] = 0.0
    n = 0.0
    bits = 0.0
    for c in range(counts.shape[0]):
        column = counts[c, j]
        total = 0.0
        for b in range(n_cuts + 1):
            total += column[b]
        n += total
        bits += xlog2x(total, logs, whole)
        left = 0.0
        for b in range(n_cuts):
            left += column[b]
            n_left[b] += left
            right = max(total - left, 0.0)
            curve[b] += xlog2x(left, logs, whole) + xlog2x(right, logs, whole)
    if not n > 0.0:
        return np.nan
    for b in range(n_cuts):
        n_right = max(n - n_left[b], 0.0)
        sides = xlog2x(n_left[b], logs, whole) + xlog2x(n_right, logs, whole)
        curve[b] = max((sides - curve[b]) / n, 0.0)
    return max((xlog2x(n, logs, whole) - bits) / n, 0.0)


@inline
def variance_curve(sums, squares, j, curve):
    """Mean squared error around the two means, of every cut of column j; returns the variance."""
    n_cuts = curve.shape[0]
    w, t = 0.0, 0.0
    for b in range(n_cuts + 1):
        w += sums[j, b, 0]
        t += sums[j, b, 1]
    if not w > 0.0:
        return np.nan
    variance = max(squares[j] - t * t / w, 0.0) / w
    left_w, left_t = 0.0, 0.0
    for b in range(n_cuts):
        left_w += sums[j, b, 0]
        left_t += sums[j, b, 1]
        right_w = w - left_w
        curve[b] = variance
        if left_w > 0.0 and right_w > 0.0:
            # What the two means explain; a difference of squares would lose its digits.
            gap = left_t / left_w - (t - left_t) / right_w
            curve[b] = max(variance - left_w * right_w / (w * w) * gap * gap, 0.0)
    return variance


@inline
def first_minimum(curve):
    """Position of the smallest value; of equal ones the first."""
    best = 0
    for b in range(1, curve.shape[0]):
        if curve[b] < curve[best]:
            best = b
    return best


@kernel
def best_entropy_cuts(counts, n_bins, logs, whole, loss, base, best, first, last):
    """Smallest entropy and its cut, and the entropy without a cut, of columns first to last."""
    n_left = np.empty(n_bins - 1)
    curve = np.empty(n_bins - 1)
    for j in range(first, last):
        base[j] = entropy_curve(counts, j, logs, whole, n_left, curve)
        best[j] = first_minimum(curve)
        loss[j] = curve[best[j]]


@kernel
def best_variance_cuts(sums, squares, n_bins, loss, base, best, first, last):
    """Smallest mean squared error and its cut, and the variance, of columns first to last."""
    curve = np.empty(n_bins - 1)
    for j in range(first, last):
        base[j] = variance_curve(sums, squares, j, curve)
        best[j] = first_minimum(curve)
        loss[j] = curve[best[j]]


@kernel
def entropy_losses(counts, n_bins, logs, whole, j):
    """All losses of one column, and that without a cut."""
    curve = np.empty(n_bins - 1)
    base = entropy_curve(counts, j, logs, whole, np.empty(n_bins - 1), curve)
    return curve, base


@kernel
def variance_losses(sums, squares, n_bins, j):
    """All losses of one column, and that without a cut."""
    curve = np.empty(n_bins - 1)
    base = variance_curve(sums, squares, j, curve)
    return curve, base
