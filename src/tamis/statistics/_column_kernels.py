"""Loops over blocks of column-major data, seen as a C-ordered matrix that is transposed."""

import numpy as np

from tamis._runtime.compilation import inline, kernel
from tamis.statistics._class_kernels import merge_tile
from tamis.statistics._kernels import narrow_slot_of, slot_of

# Values of one column that are worked on in one go: they stay in the first-level cache.
TILE_ROWS = 1024


@inline
def narrow_columns(bins):
    """Which columns have bins about as narrow as the spacing of floats."""
    is_narrow = np.zeros(bins[0].shape[0], dtype=np.bool_)
    is_narrow[bins[4]] = True
    return is_narrow


@inline
def fill_column_slots(values, j, bins, is_narrow, out):
    """Slots of many values of column j."""
    low, step, scale, origin, _, n_bins = bins
    low, step, scale, origin = low[j], step[j], scale[j], origin[j]
    for i in range(values.shape[0]):
        out[i] = np.int32(slot_of(np.float64(values[i]), low, step, scale, origin, n_bins))
    if is_narrow[j]:
        for i in range(values.shape[0]):
            out[i] = narrow_slot_of(np.float64(values[i]), low, step, n_bins)


@kernel
def ranges_columns(Xt, start, stop, low, high, first, last):
    """Smallest and largest values; 32 running extremes let the compiler vectorise."""
    lows = np.empty(32)
    highs = np.empty(32)
    for j in range(first, last):
        column = Xt[j]
        lows[:] = low[j]
        highs[:] = high[j]
        i = start
        while i + 32 <= stop:
            part = column[i : i + 32]
            for t in range(32):
                lows[t] = part[t] if part[t] < lows[t] else lows[t]
                highs[t] = part[t] if part[t] > highs[t] else highs[t]
            i += 32
        while i < stop:
            lows[0] = column[i] if column[i] < lows[0] else lows[0]
            highs[0] = column[i] if column[i] > highs[0] else highs[0]
            i += 1
        low[j] = lows.min()
        high[j] = highs.max()


@kernel
def class_counts_columns(Xt, start, stop, codes, weight, bins, counts, first, last):
    """Add the weight of every cell to ``counts[class, column, slot]``."""
    is_narrow = narrow_columns(bins)
    slots = np.empty(TILE_ROWS, dtype=np.int32)
    table = np.empty((counts.shape[0], counts.shape[2]))
    for j in range(first, last):
        table[:] = counts[:, j]
        for a in range(start, stop, TILE_ROWS):
            values = Xt[j, a : min(a + TILE_ROWS, stop)]
            fill_column_slots(values, j, bins, is_narrow, slots)
            for i in range(values.shape[0]):
                table[np.uint32(codes[a + i]), np.uint32(slots[i])] += weight[a + i]
        counts[:, j] = table


@kernel
def target_sums_columns(Xt, start, stop, target, weight, bins, sums, first, last):
    """As `target_sums_rows`; a column has its own sum of squares."""
    n_bins = sums.shape[1] - 2
    is_narrow = narrow_columns(bins)
    slots = np.empty(TILE_ROWS, dtype=np.int32)
    for j in range(first, last):
        table = sums[j]
        squares = 0.0
        for a in range(start, stop, TILE_ROWS):
            values = Xt[j, a : min(a + TILE_ROWS, stop)]
            fill_column_slots(values, j, bins, is_narrow, slots)
            for i in range(values.shape[0]):
                wt = weight[a + i] * target[a + i]
                table[np.uint32(slots[i]), 0] += weight[a + i]
                table[np.uint32(slots[i]), 1] += wt
                squares += wt * target[a + i] if slots[i] != n_bins else 0.0
        table[n_bins + 1, 0] += squares


@kernel
def class_moments_columns(Xt, start, stop, codes, weights, total, mean, spread, first, last):
    """As `class_moments_rows`, whose rows need not be sorted here."""
    n_classes = total.shape[0]
    w = np.empty(n_classes)
    m = np.empty(n_classes)
    s = np.empty(n_classes)
    for j in range(first, last):
        column = Xt[j]
        for a in range(start, stop, TILE_ROWS):
            b = min(a + TILE_ROWS, stop)
            w[:] = 0.0
            m[:] = 0.0
            s[:] = 0.0
            for i in range(a, b):
                x = np.float64(column[i])
                if x == x:
                    w[codes[i]] += weights[i]
                    m[codes[i]] += weights[i] * x
            for k in range(n_classes):
                m[k] = m[k] / w[k] if w[k] > 0.0 else 0.0
            for i in range(a, b):
                d = np.float64(column[i]) - m[codes[i]]
                if d == d:
                    s[codes[i]] += weights[i] * d * d
            for k in range(n_classes):
                merge_tile(k, j, w[k], m[k], s[k], total, mean, spread)
