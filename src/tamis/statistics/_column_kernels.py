"""Loops over blocks of column-major data, seen as a C-ordered matrix that is transposed."""

import numpy as np

from tamis._runtime.compilation import kernel
from tamis.statistics._class_kernels import merge_tile

# Values of one column that are worked on in one go: they stay in the first-level cache.
TILE_ROWS = 1024


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
