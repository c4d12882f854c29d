"""The statistics as their definitions say them: one cell at a time, on a dense table."""

from fractions import Fraction

import numpy as np


def ranges(X):
    """Smallest and largest observed value of every column, NaN where there is none."""
    low, high = [], []
    for column in np.asarray(X, dtype=np.float64).T:
        seen = [x for x in column if x == x]
        low.append(min(seen, default=np.nan))
        high.append(max(seen, default=np.nan))
    return np.array(low), np.array(high)


def moments(X, weight):
    """Weight, mean and variance of every column, in exact fractions until the very end."""
    rows = []
    for column in np.asarray(X, dtype=np.float64).T:
        cells = [(Fraction(w), Fraction(x)) for w, x in zip(weight, column, strict=True) if x == x]
        total = sum(w for w, _ in cells)
        if not total:
            rows.append((0.0, np.nan, np.nan))
            continue
        mean = sum(w * x for w, x in cells) / total
        variance = sum(w * (x - mean) ** 2 for w, x in cells) / total
        rows.append((float(total), float(mean), float(variance)))
    return tuple(np.array(numbers) for numbers in zip(*rows, strict=True))


def bin_of(x, cuts):
    """Number of cuts at or below `x`; missing values have the slot after the last bin."""
    if x != x:
        return len(cuts) + 1
    return sum(1 for cut in cuts if cut <= x)


def class_histogram(X, codes, weight, cuts, n_classes):
    """Weight of ``[class, column, slot]``."""
    table = np.zeros((n_classes, X.shape[1], cuts.shape[1] + 2))
    for row, code, w in zip(np.asarray(X, dtype=np.float64), codes, weight, strict=True):
        for j, x in enumerate(row):
            table[code, j, bin_of(x, cuts[j])] += w
    return table


def target_sums(X, target, weight, cuts):
    """Sums of w and w t of ``[column, bin]``, and of w t^2 of the observed cells of a column."""
    n_bins = cuts.shape[1] + 1
    sums = np.zeros((X.shape[1], n_bins, 2))
    squares = np.zeros(X.shape[1])
    for row, t, w in zip(np.asarray(X, dtype=np.float64), target, weight, strict=True):
        for j, x in enumerate(row):
            if x == x:
                sums[j, bin_of(x, cuts[j])] += w, w * t
                squares[j] += w * t * t
    return sums, squares


def value_counts(X, weight):
    """Distinct values of every column, ascending, and the weight of each."""
    columns = []
    for column in np.asarray(X, dtype=np.float64).T:
        weights = {}
        for x, w in zip(column.tolist(), weight, strict=True):
            if x == x and w > 0:
                weights[x] = weights.get(x, 0.0) + w
        columns.append((np.array(sorted(weights)), np.array([weights[x] for x in sorted(weights)])))
    return columns


def average_rank(x, values):
    """Rank of `x` among `values`: those below it, and the middle of those equal to it."""
    below = sum(1 for value in values if value < x)
    equal = sum(1 for value in values if value == x)
    return below + (equal + 1) / 2


def quantile(values, weight, q):
    """Smallest value at or below which at least a share `q` of the weight lies."""
    total = sum(Fraction(w) for w in weight)
    for candidate in sorted(values):
        share = sum(Fraction(w) for x, w in zip(values, weight, strict=True) if x <= candidate)
        if share >= Fraction(q) * total:
            return candidate
    return np.nan
