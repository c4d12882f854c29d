"""Loops that replace values by the number of their bin, less that of zero; NaN stays.

The bin of a value is the number of cuts at or below it. Comparing with all cuts, many values at a
time, is quicker than a search of each.
"""

import numpy as np

from tamis._runtime.compilation import kernel

# Values of a column that are compared together.
HEIGHT = 512


@kernel
def place_rows(X, start, stop, cuts, zero, first, last, out):
    """Columns first to last of some rows of a row-major table; ``cuts[cut, column]``."""
    origin = zero[first:last]
    for i in range(start, stop):
        x, places = X[i, first:last], out[i - start, first:last]
        for j in range(x.shape[0]):
            places[j] = -origin[j] if x[j] == x[j] else np.float32(np.nan)
        for b in range(cuts.shape[0]):
            cut = cuts[b, first:last]
            for j in range(x.shape[0]):
                places[j] += np.float32(1.0) if x[j] >= cut[j] else np.float32(0.0)


@kernel
def place_columns(Xt, start, stop, cuts, zero, first, last, out):
    """As `place_rows` for a column-major table that is transposed, as `out` is."""
    for j in range(first, last):
        for top in range(start, stop, HEIGHT):
            end = min(top + HEIGHT, stop)
            x, places = Xt[j, top:end], out[j, top - start : end - start]
            for i in range(x.shape[0]):
                places[i] = -zero[j] if x[i] == x[i] else np.float32(np.nan)
            for b in range(cuts.shape[0]):
                cut = cuts[b, j]
                for i in range(x.shape[0]):
                    places[i] += np.float32(1.0) if x[i] >= cut else np.float32(0.0)


@kernel
def place_entries(data, indices, cuts, zero, out):
    """Entries of a sparse matrix."""
    for p in range(data.shape[0]):
        j, x = indices[p], data[p]
        place = -zero[j] if x == x else np.float32(np.nan)
        for b in range(cuts.shape[0]):
            place += np.float32(1.0) if x >= cuts[b, j] else np.float32(0.0)
        out[p] = place
