"""Ranks of columns and products with the matrix of larger deviations; arrays in, arrays out."""

import numpy as np

from tamis._jit import kernel


@kernel
def centred_ranks(values, order, weight, out):
    """Centred, weighted mid-ranks of every row of `values`, times the root of the weight.

    `order` sorts each row, NaN last. A rank is the weight below plus half the weight of the ties;
    its weighted mean is half of the total. Missing cells get 0. Rows of `out` have length one,
    or are zero if nothing varies.
    """
    n_columns, n_rows = values.shape
    for j in range(n_columns):
        row = values[j]
        rank = order[j]
        n_seen = n_rows
        while n_seen > 0 and row[rank[n_seen - 1]] != row[rank[n_seen - 1]]:
            n_seen -= 1
        total = 0.0
        for i in range(n_seen):
            total += weight[rank[i]]
        below = 0.0
        norm = 0.0
        i = 0
        while i < n_seen:
            end = i
            tied = 0.0
            while end < n_seen and row[rank[end]] == row[rank[i]]:
                tied += weight[rank[end]]
                end += 1
            centred = below + (tied - total) / 2.0
            for p in range(i, end):
                out[j, rank[p]] = centred
            norm += tied * centred * centred
            below += tied
            i = end
        for p in range(n_seen, n_rows):
            out[j, rank[p]] = 0.0
        scale = 1.0 / np.sqrt(norm) if norm > 0.0 else 0.0
        for i in range(n_rows):
            out[j, i] = out[j, i] * scale * np.sqrt(weight[i])


@kernel
def larger_deviation_product(deviation, order, vectors, out):
    """``sum_j max(s_i, s_j) v_j`` for every column v of `vectors`, by two running sums.

    `order` sorts the deviations upwards: those before i count s_i each, the others their own.
    """
    n, n_vectors = vectors.shape
    for k in range(n_vectors):
        upper = 0.0
        for i in range(n):
            upper += deviation[i] * vectors[i, k]
        lower = 0.0
        for p in range(n):
            i = order[p]
            lower += vectors[i, k]
            upper -= deviation[i] * vectors[i, k]
            out[i, k] = deviation[i] * lower + upper
