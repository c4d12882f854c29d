"""Distinct values, levels and joint counts of columns; arrays in, arrays out."""

import numpy as np

from tamis._runtime.compilation import inline, kernel


@inline
def add_value(x, values, count, most):
    """Put `x` into the ascending `values` if it is new; how many there are, or one too many."""
    place = 0
    while place < count and values[place] < x:
        place += 1
    if place < count and values[place] == x:
        return count
    if count == most:
        return most + 1
    for k in range(count, place, -1):
        values[k] = values[k - 1]
    values[place] = x
    return count + 1


@kernel
def few_values(X, start, stop, columns, first, last, values, count):
    """Add the values of some columns to their lists; a count of one too many ends a list."""
    most = values.shape[1]
    for i in range(start, stop):
        for c in range(first, last):
            j = columns[c]
            x = np.float64(X[i, j])
            if x == x and count[j] <= most:
                count[j] = add_value(x, values[j], count[j], most)


@inline
def level_of(x, cuts, first, last):
    """Number of cuts at or below `x`."""
    low, high = first, last
    while low < high:
        middle = (low + high) // 2
        if cuts[middle] <= x:
            low = middle + 1
        else:
            high = middle
    return low - first


@kernel
def code_ones(X, start, stop, cuts, first_cut, batch, offsets, ones):
    """Slot of every row in the counts of some columns, -1 where the cell is missing."""
    for a in range(batch.shape[0]):
        j = batch[a]
        for i in range(start, stop):
            x = np.float64(X[i, j])
            slot = -1
            if x == x:
                slot = offsets[a] + level_of(x, cuts, first_cut[j], first_cut[j + 1])
            ones[i - start, a] = slot


@kernel
def count_pairs(X, start, stop, weight, cuts, first_cut, ones, first, last, counts):
    """Add weights to ``counts[level of a column, slot of a one]``, columns without a cut apart."""
    for i in range(start, stop):
        w = weight[i]
        for j in range(first, last):
            if first_cut[j + 1] == first_cut[j]:
                continue
            x = np.float64(X[i, j])
            if x != x:
                continue
            level = first_cut[j] + j + level_of(x, cuts, first_cut[j], first_cut[j + 1])
            for a in range(ones.shape[1]):
                if ones[i - start, a] >= 0:
                    counts[level, ones[i - start, a]] += w
