"""Loops that count the rows of bins in permuted classes by bits, and sum permuted targets."""

import numpy as np
from numba import types
from numba.extending import intrinsic

from tamis._runtime.compilation import kernel
from tamis.statistics._kernels import bins_of_columns, narrow_slot_of, slot_of

# Orders that are looked at together: for counts, and for sums.
LANES, SUM_LANES = 32, 32
# Rows whose slots are turned into columns together, and rows of a word.
HEIGHT, WORD = 32, 64


@intrinsic
def popcount(context, word):
    """Number of bits of a word that are set."""

    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@kernel
def slots_of(X, bins, first, last, out):
    """Slot of every cell of columns first to last, ``out[column, row]``, as histograms have it."""
    low, step, scale, origin, narrow, n_bins = bins_of_columns(bins, first, last)
    n_rows, width = X.shape[0], last - first
    buffer = np.empty((HEIGHT, width), np.uint8)
    for top in range(0, n_rows, HEIGHT):
        height = min(HEIGHT, n_rows - top)
        for i in range(height):
            row, cells = X[top + i, first:last], buffer[i]
            for j in range(width):
                x = np.float64(row[j])
                cells[j] = np.uint8(slot_of(x, low[j], step[j], scale[j], origin[j], n_bins))
        for j in range(width):
            for i in range(height):
                out[first + j, top + i] = buffer[i, j]
    for p in range(narrow.shape[0]):
        j = narrow[p]
        for i in range(n_rows):
            x = np.float64(X[i, first + j])
            out[first + j, i] = narrow_slot_of(x, low[j], step[j], n_bins)


@kernel
def pack_slots(slots, n_bins, cumulative, first, last, masks, sizes, counts):
    """Rows of every bin, or of all bins up to one, as bits; only masks that differ.

    ``masks[column, mask, word]`` with ``counts[column]`` masks of ``sizes[column, mask]`` rows.
    """
    n_rows = slots.shape[1]
    n_words = masks.shape[2]
    words = np.empty((n_words, 256), np.uint64)  # bytes are places: the loop needs no bounds
    for j in range(first, last):
        words[:, :n_bins] = np.uint64(0)
        for w in range(n_words):
            line, bit = words[w], np.uint64(1)
            for slot in slots[j, WORD * w : WORD * (w + 1)]:
                line[slot] |= bit
                bit <<= np.uint64(1)
        m = 0
        total = 0
        for b in range(n_bins):
            size = 0
            for w in range(n_words):
                size += np.int64(popcount(words[w, b]))
            if size == 0:
                continue
            total += size
            if cumulative and total == n_rows:
                break
            for w in range(n_words):
                masks[j, m, w] = words[w, b]
                if cumulative and m > 0:
                    masks[j, m, w] |= masks[j, m - 1, w]
            sizes[j, m] = total if cumulative else size
            m += 1
        counts[j] = m


@kernel
def pack_classes(codes, orders, first, last, out):
    """Rows of all classes but the last as bits, ``out[part, class, word, order]``; parts of LANES.

    Orders beyond the last one have empty classes.
    """
    n_rows = codes.shape[0]
    n_classes = out.shape[1]
    for part in range(first, last):
        for lane in range(LANES):
            q = part * LANES + lane
            if q >= orders.shape[0]:
                continue
            order = orders[q]
            for k in range(n_classes):
                for w in range(out.shape[2]):
                    word = np.uint64(0)
                    for i in range(min(n_rows, WORD * (w + 1)) - 1, WORD * w - 1, -1):
                        word = (word << np.uint64(1)) | np.uint64(codes[order[i]] == k)
                    out[part, k, w, lane] = word


