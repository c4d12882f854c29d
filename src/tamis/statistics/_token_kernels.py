"""Loops over row blocks that count closeness tokens.

Names end in ``_rows`` for row-major data, in ``_columns`` for column-major data, which is seen as a
C-ordered matrix that is transposed, and in ``_sparse`` for the stored entries of a CSR matrix. A
cell without a token goes to the slot after the last one. ``np.divide`` makes NaN of 0 / 0 where
``/`` would raise, and so lets loops be vectorised.
"""

import numpy as np

from tamis._runtime.compilation import inline, kernel

# Squared rounding of a class mean in units of the column's values: 32 machine epsilons.
ROUNDING = (32 * 2.0**-52) ** 2
# A closeness this little below a border, counted in tokens, is on it but for rounding.
BORDER = 1e-9
# Rows of column-major data that are copied at a time.
TILE_ROWS = 64


@inline
def distance(x, mean, unit):
    """Squared distance to a class mean, at least what rounding of the mean may make of zero."""
    z = (x - mean) * unit
    return ROUNDING if z * z < ROUNDING else z * z


@inline
def share_of(own, total, complement):
    """Closeness from the own distance and the sum of all of them, or of their inverses."""
    return 1.0 - np.divide(own, total) if complement else np.divide(1.0, own * total)


@inline
def slot_of_closeness(c, n_tokens):
    """Token of a closeness, counted from 0; the slot after the last one where there is none."""
    t = np.floor(c * n_tokens + BORDER)
    t = t if t < n_tokens - 1.0 else n_tokens - 1.0
    return t if c == c else np.float64(n_tokens)


@inline
def closeness_of(x, k, j, mean, unit, complement):
    """Closeness of one value of class k; classes with a NaN mean take no part."""
    own = distance(x, mean[k, j], unit[j])
    n_classes = mean.shape[0]
    if n_classes == 2:
        other = distance(x, mean[1 - k, j], unit[j])
        return np.divide(other, own + other)
    total = 0.0
    for other in range(n_classes):
        d = distance(x, mean[other, j], unit[j])
        if d == d:
            total += d if complement else np.divide(1.0, d)
    return share_of(own, total, complement)


@kernel
def tokens_rows(
    X, start, stop, codes, weight, mean, unit, n_tokens, complement, counts, first, last
):
    """Add the weight of every cell to ``counts[column, token]``, columns first to last."""
    n = last - first
    width = n_tokens + 1
    n_classes = mean.shape[0]
    scale = unit[first:last]
    table = counts[first:last].reshape(-1)
    slots = np.empty(n, dtype=np.int32)
    total = np.empty(n)
    for i in range(start, stop):
        row = X[i, first:last]
        own = mean[codes[i], first:last]
        if n_classes == 2:
            rival = mean[1 - codes[i], first:last]
            for j in range(n):
                x = np.float64(row[j])
                a = distance(x, own[j], scale[j])
                b = distance(x, rival[j], scale[j])
                t = slot_of_closeness(np.divide(b, a + b), n_tokens)
                slots[j] = np.int32(t) + np.int32(j * width)
        else:
            total[:] = 0.0
            for k in range(n_classes):
                center = mean[k, first:last]
                for j in range(n):
                    d = distance(np.float64(row[j]), center[j], scale[j])
                    term = d if complement else np.divide(1.0, d)
                    total[j] += term if d == d else 0.0
            for j in range(n):
                d = distance(np.float64(row[j]), own[j], scale[j])
                c = share_of(d, total[j], complement)
                slots[j] = np.int32(slot_of_closeness(c, n_tokens)) + np.int32(j * width)
        w = weight[i]
        for j in range(n):
            table[np.uint32(slots[j])] += w


@kernel
def tokens_columns(
    Xt, start, stop, codes, weight, mean, unit, n_tokens, complement, counts, first, last
):
    """As `tokens_rows` for column-major data, of which tiles are copied row by row."""
    tile = np.empty((TILE_ROWS, last), dtype=Xt.dtype)
    for a in range(start, stop, TILE_ROWS):
        n = min(TILE_ROWS, stop - a)
        for j in range(first, last):
            for i in range(n):
                tile[i, j] = Xt[j, a + i]
        tokens_rows(
            tile, 0, n, codes[a:], weight[a:], mean, unit, n_tokens, complement, counts, first, last
        )


@kernel
def tokens_sparse(
    entries, start, stop, codes, weight, mean, unit, n_tokens, complement, stored, counts
):
    """As `tokens_rows` for the stored entries of a CSR matrix; their weight goes to `stored`."""
    data, indices, indptr = entries
    for i in range(start, stop):
        k = codes[i]
        w = weight[i]
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            c = closeness_of(np.float64(data[p]), k, j, mean, unit, complement)
            counts[j, int(slot_of_closeness(c, n_tokens))] += w
            stored[k, j] += w


@kernel
def zero_slots(mean, unit, n_tokens, complement, slots):
    """Slot of the value 0 in every class and column."""
    for k in range(mean.shape[0]):
        for j in range(mean.shape[1]):
            c = closeness_of(0.0, k, j, mean, unit, complement)
            slots[k, j] = int(slot_of_closeness(c, n_tokens))
