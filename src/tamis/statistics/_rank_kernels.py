"""Ranks of columns; arrays in, arrays out."""

import numpy as np

from tamis._runtime.compilation import inline, kernel


@kernel
def sortable_keys(values, bits, mask, keys):
    """Whole numbers that sort as the values do, with the position of the cell in the low bits.

    `bits` holds the same memory as whole numbers: positive floats sort like their bits, negative
    ones in reverse. Values that differ in the lowest bits only come in any order; NaN comes last.
    """
    sign = np.uint64(1) << np.uint64(63)
    for j in range(values.shape[0]):
        for i in range(values.shape[1]):
            x = values[j, i]
            u = bits[j, i]
            if x != x:
                u = ~np.uint64(0)
            elif x == 0.0:
                u = sign  # minus zero equals zero
            elif u & sign:
                u = ~u
            else:
                u = u | sign
            keys[j, i] = (u & ~mask) | np.uint64(i)


@inline
def order_lowest_bits(keys, mask, n_seen, place, sorted_values):
    """Put values in order whose keys differ in the position only; usually there are none."""
    i = 0
    while i < n_seen:
        end = i + 1
        in_order = True
        while end < n_seen and (keys[end] & ~mask) == (keys[i] & ~mask):
            in_order &= sorted_values[end] >= sorted_values[end - 1]
            end += 1
        if not in_order:
            inside = np.argsort(sorted_values[i:end])
            values, places = sorted_values[i:end].copy(), place[i:end].copy()
            for p in range(inside.size):
                sorted_values[i + p] = values[inside[p]]
                place[i + p] = places[inside[p]]
        i = end


@kernel
def centred_ranks(values, keys, mask, weight, is_plain, out):
    """Centred, weighted mid-ranks of every row of `values`, times the root of the weight.

    `keys` are the sorted keys of each row. Missing cells get 0. Rows of `out` have length one, or
    are zero if nothing varies. `is_plain` says that all weights are 1.
    """
    n_columns, n_rows = values.shape
    place = np.empty(n_rows, dtype=np.int64)
    sorted_values = np.empty(n_rows)
    for j in range(n_columns):
        n_seen = 0
        total = 0.0
        for i in range(n_rows):
            place[i] = np.int64(keys[j, i] & mask)
            sorted_values[i] = values[j, place[i]]
            if sorted_values[i] == sorted_values[i]:
                n_seen += 1
                total += 1.0 if is_plain else weight[place[i]]
        order_lowest_bits(keys[j], mask, n_seen, place, sorted_values)
        below = 0.0
        norm = 0.0
        i = 0
        while i < n_seen:
            end = i
            tied = 0.0
            while end < n_seen and sorted_values[end] == sorted_values[i]:
                tied += 1.0 if is_plain else weight[place[end]]
                end += 1
            centred = below + (tied - total) / 2.0
            for p in range(i, end):
                out[j, place[p]] = centred
            norm += tied * centred * centred
            below += tied
            i = end
        for p in range(n_seen, n_rows):
            out[j, place[p]] = 0.0
        scale = 1.0 / np.sqrt(norm) if norm > 0.0 else 0.0
        for i in range(n_rows):
            out[j, i] = out[j, i] * scale * (1.0 if is_plain else np.sqrt(weight[i]))
