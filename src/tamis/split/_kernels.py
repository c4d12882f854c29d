"""Best cut of every column by entropy or squared error, from weights or sums by bin."""

import numpy as np

from tamis._runtime.compilation import inline, kernel


@inline
def xlog2x(x):
    """``x * log2(x)``, zero at zero."""
    return x * np.log2(x) if x > 0.0 else 0.0


@inline
def entropy_curve(counts, j, n_left, curve):
    """Weighted entropy, in bits, of every cut of column j; returns that without a cut.

    A side with weights n_c of the classes and their sum n has ``n log n - sum_c n_c log n_c``.
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
        bits += xlog2x(total)
        left = 0.0
        for b in range(n_cuts):
            left += column[b]
            n_left[b] += left
            curve[b] += xlog2x(left) + xlog2x(total - left)
    if not n > 0.0:
        return np.nan
    for b in range(n_cuts):
        curve[b] = max((xlog2x(n_left[b]) + xlog2x(n - n_left[b]) - curve[b]) / n, 0.0)
    return max((xlog2x(n) - bits) / n, 0.0)


@kernel
def best_entropy_cuts(counts, n_bins, loss, base, best, first, last):
    """Smallest entropy and its cut, and the entropy without a cut, of columns first to last."""
    n_left = np.empty(n_bins - 1)
    curve = np.empty(n_bins - 1)
    for j in range(first, last):
        base[j] = entropy_curve(counts, j, n_left, curve)
        best[j] = np.argmin(curve)
        loss[j] = curve[best[j]]


@kernel
def entropy_losses(counts, n_bins, j):
    """All losses of one column, and that without a cut."""
    curve = np.empty(n_bins - 1)
    base = entropy_curve(counts, j, np.empty(n_bins - 1), curve)
    return curve, base


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


@kernel
def best_variance_cuts(sums, squares, n_bins, loss, base, best, first, last):
    """Smallest mean squared error and its cut, and the variance, of columns first to last."""
    curve = np.empty(n_bins - 1)
    for j in range(first, last):
        base[j] = variance_curve(sums, squares, j, curve)
        best[j] = np.argmin(curve)
        loss[j] = curve[best[j]]


@kernel
def variance_losses(sums, squares, n_bins, j):
    """All losses of one column, and that without a cut."""
    curve = np.empty(n_bins - 1)
    base = variance_curve(sums, squares, j, curve)
    return curve, base