@kernel
def permuted_gains(columns, bits, constants, members, tables, summed, first, last, out):
    """Sum or largest value of ``constant + sum_k table_k[rows of class k]`` over masks.

    `bits` are masks, sizes and counts of all columns; `constants` go by the size of a mask.
    """
    masks, sizes, counts = bits
    n_rest = members.shape[1]
    n_words = members.shape[2]
    value = np.empty(LANES)
    best = np.empty(LANES)
    rest = np.empty(LANES, np.int64)
    count = np.empty(LANES, np.uint64)
    for c in range(first, last):
        j = columns[c]
        for part in range(members.shape[0]):
            best[:] = 0.0
            for m in range(counts[j]):
                mask = masks[j, m]
                value[:] = constants[sizes[j, m]]
                rest[:] = sizes[j, m]
                for k in range(n_rest):
                    member, table = members[part, k], tables[k]
                    count[:] = np.uint64(0)
                    w = 0
                    while w + 4 <= n_words:
                        a, b, d, e = mask[w], mask[w + 1], mask[w + 2], mask[w + 3]
                        for q in range(LANES):
                            count[q] += (
                                popcount(a & member[w, q])
                                + popcount(b & member[w + 1, q])
                                + popcount(d & member[w + 2, q])
                                + popcount(e & member[w + 3, q])
                            )
                        w += 4
                    while w < n_words:
                        a = mask[w]
                        for q in range(LANES):
                            count[q] += popcount(a & member[w, q])
                        w += 1
                    for q in range(LANES):
                        value[q] += table[count[q]]
                        rest[q] -= np.int64(count[q])
                table = tables[n_rest]
                if summed:
                    for q in range(LANES):
                        best[q] += value[q] + table[np.uint64(rest[q])]
                else:
                    for q in range(LANES):
                        best[q] = max(best[q], value[q] + table[np.uint64(rest[q])])
            start = part * LANES
            for q in range(min(LANES, out.shape[1] - start)):
                out[c, start + q] = best[q]


@kernel
def permuted_short_gains(columns, bits, members, table, summed, first, last, out):
    """As `permuted_gains` for two classes and 64 rows at most, with ``table[size, count]``."""
    masks, sizes, counts = bits
    values = table.reshape(-1)
    words = members.reshape(-1)
    n_orders = out.shape[1]
    start = np.empty(masks.shape[1], np.uint64)
    for c in range(first, last):
        j = columns[c]
        n_masks = counts[j]
        mask, line = masks[j, :, 0], out[c]
        for m in range(n_masks):
            start[m] = sizes[j, m] * table.shape[1]
        for q in range(0, n_orders, 4):
            p, r, s, t = words[q], words[q + 1], words[q + 2], words[q + 3]
            w, x, y, z = 0.0, 0.0, 0.0, 0.0
            if summed:
                for m in range(n_masks):
                    a, b = mask[m], start[m]
                    w += values[b + popcount(a & p)]
                    x += values[b + popcount(a & r)]
                    y += values[b + popcount(a & s)]
                    z += values[b + popcount(a & t)]
            else:
                for m in range(n_masks):
                    a, b = mask[m], start[m]
                    w = max(w, values[b + popcount(a & p)])
                    x = max(x, values[b + popcount(a & r)])
                    y = max(y, values[b + popcount(a & s)])
                    z = max(z, values[b + popcount(a & t)])
            if q + 4 <= n_orders:
                line[q], line[q + 1], line[q + 2], line[q + 3] = w, x, y, z
            else:
                line[q] = w
                if q + 1 < n_orders:
                    line[q + 1] = x
                if q + 2 < n_orders:
                    line[q + 2] = y


@kernel
def permuted_cuts(columns, slots, n_bins, targets, first, last, out):
    """Largest share of the target's variance that a cut explains, of permuted targets.

    ``targets[part, row, order]`` have mean 0 and squares that sum to 1.
    """
    n_rows = slots.shape[1]
    left = np.empty(SUM_LANES)
    best = np.empty(SUM_LANES)
    start = np.empty(n_bins + 1, np.int64)
    order = np.empty((last - first, n_rows), np.int32)
    ends = np.empty((last - first, n_bins), np.int64)
    for c in range(first, last):
        slot = slots[columns[c]]
        start[:] = 0
        for i in range(n_rows):
            start[slot[i] + 1] += 1
        for b in range(n_bins):
            start[b + 1] += start[b]
            ends[c - first, b] = start[b + 1]
        for i in range(n_rows):
            order[c - first, start[slot[i]]] = i
            start[slot[i]] += 1
    for part in range(targets.shape[0]):
        target = targets[part]
        width = min(SUM_LANES, out.shape[1] - part * SUM_LANES)
        for c in range(first, last):
            left[:] = 0.0
            best[:] = 0.0
            i = 0
            for b in range(n_bins - 1):
                end = ends[c - first, b]
                if end == i:
                    continue
                while i < end:
                    row = target[order[c - first, i]]
                    for q in range(SUM_LANES):
                        left[q] += row[q]
                    i += 1
                if i == n_rows:
                    break
                scale = np.float64(n_rows) / (np.float64(i) * np.float64(n_rows - i))
                for q in range(SUM_LANES):
                    best[q] = max(best[q], left[q] * left[q] * scale)
            for q in range(width):
                out[c, part * SUM_LANES + q] = best[q]
