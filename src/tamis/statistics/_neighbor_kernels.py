"""Nearest rows out of tiles of scalar products, in heaps with the worst on top, and smoothness."""

import numpy as np

from tamis._runtime.compilation import inline, kernel


@inline
def _before(distance, row, other_distance, other_row):
    return distance < other_distance or (distance == other_distance and row < other_row)


@inline
def _sink(distances, rows, size, distance, row):
    """Put a pair in the place of the worst one, then let it sink to where it belongs."""
    here = 0
    while True:
        child = 2 * here + 1
        if child >= size:
            break
        right = child + 1
        if right < size and _before(distances[child], rows[child], distances[right], rows[right]):
            child = right
        if not _before(distance, row, distances[child], rows[child]):
            break
        distances[here] = distances[child]
        rows[here] = rows[child]
        here = child
    distances[here] = distance
    rows[here] = row


@inline
def _squared_distance(a, b, limit):
    """Sum of squared differences; a value above `limit` may be returned before the sum is full."""
    n_columns = a.size
    total = 0.0
    first = 0
    while first + 32 <= n_columns:
        s0 = s1 = s2 = s3 = 0.0  # sums that do not wait for each other
        for c in range(first, first + 32, 4):
            d0, d1 = a[c] - b[c], a[c + 1] - b[c + 1]
            d2, d3 = a[c + 2] - b[c + 2], a[c + 3] - b[c + 3]
            s0 += d0 * d0
            s1 += d1 * d1
            s2 += d2 * d2
            s3 += d3 * d3
        total += (s0 + s1) + (s2 + s3)
        if total > limit:
            return total
        first += 32
    for c in range(first, n_columns):
        difference = a[c] - b[c]
        total += difference * difference
    return total


@kernel
def offer(products, X, norms, first_row, first_other, error, distances, rows):
    """Offer the rows ``first_other, ...`` to the rows ``first_row, ...``; how many were computed.

    ``products``, times ``error[0]``, are scalar products of centred rows. The distances they give
    are off by at most ``error[1] * (norm + norm) + error[2]``: rows that cannot be among the
    nearest are left out, and the distances of all others are computed anew from their differences.
    """
    n_rows, n_others = products.shape
    k = distances.shape[1]
    unit, relative, absolute = error
    low = np.empty(n_others)
    waiting = np.empty(n_others, dtype=np.int64)
    highest = np.empty(k)
    nobody = np.zeros(k, dtype=np.int64)
    n_computed = 0
    for i in range(n_rows):
        row = first_row + i
        for j in range(n_others):
            norm = norms[row] + norms[first_other + j]
            low[j] = norm * (1.0 - relative) - absolute - 2.0 * unit * products[i, j]
        highest[:] = np.inf
        bound = distances[row, 0]
        n_waiting = 0
        for j in range(n_others):
            if low[j] <= bound and first_other + j != row:
                waiting[n_waiting] = j
                n_waiting += 1
                norm = norms[row] + norms[first_other + j]
                high = low[j] + 2.0 * (relative * norm + absolute)
                if high < highest[0]:
                    _sink(highest, nobody, k, high, 0)
                    bound = min(bound, highest[0])
        for w in range(n_waiting):
            other = first_other + waiting[w]
            worst = distances[row, 0]
            if low[waiting[w]] > bound or low[waiting[w]] > worst:
                continue
            if worst == 0.0 and other > rows[row, 0]:
                continue  # among equal rows the first ones stay
            n_computed += 1
            distance = _squared_distance(X[row], X[other], worst)
            if _before(distance, other, worst, rows[row, 0]):
                _sink(distances[row], rows[row], k, distance, other)
    return n_computed


@kernel
def sort_heaps(distances, rows):
    """Turn every heap into a list, nearest first; equal distances by lower row."""
    n_rows, k = distances.shape
    for i in range(n_rows):
        for size in range(k - 1, 0, -1):
            distance, row = distances[i, size], rows[i, size]
            distances[i, size], rows[i, size] = distances[i, 0], rows[i, 0]
            _sink(distances[i], rows[i], size, distance, row)


@kernel
def smoothness(values, degree, tails, heads, weights, rough, spread):
    """``f'Lf`` and ``f'Df`` of every column f, less its mean weighted by D; `values` is work space.

    Columns are brought to [0, 1] first: the ratio does not change, and nothing can overflow. Both
    are 0 for a column without two different values in rows of positive degree.
    """
    n_rows, n_columns = values.shape
    low, high = np.full(n_columns, np.inf), np.full(n_columns, -np.inf)
    total, mean = np.zeros(n_columns), np.zeros(n_columns)
    for i in range(n_rows):
        if degree[i] > 0.0:
            for j in range(n_columns):
                low[j] = values[i, j] if values[i, j] < low[j] else low[j]
                high[j] = values[i, j] if values[i, j] > high[j] else high[j]
    for i in range(n_rows):
        for j in range(n_columns):
            if degree[i] > 0.0 and low[j] < high[j] and values[i, j] == values[i, j]:
                values[i, j] = (values[i, j] - low[j]) / (high[j] - low[j])
                total[j] += degree[i]
                mean[j] += degree[i] * values[i, j]
            else:
                values[i, j] = np.nan
    for j in range(n_columns):
        mean[j] = mean[j] / total[j] if total[j] > 0.0 else 0.0
    for i in range(n_rows):
        for j in range(n_columns):
            centred = values[i, j] - mean[j]
            values[i, j] = centred if centred == centred else 0.0
            spread[j] += degree[i] * values[i, j] * values[i, j]
    # Twice f'Lf is the sum over ordered pairs of S_ij (f_i - f_j)^2: no cancellation.
    for e in range(tails.size):
        a, b, weight = values[tails[e]], values[heads[e]], weights[e]
        for j in range(n_columns):
            difference = a[j] - b[j]
            rough[j] += weight * difference * difference
