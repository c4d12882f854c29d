"""Loops that count bins of a row-major block; arrays in, arrays out.

A block comes as `X` plus a row range, so that a block of a matrix in memory is never copied. `bins`
are the fields of `Bins`. A missing cell (NaN) goes to the slot after the last bin.
"""

import numpy as np

from tamis._runtime.compilation import inline, kernel


@inline
def slot_of(x, low, step, scale, origin, n_bins):
    """Slot of a value, as a float.

    The bin is guessed by one multiplication and then corrected against the very cuts
    ``low + b * step`` that are reported, so that ``x < cut`` holds exactly. `origin` lies a quarter
    of a bin above `low`, so the guess is right or one too small, unless the bins are about as
    narrow as the spacing of floats; see `narrow_slot_of`.
    """
    top = np.float64(n_bins - 1)
    b = np.floor((x - origin) * scale)
    b = b + 1.0 if x >= low + (b + 1.0) * step else b
    b = b if b < top else top
    b = b if b > 0.0 else 0.0
    return b if x == x else np.float64(n_bins)


@inline
def narrow_slot_of(x, low, step, n_bins):
    """As `slot_of` for bins of any width, by going through the cuts."""
    b = n_bins if x != x else 0
    while b < n_bins - 1 and x >= low + np.float64(b + 1) * step:
        b += 1
    return b


@inline
def bins_of_columns(bins, first, last):
    """The bins of columns first to last."""
    low, step, scale, origin, narrow, n_bins = bins
    inside = narrow[(narrow >= first) & (narrow < last)] - first
    return low[first:last], step[first:last], scale[first:last], origin[first:last], inside, n_bins


@inline
def fill_slots(values, bins, width, out):
    """Slot of every value of one row, as an offset into a flat (column, slot) table.

    Returns how many values are missing.
    """
    low, step, scale, origin, narrow, n_bins = bins
    n_missing = 0
    for j in range(values.shape[0]):
        x = np.float64(values[j])
        n_missing += x != x
        b = slot_of(x, low[j], step[j], scale[j], origin[j], n_bins)
        out[j] = np.int32(b) + np.int32(j * width)
    for p in range(narrow.shape[0]):
        j = narrow[p]
        b = narrow_slot_of(np.float64(values[j]), low[j], step[j], n_bins)
        out[j] = np.int32(b + j * width)
    return n_missing


@kernel
def class_counts_rows(X, start, stop, codes, weight, bins, counts, first, last):
    """Add the weight of every cell to ``counts[class, column, slot]``, columns first to last."""
    bins = bins_of_columns(bins, first, last)
    slots = np.empty(last - first, dtype=np.int32)
    for i in range(start, stop):
        fill_slots(X[i, first:last], bins, counts.shape[2], slots)
        table = counts[codes[i], first:last].reshape(-1)
        w = weight[i]
        for j in range(slots.shape[0]):
            table[np.uint32(slots[j])] += w
