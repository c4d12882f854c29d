"""Loops over row blocks with classes: moments of every class, and closeness tokens.

Dense blocks come as `X` plus a row range. Names ending in ``_rows`` walk a row-major matrix, those
ending in ``_columns`` a transposed one (column-major data seen as C-ordered), those ending in
``_sparse`` the stored entries of a CSR matrix. A cell without a token goes to the slot after the
last one. ``np.divide`` makes NaN of 0 / 0 where ``/`` would raise, and so lets loops be vectorised.
"""

import numpy as np

from tamis._runtime.compilation import inline, kernel

# Rows that are read twice while they are in cache.
MOMENT_ROWS = 64
# Values of one column that are worked on in one go: they stay in the first-level cache.
TILE_ROWS = 1024
# Squared rounding of a class mean in units of the column's values: 32 machine epsilons.
ROUNDING = (32 * 2.0**-52) ** 2
# A closeness this little below a border, counted in tokens, is on it but for rounding.
BORDER = 1e-9


@inline
def merge_tile(k, j, w, m, s, total, mean, spread):
    """Merge a tile's moments into running ones by the formula of Chan, Golub and LeVeque."""
    if w > 0.0:
        new = total[k, j] + w
        d = m - mean[k, j]
        mean[k, j] += d * (w / new)
        spread[k, j] += s + d * d * (total[k, j] * w / new)
        total[k, j] = new


@kernel
def class_moments_rows(X, order, bounds, weights, total, mean, spread, first, last):
    """Merge the rows of a block, sorted by class, into ``[class, column]`` tables.

    `order` lists the rows; those of class k lie at ``bounds[k]`` to ``bounds[k + 1]``. Deviations
    are taken from the mean of a tile of rows, which is read twice, so nothing cancels.
    """
    n = last - first
    w = np.empty(n)
    m = np.empty(n)
    s = np.empty(n)
    for k in range(bounds.shape[0] - 1):
        for a in range(bounds[k], bounds[k + 1], MOMENT_ROWS):
            b = min(a + MOMENT_ROWS, bounds[k + 1])
            w[:] = 0.0
            m[:] = 0.0
            s[:] = 0.0
            for i in range(a, b):
                row = X[order[i], first:last]
                weight = weights[order[i]]
                for j in range(n):
                    x = np.float64(row[j])
                    w[j] += weight if x == x else 0.0
                    m[j] += weight * x if x == x else 0.0
            for j in range(n):
                m[j] = m[j] / w[j] if w[j] > 0.0 else 0.0
            for i in range(a, b):
                row = X[order[i], first:last]
                weight = weights[order[i]]
                for j in range(n):
                    d = np.float64(row[j]) - m[j]
                    s[j] += weight * d * d if d == d else 0.0
            for j in range(n):
                merge_tile(k, first + j, w[j], m[j], s[j], total, mean, spread)


@kernel
def class_moments_columns(Xt, start, stop, codes, weights, total, mean, spread, first, last):
    """As `class_moments_rows` for column-major data, whose rows need not be sorted."""
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


@kernel
def class_moments_sparse(
    data, indices, indptr, start, stop, codes, weights, total, mean, spread, stored, n_stored
):
    """Moments of the stored entries, two passes over them; weight and number of stored cells."""
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
                if complement:
                    for j in range(n):
                        d = distance(np.float64(row[j]), center[j], scale[j])
                        total[j] += d if d == d else 0.0
                else:
                    for j in range(n):
                        d = distance(np.float64(row[j]), center[j], scale[j])
                        total[j] += np.divide(1.0, d) if d == d else 0.0
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
    """As `tokens_rows` for column-major data."""
    slots = np.empty(TILE_ROWS, dtype=np.int32)
    total = np.empty(TILE_ROWS)
    n_classes = mean.shape[0]
    for j in range(first, last):
        center = mean[:, j].copy()
        u = unit[j]
        table = counts[j].copy()
        for a in range(start, stop, TILE_ROWS):
            n = min(TILE_ROWS, stop - a)
            values = Xt[j, a : a + n]
            code = codes[a : a + n]
            if n_classes == 2:
                for i in range(n):
                    x = np.float64(values[i])
                    own = distance(x, center[code[i]], u)
                    rival = distance(x, center[1 - code[i]], u)
                    slots[i] = np.int32(slot_of_closeness(np.divide(rival, own + rival), n_tokens))
            else:
                total[:] = 0.0
                for k in range(n_classes):
                    if center[k] == center[k]:
                        for i in range(n):
                            d = distance(np.float64(values[i]), center[k], u)
                            total[i] += d if complement else np.divide(1.0, d)
                for i in range(n):
                    d = distance(np.float64(values[i]), center[code[i]], u)
                    c = share_of(d, total[i], complement)
                    slots[i] = np.int32(slot_of_closeness(c, n_tokens))
            for i in range(n):
                table[np.uint32(slots[i])] += weight[a + i]
        counts[j] = table


@kernel
def tokens_sparse(
    data,
    indices,
    indptr,
    start,
    stop,
    codes,
    weight,
    mean,
    unit,
    n_tokens,
    complement,
    stored,
    counts,
):
    """As `tokens_rows` for the stored entries of a CSR matrix; their weight goes to `stored`."""
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
