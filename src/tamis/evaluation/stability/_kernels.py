"""Counting the pairs of features that two rankings order differently; arrays in, arrays out."""

import numpy as np

from tamis._runtime.compilation import inline, kernel


@inline
def count_inversions(values, right, levels):
    """Pairs of places whose values stand in falling order.

    `right` holds the inner nodes of a binary tree over the values: how many of those so far went
    to the right. On the way up from a new value, what lies to its right is larger. One load and
    one store per level without a branch: half the time of a Fenwick tree, a quarter of that of
    sorting by merging, whose comparisons no processor can predict.
    """
    one = np.uint32(1)  # unsigned, or each shift and each index costs a look at the sign
    leaf = one << np.uint32(levels)
    right[:] = 0
    inversions = 0
    for t in range(values.size):
        node = values[t] + leaf
        for _ in range(levels):
            went_right = node & one
            node >>= one
            count = right[node]
            inversions += 0 if went_right else count
            right[node] = count + went_right
    return inversions


@inline
def tied_pairs(values, begin, end):
    """Pairs of equal values in a sorted range."""
    pairs, run = 0, 0
    for i in range(begin + 1, end):
        run = run + 1 if values[i] == values[i - 1] else 0
        pairs += run
    return pairs


@kernel
def kendall_with_later(codes, orders, ties, i, out):
    """Tau-b of list `i` with every later list, in the form of Knight (1966).

    `codes` are ranks from 0 without gaps, `orders` the features by ascending code, `ties` the
    number of tied pairs of every list.
    """
    n_lists, n = codes.shape
    n_pairs = n * (n - 1) // 2
    levels = 1
    while (1 << levels) < n:
        levels += 1
    x = codes[i]
    begin = np.zeros(n + 1, np.int64)
    for f in range(n):
        begin[x[f] + 1] += 1
    for c in range(n):
        begin[c + 1] += begin[c]
    place = np.empty(n, np.int64)
    values = np.empty(n, np.uint32)
    right = np.empty(1 << levels, np.int64)
    for j in range(i + 1, n_lists):
        y = codes[j]
        both = 0
        if ties[i] == 0:
            for t in range(n):
                values[t] = y[orders[i, t]]
        else:
            for c in range(n):
                place[c] = begin[c]
            for t in range(n):  # by x, and among equal x by y, so that ties make no inversion
                f = orders[j, t]
                values[place[x[f]]] = y[f]
                place[x[f]] += 1
            for c in range(n):
                both += tied_pairs(values, begin[c], begin[c + 1])
        discordant = count_inversions(values, right, levels)
        difference = n_pairs - ties[i] - ties[j] + both - 2 * discordant
        scale = np.float64(n_pairs - ties[i]) * np.float64(n_pairs - ties[j])
        out[i, j] = difference / np.sqrt(scale)
