"""Errors of nearest neighbours drawn in one bootstrap sample and tested on another."""

import numpy as np

from tamis._runtime.compilation import inline, kernel
from tamis.weighting._sample_kernels import distinct, error_of, gather

EUCLIDEAN, MISMATCH = 0, 1


@inline
def squared_distances(inside, point, out):
    """Squared Euclidean distances of a point to all rows, four columns at a time."""
    n_columns, n_rows = inside.shape
    out[:] = 0.0
    whole = n_columns - n_columns % 4
    for j in range(0, whole, 4):
        first, second, third, fourth = inside[j], inside[j + 1], inside[j + 2], inside[j + 3]
        p, q, r, s = point[j], point[j + 1], point[j + 2], point[j + 3]
        for i in range(n_rows):
            a, b, c, d = first[i] - p, second[i] - q, third[i] - r, fourth[i] - s
            out[i] += (a * a + b * b) + (c * c + d * d)
    for j in range(whole, n_columns):
        column, p = inside[j], point[j]
        for i in range(n_rows):
            a = column[i] - p
            out[i] += a * a


@inline
def mismatches(inside, point, out):
    """Numbers of columns in which a point differs from each row."""
    out[:] = 0.0
    for j in range(point.size):
        column, p = inside[j], point[j]
        for i in range(out.size):
            out[i] += 1.0 if column[i] != p else 0.0


@inline
def nearest_class(distances, times, labels, votes, nearest):
    """Class with most votes among the nearest rows; rows tied for the last places share them."""
    n_rows, n_neighbors = distances.size, nearest.size
    n_kept = 0  # the smallest distances, a row as often as it was drawn
    limit = np.inf
    for i in range(n_rows):
        value = distances[i]
        if value >= limit:
            continue
        copies = int(times[i])
        while copies > 0 and (n_kept < n_neighbors or value < nearest[n_kept - 1]):
            p = n_kept if n_kept < n_neighbors else n_kept - 1
            while p > 0 and nearest[p - 1] > value:
                nearest[p] = nearest[p - 1]
                p -= 1
            nearest[p] = value
            n_kept = min(n_kept + 1, n_neighbors)
            copies -= 1
        if n_kept == n_neighbors:
            limit = nearest[n_kept - 1]
    limit = nearest[n_kept - 1]
    votes[:] = 0.0
    below, tied = 0.0, 0.0
    for i in range(n_rows):
        if distances[i] > limit:
            continue
        if distances[i] < limit:
            below += times[i]
            votes[labels[i]] += times[i]
        else:
            tied += times[i]
    share = min((n_kept - below) / tied, 1.0)
    for i in range(n_rows):
        if distances[i] == limit:
            votes[labels[i]] += times[i] * share
    best = 0
    for c in range(votes.size):
        if votes[c] > votes[best] + 1e-12:
            best = c
    return best


@kernel
def neighbor_errors(
    values, codes, n_classes, draws, train, test, settings, balanced, one_vs_all, out, first, last
):  # fmt: skip
    """Errors of nearest neighbours; `settings` are how many, and the distance."""
    n_neighbors, distance = settings
    votes, nearest = np.empty(n_classes), np.empty(min(n_neighbors, train.shape[1]))
    for d in range(first, last):
        columns, _ = distinct(draws[d])
        rows, times = distinct(train[d])
        others, weights = distinct(test[d])
        inside, labels = gather(values, columns, rows, 0), codes[rows]
        point, away = np.empty(columns.size), np.empty(rows.size)
        found = np.empty(others.size, np.int64)
        for t in range(others.size):
            for j in range(columns.size):
                point[j] = values[columns[j], others[t]]
            if distance == EUCLIDEAN:
                squared_distances(inside, point, away)
            else:
                mismatches(inside, point, away)
            found[t] = nearest_class(away, times, labels, votes, nearest)
        out[d] = error_of(found, codes[others], weights, n_classes, balanced)
