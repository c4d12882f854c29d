"""Loops that sum a regression target by bin of a row-major block."""

import numpy as np

from tamis._runtime.compilation import kernel
from tamis.statistics._kernels import bins_of_columns, fill_slots
from tamis.statistics.histogram import GROUP


@kernel
def target_sums_rows(X, start, stop, target, weight, bins, sums, first, last):
    """Add w and w t of every cell to ``sums[column, slot, :]``, columns first to last.

    The extra slot after that of missing cells gets w t^2 of the observed cells. Rows without a
    missing cell, usually all, share one running sum per group of columns. Groups, unlike tiles, lie
    at the same columns for any number of threads, and so does every rounding.
    """
    width = sums.shape[1]
    n_bins = width - 2
    bins = bins_of_columns(bins, first, last)
    table = sums[first:last].reshape(-1)
    n = last - first
    slots = np.empty(n, dtype=np.int32)
    complete = np.zeros((n + GROUP - 1) // GROUP)
    for i in range(start, stop):
        n_missing = fill_slots(X[i, first:last], bins, width, slots)
        w = weight[i]
        wt = w * target[i]
        for j in range(n):
            at = np.uint32(slots[j]) * np.uint32(2)
            table[at] += w
            table[at + np.uint32(1)] += wt
        if n_missing == 0:
            complete += wt * target[i]
            continue
        for g in range(complete.shape[0]):
            a, b = g * GROUP, min(n, (g + 1) * GROUP)
            n_observed = 0
            for j in range(a, b):
                n_observed += slots[j] != j * width + n_bins
            if n_observed == b - a:
                complete[g] += wt * target[i]
                continue
            for j in range(a, b):
                if slots[j] != j * width + n_bins:
                    sums[first + j, n_bins + 1, 0] += wt * target[i]
    for j in range(n):
        sums[first + j, n_bins + 1, 0] += complete[j // GROUP]
