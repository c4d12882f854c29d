"""Loops that summarise a row block; arrays in, arrays out.

Dense blocks come as `X` plus a row range, so that a block of a matrix in memory is never copied.
Names ending in ``_rows`` walk a row-major matrix, those ending in ``_columns`` a transposed one
(column-major data seen as C-ordered), those ending in ``_sparse`` the stored entries of a CSR
matrix. A missing cell (NaN) goes to the slot after the last bin.
"""

import numpy as np

from tamis._runtime.compilation import inline, kernel

# Values of one column that are binned in one go: their slots stay in the first-level cache.
TILE_ROWS = 1024


@inline
def fill_slots(values, low, step, scale, origin, narrow, n_bins, width, out):
    """Slot of every value of one row, as an offset into a flat (column, slot) table.

    The bin is guessed by one multiplication and then corrected against the very cuts
    ``low + b * step`` that are reported, so that ``x < cut`` holds exactly. `origin` lies a quarter
    of a bin above `low`, so the guess is right or one too small, unless the bins are about as
    narrow as the spacing of floats; those columns are redone.
    Returns how many values are missing.
    """
    top = np.float64(n_bins - 1)
    n_missing = 0
    for j in range(values.shape[0]):
        x = np.float64(values[j])
        n_missing += x != x
        b = np.floor((x - origin[j]) * scale[j])
        b = b + 1.0 if x >= low[j] + (b + 1.0) * step[j] else b
        b = b if b < top else top
        b = b if b > 0.0 else 0.0
        b = b if x == x else np.float64(n_bins)
        out[j] = np.int32(b) + np.int32(j * width)
    for p in range(narrow.shape[0]):
        j = narrow[p]
        x = np.float64(values[j])
        if x == x:
            b = 0
            while b < n_bins - 1 and x >= low[j] + np.float64(b + 1) * step[j]:
                b += 1
            out[j] = np.int32(b + j * width)
    return n_missing


@inline
def slot_of(x, low, step, scale, origin, narrow, n_bins):
    """Slot of a single value: the scalar form of `fill_slots`."""
    if x != x:
        return n_bins
    if narrow:
        b = 0
        while b < n_bins - 1 and x >= low + np.float64(b + 1) * step:
            b += 1
        return b
    guess = np.floor((x - origin) * scale)
    guess = guess + 1.0 if x >= low + (guess + 1.0) * step else guess
    return int(min(max(guess, 0.0), np.float64(n_bins - 1)))


@inline
def fill_column_slots(values, low, step, scale, origin, narrow, n_bins, out):
    """Slots of many values of one column: `fill_slots` with the roles of rows swapped."""
    top = np.float64(n_bins - 1)
    for i in range(values.shape[0]):
        x = np.float64(values[i])
        b = np.floor((x - origin) * scale)
        b = b + 1.0 if x >= low + (b + 1.0) * step else b
        b = b if b < top else top
        b = b if b > 0.0 else 0.0
        b = b if x == x else np.float64(n_bins)
        out[i] = np.int32(b)
    if narrow:
        for i in range(values.shape[0]):
            out[i] = slot_of(np.float64(values[i]), low, step, scale, origin, True, n_bins)


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
def ranges_sparse(data, indices, indptr, start, stop, low, high, stored):
    """Extremes of the stored entries and how many there are in every column."""
    for p in range(indptr[start], indptr[stop]):
        j = indices[p]
        x = data[p]
        stored[j] += 1
        low[j] = x if x < low[j] else low[j]
        high[j] = x if x > high[j] else high[j]


@kernel
def class_counts_rows(
    X, start, stop, codes, weight, low, step, scale, origin, narrow, n_bins, counts, first, last
):
    """Add the weight of every cell to ``counts[class, column, slot]``, columns first to last."""
    width = counts.shape[2]
    low, step = low[first:last], step[first:last]
    scale, origin = scale[first:last], origin[first:last]
    narrow = narrow[(narrow >= first) & (narrow < last)] - first
    slots = np.empty(last - first, dtype=np.int32)
    for i in range(start, stop):
        fill_slots(X[i, first:last], low, step, scale, origin, narrow, n_bins, width, slots)
        table = counts[codes[i], first:last].reshape(-1)
        w = weight[i]
        for j in range(slots.shape[0]):
            table[np.uint32(slots[j])] += w


@kernel
def class_counts_columns(
    Xt, start, stop, codes, weight, low, step, scale, origin, narrow, n_bins, counts, first, last
):
    """As `class_counts_rows` for column-major data."""
    is_narrow = np.zeros(Xt.shape[0], dtype=np.bool_)
    is_narrow[narrow] = True
    slots = np.empty(TILE_ROWS, dtype=np.int32)
    table = np.empty((counts.shape[0], counts.shape[2]))
    for j in range(first, last):
        table[:] = counts[:, j]
        for a in range(start, stop, TILE_ROWS):
            values = Xt[j, a : min(a + TILE_ROWS, stop)]
            fill_column_slots(
                values, low[j], step[j], scale[j], origin[j], is_narrow[j], n_bins, slots
            )
            for i in range(values.shape[0]):
                table[np.uint32(codes[a + i]), np.uint32(slots[i])] += weight[a + i]
        counts[:, j] = table


@kernel
def class_counts_sparse(
    data,
    indices,
    indptr,
    start,
    stop,
    codes,
    weight,
    low,
    step,
    scale,
    origin,
    narrow,
    n_bins,
    counts,
):
    """As `class_counts_rows` for the stored entries of a CSR matrix."""
    is_narrow = np.zeros(low.shape[0], dtype=np.bool_)
    is_narrow[narrow] = True
    for i in range(start, stop):
        w = weight[i]
        code = codes[i]
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            x = np.float64(data[p])
            slot = slot_of(x, low[j], step[j], scale[j], origin[j], is_narrow[j], n_bins)
            counts[code, j, slot] += w
