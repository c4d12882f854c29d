"""Loops of ReliefF on a transposed table in [0, 1], discrete from column `n_continuous` on."""

import numpy as np

from tamis._runtime.compilation import inline, kernel

# Rows on each side of a tile of distances.
TILE = 64
# Columns that are added in one go: with a tile of rows they stay in the first-level cache.
GROUP = 16
# Columns whose differences are added side by side.
LANES = 32
# Distances that differ by less than this share are a tie that rounding broke.
TIE = 1e-12


@kernel
def count_distinct(columns, most, out):
    """Distinct observed values of every column; those with more than `most` get ``most + 1``."""
    known = np.empty(most + 1)
    for j in range(columns.shape[0]):
        n_known = 0
        for value in columns[j]:
            v = 0
            while v < n_known and known[v] != value:
                v += 1
            if v == n_known and value == value:
                known[v] = value
                n_known += 1
                if n_known > most:
                    break
        out[j] = n_known


@inline
def add_eight(left, right, total, i, j):
    """Add the differences in eight continuous columns, one after the other for every pair."""
    a, b, c, d = left[j, i], left[j + 1, i], left[j + 2, i], left[j + 3, i]
    e, f, g, h = left[j + 4, i], left[j + 5, i], left[j + 6, i], left[j + 7, i]
    for p in range(TILE):
        x = total[i, p] + abs(a - right[j, p])
        x = x + abs(b - right[j + 1, p])
        x = x + abs(c - right[j + 2, p])
        x = x + abs(d - right[j + 3, p])
        x = x + abs(e - right[j + 4, p])
        x = x + abs(f - right[j + 5, p])
        x = x + abs(g - right[j + 6, p])
        total[i, p] = x + abs(h - right[j + 7, p])


@inline
def add_one(left, right, total, i, j, discrete):
    """Add the differences in one column; a missing cell adds nothing."""
    value = left[j, i]
    if discrete:
        for p in range(TILE):
            gap = value - right[j, p]
            total[i, p] += 1.0 if (gap < 0.0) | (gap > 0.0) else 0.0
    else:
        for p in range(TILE):
            gap = abs(value - right[j, p])
            total[i, p] += gap if gap >= 0.0 else 0.0


@kernel
def distance_tile(sample, columns, n_continuous, holes, rows, others, mirror, out):
    """Sum of differences between a range of rows of `sample` and one of `columns`.

    Every pair is summed in the same order, so that no bit depends on the tiles. With `mirror`, both
    are the same table, and the answer goes to both places.
    """
    height, width = rows[1] - rows[0], others[1] - others[0]
    # Loops of a fixed length over small arrays of our own, for these become vector instructions.
    # What is beyond the end stays 0 and adds nothing.
    left, right = np.zeros((GROUP, TILE)), np.zeros((GROUP, TILE))
    total = np.zeros((TILE, TILE))
    n = columns.shape[0]
    for start in range(0, n, GROUP):
        for j in range(GROUP):
            for i in range(height):
                left[j, i] = sample[start + j, rows[0] + i] if start + j < n else 0.0
            for p in range(width):
                right[j, p] = columns[start + j, others[0] + p] if start + j < n else 0.0
        plain = not holes and (n_continuous == n or start + GROUP <= n_continuous)
        for i in range(height):
            if plain:
                add_eight(left, right, total, i, 0)
                add_eight(left, right, total, i, 8)
            else:
                for j in range(GROUP):
                    add_one(left, right, total, i, j, start + j >= n_continuous)
    for i in range(height):
        for p in range(width):
            out[rows[0] + i, others[0] + p] = total[i, p]
            if mirror:
                out[others[0] + p, rows[0] + i] = total[i, p]


