"""Loops that count bins of column-major data, seen as a C-ordered matrix that is transposed."""

import numpy as np

from tamis._runtime.compilation import inline, kernel
from tamis.statistics._column_kernels import TILE_ROWS
from tamis.statistics._kernels import narrow_slot_of, slot_of


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
def class_counts_columns(Xt, start, stop, codes, weight, bins, counts, first, last):
    """Add the weight of every cell to ``counts[class, column, slot]``."""
    is_narrow = narrow_columns(bins)
    slots = np.empty(TILE_ROWS, dtype=np.int32)
    table = np.empty((counts.shape[0], counts.shape[2]))
    for j in range(first, last):
        for c in range(table.shape[0]):
            for s in range(table.shape[1]):
                table[c, s] = counts[c, j, s]
        for a in range(start, stop, TILE_ROWS):
            values = Xt[j, a : min(a + TILE_ROWS, stop)]
            fill_column_slots(values, j, bins, is_narrow, slots)
            for i in range(values.shape[0]):
                table[np.uint32(codes[a + i]), np.uint32(slots[i])] += weight[a + i]
        for c in range(table.shape[0]):
            for s in range(table.shape[1]):
                counts[c, j, s] = table[c, s]


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
