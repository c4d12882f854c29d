"""Loops that sum a regression target by bin, and moments of columns; named as in `_kernels`."""

import numpy as np

from tamis._runtime.compilation import kernel
from tamis.statistics._kernels import TILE_ROWS, fill_column_slots, fill_slots, slot_of
from tamis.statistics.block import GROUP


@kernel
def target_sums_rows(
    X, start, stop, target, weight, low, step, scale, origin, narrow, n_bins, sums, first, last
):
    """Add w and w t of every cell to ``sums[column, slot, :]``, columns first to last.

    The extra slot after that of missing cells gets w t^2 of the observed cells. Rows without a
    missing cell, usually all, share one running sum per group of columns. Groups, unlike tiles, lie
    at the same columns for any number of threads, and so does every rounding.
    """
    width = sums.shape[1]
    low, step = low[first:last], step[first:last]
    scale, origin = scale[first:last], origin[first:last]
    narrow = narrow[(narrow >= first) & (narrow < last)] - first
    slots = np.empty(last - first, dtype=np.int32)
    table = sums[first:last].reshape(-1)
    n = last - first
    complete = np.zeros((n + GROUP - 1) // GROUP)
    for i in range(start, stop):
        n_missing = fill_slots(
            X[i, first:last], low, step, scale, origin, narrow, n_bins, width, slots
        )
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


@kernel
def target_sums_columns(
    Xt, start, stop, target, weight, low, step, scale, origin, narrow, n_bins, sums, first, last
):
    """As `target_sums_rows` for column-major data."""
    is_narrow = np.zeros(Xt.shape[0], dtype=np.bool_)
    is_narrow[narrow] = True
    slots = np.empty(TILE_ROWS, dtype=np.int32)
    for j in range(first, last):
        table = sums[j]
        squares = 0.0
        for a in range(start, stop, TILE_ROWS):
            values = Xt[j, a : min(a + TILE_ROWS, stop)]
            fill_column_slots(
                values, low[j], step[j], scale[j], origin[j], is_narrow[j], n_bins, slots
            )
            for i in range(values.shape[0]):
                wt = weight[a + i] * target[a + i]
                table[np.uint32(slots[i]), 0] += weight[a + i]
                table[np.uint32(slots[i]), 1] += wt
                squares += wt * target[a + i] if slots[i] != n_bins else 0.0
        table[n_bins + 1, 0] += squares


@kernel
def target_sums_sparse(
    data,
    indices,
    indptr,
    start,
    stop,
    target,
    weight,
    low,
    step,
    scale,
    origin,
    narrow,
    n_bins,
    sums,
):
    """As `target_sums_rows` for the stored entries of a CSR matrix.

    Here the second number of the extra slot gets w t^2 of the missing cells.
    """
    is_narrow = np.zeros(low.shape[0], dtype=np.bool_)
    is_narrow[narrow] = True
    for i in range(start, stop):
        w = weight[i]
        wt = w * target[i]
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            x = np.float64(data[p])
            slot = slot_of(x, low[j], step[j], scale[j], origin[j], is_narrow[j], n_bins)
            sums[j, slot, 0] += w
            sums[j, slot, 1] += wt
            if slot == n_bins:
                sums[j, n_bins + 1, 1] += wt * target[i]


@kernel
def moments_rows(X, start, stop, weights, total, mean, spread, first, last):
    """Merge weight, mean and sum of squared deviations of tiles of 64 rows into running values.

    Each tile is read twice while it is in cache, so deviations are taken from its own mean, and
    tiles are merged by the formula of Chan, Golub and LeVeque: nothing cancels.
    """
    n = last - first
    w = np.empty(n)
    m = np.empty(n)
    s = np.empty(n)
    for a in range(start, stop, 64):
        b = min(a + 64, stop)
        w[:] = 0.0
        m[:] = 0.0
        s[:] = 0.0
        for i in range(a, b):
            row = X[i, first:last]
            weight = weights[i]
            for j in range(n):
                x = np.float64(row[j])
                w[j] += weight if x == x else 0.0
                m[j] += weight * x if x == x else 0.0
        for j in range(n):
            m[j] = m[j] / w[j] if w[j] > 0.0 else 0.0
        for i in range(a, b):
            row = X[i, first:last]
            weight = weights[i]
            for j in range(n):
                d = np.float64(row[j]) - m[j]
                s[j] += weight * d * d if d == d else 0.0
        for j in range(n):
            old, new = total[first + j], total[first + j] + w[j]
            if w[j] > 0.0:
                d = m[j] - mean[first + j]
                mean[first + j] += d * (w[j] / new)
                spread[first + j] += s[j] + d * d * (old * w[j] / new)
                total[first + j] = new


@kernel
def moments_sparse(data, indices, indptr, start, stop, weights, total, mean, spread):
    """Weight, mean and spread of the stored entries of every column, two passes over them."""
    for i in range(start, stop):
        for p in range(indptr[i], indptr[i + 1]):
            x = np.float64(data[p])
            if x == x:
                total[indices[p]] += weights[i]
                mean[indices[p]] += weights[i] * x
    for j in range(total.shape[0]):
        if total[j] > 0.0:
            mean[j] /= total[j]
    for i in range(start, stop):
        for p in range(indptr[i], indptr[i + 1]):
            d = np.float64(data[p]) - mean[indices[p]]
            if d == d:
                spread[indices[p]] += weights[i] * d * d