@inline
def push(heap, size, value):
    """Put a value into a heap with the largest on top; a full heap loses its largest."""
    at = 0
    if size < heap.shape[0]:
        at = size
        while at > 0 and heap[(at - 1) // 2] < value:
            heap[at] = heap[(at - 1) // 2]
            at = (at - 1) // 2
        heap[at] = value
        return size + 1
    if value < heap[0]:
        while 2 * at + 1 < size:
            child = 2 * at + 1
            if child + 1 < size and heap[child + 1] > heap[child]:
                child += 1
            if heap[child] <= value:
                break
            heap[at] = heap[child]
            at = child
        heap[at] = value
    return size


@kernel
def find_limits(distance, rows, first, last, codes, n_classes, k, limit, weight, count):
    """How far the k nearest of every class reach, for the sampled rows ``first`` to ``last``.

    `weight` gets that of a nearer row and of one at the limit: rows that tie share the last places.
    """
    heaps, worst = np.empty((n_classes, k)), np.empty(n_classes)
    sizes = np.empty(n_classes, np.int64)
    nearer = np.empty(n_classes, np.int64)
    tied = np.empty(n_classes, np.int64)
    for s in range(first, last):
        sizes[:], nearer[:], tied[:], worst[:] = 0, 0, 0, np.inf
        for p in range(codes.shape[0]):
            d, c = distance[s, p], codes[p]
            if d < worst[c] and p != rows[s]:
                sizes[c] = push(heaps[c], sizes[c], d)
                worst[c] = heaps[c, 0] if sizes[c] == k else np.inf
        for c in range(n_classes):
            limit[s, c] = heaps[c, 0] if sizes[c] > 0 else -1.0
        for p in range(codes.shape[0]):
            d, edge = distance[s, p], limit[s, codes[p]]
            if p != rows[s] and d <= edge * (1.0 + TIE):
                if d < edge * (1.0 - TIE):
                    nearer[codes[p]] += 1
                else:
                    tied[codes[p]] += 1
        count[s] = 0
        for c in range(n_classes):
            if sizes[c] > 0:
                weight[s, c, 0] = 1.0 / sizes[c]
                weight[s, c, 1] = (sizes[c] - nearer[c]) / (sizes[c] * tied[c])
                count[s] += nearer[c] + tied[c]


@kernel
def write_pairs(distance, rows, first, last, codes, limit, weight, begin, near, share):
    """The rows within the limits and their weights, from place ``begin[s]`` on."""
    for s in range(first, last):
        place = begin[s]
        for p in range(codes.shape[0]):
            d, edge = distance[s, p], limit[s, codes[p]]
            if p != rows[s] and d <= edge * (1.0 + TIE):
                near[place] = p
                share[place] = weight[s, codes[p], 0 if d < edge * (1.0 - TIE) else 1]
                place += 1


@inline
def add_pair(one, other, discrete, weight, total, seen):
    """Add the weighted difference of two rows in some columns; a missing cell adds nothing."""
    for c in range(LANES):
        gap = abs(one[c] - other[c])
        there = weight if gap >= 0.0 else 0.0
        gap = gap if gap >= 0.0 else 0.0
        gap = 1.0 if discrete and gap > 0.0 else gap
        total[c] += there * gap
        seen[c] += there


@kernel
def add_differences(columns, discrete, holes, first, last, row, near, apart, alike, sums):
    """Add the pairs to the sums of the columns ``first`` to ``last``.

    `sums` holds weighted differences of pairs whose targets differ and agree; with missing cells,
    also the weights of the pairs of both kinds that have both cells.
    """
    n_rows = columns.shape[1]
    cells = np.zeros((n_rows, LANES))  # some columns side by side: one step serves them all
    part = np.zeros((4, LANES))
    far, close = part[0], part[1]
    for start in range(first, last, LANES):
        n_here = min(LANES, last - start)
        for c in range(n_here):
            for i in range(n_rows):
                cells[i, c] = columns[start + c, i]
            for kind in range(4):
                part[kind, c] = sums[kind, start + c]
        for p in range(row.shape[0]):
            one, other, a, b = cells[row[p]], cells[near[p]], apart[p], alike[p]
            if discrete or holes:
                add_pair(one, other, discrete, a, far, part[2])
                add_pair(one, other, discrete, b, close, part[3])
            else:
                if a != 0.0:
                    for c in range(LANES):
                        far[c] += a * abs(one[c] - other[c])
                if b != 0.0:
                    for c in range(LANES):
                        close[c] += b * abs(one[c] - other[c])
        for kind in range(4):
            for c in range(n_here):
                sums[kind, start + c] = part[kind, c]


@kernel
def add_by_row(columns, discrete, first, last, row, near, apart, alike, weight, sums):
    """Add to ``sums[0]`` the mean difference to misses less that to hits of rows with both."""
    cells = np.zeros((columns.shape[1], LANES))
    part = np.zeros((4, LANES))
    total = np.zeros(LANES)
    for start in range(first, last, LANES):
        n_here = min(LANES, last - start)
        for c in range(n_here):
            for i in range(columns.shape[1]):
                cells[i, c] = columns[start + c, i]
            total[c] = sums[0, start + c]
        for p in range(row.shape[0]):
            one, other = cells[row[p]], cells[near[p]]
            add_pair(one, other, discrete, apart[p], part[0], part[2])
            add_pair(one, other, discrete, alike[p], part[1], part[3])
            if p + 1 == row.shape[0] or row[p + 1] != row[p]:
                for c in range(LANES):
                    if part[2, c] > 0.0 and part[3, c] > 0.0:
                        gain = part[0, c] / part[2, c] - part[1, c] / part[3, c]
                        total[c] += weight[row[p]] * gain
                part[:] = 0.0
        for c in range(n_here):
            sums[0, start + c] = total[c]
