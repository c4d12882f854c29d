"""Best cut of every column by squared error, from its sums by bin; arrays in, arrays out."""

import numpy as np

from tamis._runtime.compilation import inline, kernel
from tamis.split._kernels import first_minimum


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
        best[j] = first_minimum(curve)
        loss[j] = curve[best[j]]


@kernel
def variance_losses(sums, squares, n_bins, j):
    """All losses of one column, and that without a cut."""
    curve = np.empty(n_bins - 1)
    base = variance_curve(sums, squares, j, curve)
    return curve, base
