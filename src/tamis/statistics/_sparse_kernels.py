"""Loops over the stored entries of a row block of a CSR matrix; `entries` are its three arrays.

What they leave out, the zeros that are not stored, is filled in by those who call them.
"""

import numpy as np

from tamis._runtime.compilation import inline, kernel
from tamis.statistics._column_bin_kernels import narrow_columns
from tamis.statistics._kernels import narrow_slot_of, slot_of


@inline
def slot_in(x, j, bins, is_narrow):
    """Slot of a value of column j."""
    low, step, scale, origin, _, n_bins = bins
    if is_narrow[j]:
        return narrow_slot_of(x, low[j], step[j], n_bins)
    return int(slot_of(x, low[j], step[j], scale[j], origin[j], n_bins))


@kernel
def ranges_sparse(entries, start, stop, low, high, stored):
    """Extremes of the stored entries and how many there are in every column."""
    data, indices, indptr = entries
    for p in range(indptr[start], indptr[stop]):
        j = indices[p]
        x = data[p]
        stored[j] += 1
        low[j] = x if x < low[j] else low[j]
        high[j] = x if x > high[j] else high[j]


@kernel
def class_counts_sparse(entries, start, stop, codes, weight, bins, counts):
    """Add the weight of every entry to ``counts[class, column, slot]``."""
    data, indices, indptr = entries
    is_narrow = narrow_columns(bins)
    for i in range(start, stop):
        w = weight[i]
        code = codes[i]
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            slot = slot_in(np.float64(data[p]), j, bins, is_narrow)
            counts[code, j, slot] += w


@kernel
def target_sums_sparse(entries, start, stop, target, weight, bins, sums):
    """Add w and w t of every entry to ``sums[column, slot, :]``.

    The second number of the extra slot gets w t^2 of the missing cells.
    """
    data, indices, indptr = entries
    is_narrow = narrow_columns(bins)
    n_bins = sums.shape[1] - 2
    for i in range(start, stop):
        w = weight[i]
        wt = w * target[i]
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            slot = slot_in(np.float64(data[p]), j, bins, is_narrow)
            sums[j, slot, 0] += w
            sums[j, slot, 1] += wt
            if slot == n_bins:
                sums[j, n_bins + 1, 1] += wt * target[i]


@kernel
def class_moments_sparse(
    entries, start, stop, codes, weights, total, mean, spread, stored, n_stored
):
    """Moments of the stored entries, two passes over them; weight and number of stored cells."""
    data, indices, indptr = entries
    for i in range(start, stop):
        k = codes[i]
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            x = np.float64(data[p])
            stored[k, j] += weights[i]
            n_stored[k, j] += 1
            if x == x:
                total[k, j] += weights[i]
                mean[k, j] += weights[i] * x
    for k in range(total.shape[0]):
        for j in range(total.shape[1]):
            if total[k, j] > 0.0:
                mean[k, j] /= total[k, j]
    for i in range(start, stop):
        k = codes[i]
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            d = np.float64(data[p]) - mean[k, j]
            if d == d:
                spread[k, j] += weights[i] * d * d
