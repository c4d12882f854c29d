"""Gains of the splits of a random forest, on columns that are coded by rank."""

import numpy as np

from tamis._runtime.compilation import inline, kernel

# Code of a missing cell; the others are below.
MISSING = 63
# A side of a split weighs more than this share of its node, and gains more than this share of its
# impurity.
LEAST = 1e-12
# A split is better than another by more than rounding; of equal ones the first counts.
CLEARLY = 1 + 1e-10


@inline
def draw(state):
    """Next number of a splitmix64 sequence; `state` holds its one word."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@inline
def below(state, n):
    """A whole number from 0 to n - 1."""
    return np.int64(draw(state) >> np.uint64(11)) % n


@kernel
def code_columns(columns, ordered, codes):
    """Quantile codes of the cells of every column; `ordered` has each sorted, NaN at the end.

    Columns of at most 63 different values are coded without loss.
    """
    n_columns, n_rows = columns.shape
    edges = np.empty(MISSING)
    for j in range(n_columns):
        line = ordered[j]
        n_seen, n_kinds = 0, 0
        while n_seen < n_rows and not np.isnan(line[n_seen]):
            n_kinds += n_seen == 0 or line[n_seen] > line[n_seen - 1]
            n_seen += 1
        n_edges = 0
        if n_kinds <= MISSING:
            for place in range(1, n_seen):
                if line[place] > line[place - 1]:
                    edges[n_edges] = line[place]
                    n_edges += 1
        else:
            for part in range(1, MISSING):
                edge = line[part * n_seen // MISSING]
                if edge > line[0] and (n_edges == 0 or edge > edges[n_edges - 1]):
                    edges[n_edges] = edge
                    n_edges += 1
        for i in range(n_rows):
            cell = columns[j, i]
            if np.isnan(cell):
                codes[j, i] = MISSING
                continue
            # Edges that the cell reaches, by steps of halving size; without branches to mispredict.
            low, step = 0, (MISSING + 1) // 2
            while step > 0:
                low += step * (low + step <= n_edges and edges[low + step - 1] <= cell)
                step //= 2
            codes[j, i] = low


@inline
def best_split(codes, rows, w, wv, total, total_w, hist, best):
    """Best cut of some rows by one column: gain, code, side of missing cells; and if it varies.

    Values are less their mean in the node, so that with the sums L of the left side the gain is
    ``sum_k L_k^2 |node| / (|L| |R|)``: Gini's for classes, that of the squared error for numbers.
    `hist` is all zeros before and after.
    """
    n_values = total.size
    low, high = MISSING, -1
    for i in rows:
        b = codes[i]
        hist[b, 0] += w[i]
        for k in range(n_values):
            hist[b, k + 1] += wv[i, k]
        if b != MISSING:
            low, high = min(low, b), max(high, b)
    missing_w = hist[MISSING, 0]
    gain, cut, side = best, -1, 0
    varies = low < high or (missing_w > 0 and high >= 0)
    least = LEAST * total_w
    for with_missing in range(varies * (2 if missing_w > 0 else 1)):
        left_w = missing_w * with_missing
        left = hist[MISSING, 1:] * with_missing
        for b in range(low, high + 1):
            if hist[b, 0] == 0.0:
                continue
            left_w += hist[b, 0]
            right_w = total_w - left_w
            if right_w <= least:
                break
            squares = 0.0
            for k in range(n_values):
                left[k] += hist[b, k + 1]
                squares += (left[k] - left_w * total[k]) ** 2
            if squares > CLEARLY * gain * (left_w * right_w):
                gain, cut, side = squares / (left_w * right_w), b, with_missing
    hist[MISSING] = 0.0
    for b in range(low, high + 1):
        for k in range(n_values + 1):
            hist[b, k] = 0.0
    return gain, cut, side, varies


@inline
def best_split_of_one(codes, rows, w, wv, mean, total_w, hist, best):
    """As `best_split` for a single value per row: numbers, or two classes."""
    low, high = MISSING, -1
    for i in rows:
        b = codes[i]
        hist[b, 0] += w[i]
        hist[b, 1] += wv[i, 0]
        if b != MISSING:
            low, high = min(low, b), max(high, b)
    missing_w, missing = hist[MISSING, 0], hist[MISSING, 1]
    gain, cut, side = best, -1, 0
    varies = low < high or (missing_w > 0 and high >= 0)
    last = total_w * (1 - LEAST)
    for with_missing in range(varies * (2 if missing_w > 0 else 1)):
        left_w, left = missing_w * with_missing, missing * with_missing
        for b in range(low, high + 1):
            left_w += hist[b, 0]
            left += hist[b, 1]
            if left_w >= last:
                break
            excess = left - left_w * mean
            room = left_w * (total_w - left_w)
            # A code that no row has leaves both sides as they were, so it is never better.
            if excess * excess > CLEARLY * gain * room:
                gain, cut, side = excess * excess / room, b, with_missing
    hist[MISSING, 0], hist[MISSING, 1] = 0.0, 0.0
    for b in range(low, high + 1):
        hist[b, 0], hist[b, 1] = 0.0, 0.0
    return gain, cut, side, varies


@inline
def divide(codes, order, start, stop, cut, side):
    """Put the rows that go left first; returns where the others begin."""
    border = start
    for p in range(start, stop):
        i = order[p]
        b = codes[i]
        if b <= cut if b != MISSING else side == 1:
            order[p], order[border] = order[border], i
            border += 1
    return border


@kernel
def add_gains(codes, values, weight, n_tried, max_depth, seeds, out):
    """Grow one tree for every seed, and add to `out` the share of every column in its gains."""
    n_columns, n_rows = codes.shape
    n_values = values.shape[1]
    hist = np.zeros((MISSING + 1, n_values + 1))
    w, wv = np.empty(n_rows), np.empty((n_rows, n_values))
    order, columns = np.empty(n_rows, np.int64), np.arange(n_columns)
    stack = np.empty((2 * n_rows + 2, 3), np.int64)
    gains, state = np.empty(n_columns), np.empty(1, np.uint64)
    for seed in seeds:
        state[0] = np.uint64(seed)
        w[:] = 0.0
        for _ in range(n_rows):
            i = below(state, n_rows)
            w[i] += weight[i]
        n_bag = 0
        for i in range(n_rows):
            if w[i] > 0:
                order[n_bag] = i
                n_bag += 1
                for k in range(n_values):
                    wv[i, k] = w[i] * values[i, k]
        gains[:] = 0.0
        for j in range(n_columns):
            columns[j] = j
        stack[0] = (0, n_bag, 0)
        n_left = 1
        while n_left > 0:
            n_left -= 1
            start, stop, depth = stack[n_left]
            if stop - start < 2 or depth == max_depth:
                continue
            rows = order[start:stop]
            total, total_w = np.zeros(n_values), 0.0
            for i in rows:
                total_w += w[i]
                for k in range(n_values):
                    total[k] += wv[i, k]
            spread = 0.0
            for k in range(n_values):
                total[k] /= total_w  # from here on, the mean
            for i in rows:
                for k in range(n_values):
                    spread += w[i] * (values[i, k] - total[k]) ** 2
            best, column, cut, side = LEAST * spread / total_w, -1, -1, 0
            tried = 0
            for j in range(n_columns):  # columns that do not vary here do not count
                other = j + below(state, n_columns - j)
                columns[j], columns[other] = columns[other], columns[j]
                line = codes[columns[j]]
                if n_values == 1:
                    found, at, to, varies = best_split_of_one(
                        line, rows, w, wv, total[0], total_w, hist, best
                    )
                else:
                    found, at, to, varies = best_split(
                        line, rows, w, wv, total, total_w, hist, best
                    )
                if at >= 0:
                    best, column, cut, side = found, columns[j], at, to
                tried += varies
                if tried >= n_tried:
                    break
            if column < 0:
                continue
            gains[column] += best * total_w
            border = divide(codes[column], order, start, stop, cut, side)
            stack[n_left] = (start, border, depth + 1)
            stack[n_left + 1] = (border, stop, depth + 1)
            n_left += 2
        whole = gains.sum()
        if whole > 0:
            out += gains / whole
