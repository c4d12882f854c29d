"""Loops that find ranges and count bins of a dense row block; arrays in, arrays out.

A block comes as `X` plus a row range, so that a block of a matrix in memory is never copied. Names
ending in ``_rows`` walk a row-major matrix, those ending in ``_columns`` a transposed one
(column-major data seen as C-ordered). `bins` are the fields of `Bins`. A missing cell (NaN) goes to
the slot after the last bin.
"""

import numpy as np

from tamis._runtime.compilation import inline, kernel

# Values of one column that are worked on in one go: they stay in the first-level cache.
TILE_ROWS = 1024


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
def ranges_rows(X, start, stop, low, high):
    """Smallest and largest value of every column; four rows at a time spare memory traffic."""
    n = X.shape[1]
    i = start
    while i + 4 <= stop:
        a, b, c, d = X[i], X[i + 1], X[i + 2], X[i + 3]
        for j in range(n):
            lo, hi = low[j], high[j]
            lo = a[j] if a[j] < lo else lo
            hi = a[j] if a[j] > hi else hi
            lo = b[j] if b[j] < lo else lo
            hi = b[j] if b[j] > hi else hi
            lo = c[j] if c[j] < lo else lo
            hi = c[j] if c[j] > hi else hi
            lo = d[j] if d[j] < lo else lo
            hi = d[j] if d[j] > hi else hi
            low[j] = lo
            high[j] = hi
        i += 4
    while i < stop:
        row = X[i]
        for j in range(n):
            low[j] = row[j] if row[j] < low[j] else low[j]
            high[j] = row[j] if row[j] > high[j] else high[j]
        i += 1


@kernel
def ranges_columns(Xt, start, stop, low, high, first, last):
    """As `ranges_rows` for column-major data; 32 running extremes let the compiler vectorise."""
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


@kernel
def class_counts_columns(Xt, start, stop, codes, weight, bins, counts, first, last):
    """As `class_counts_rows` for column-major data."""
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
