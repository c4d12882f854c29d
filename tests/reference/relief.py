"""ReliefF, RReliefF, margin weights and G-flip as their papers write them: slow and plain."""

import numpy as np


def differences(X, discrete):
    """T x T x n differences in [0, 1], NaN where a cell is missing."""
    low, high = np.nanmin(X, axis=0), np.nanmax(X, axis=0)
    out = np.abs(X[:, None] - X[None]) / (high - low)
    return np.where(discrete & (out > 0), 1.0, out)


def distances(gaps):
    """Mean over the columns that both rows have; infinite where there is none."""
    seen = ~np.isnan(gaps)
    count = seen.sum(axis=2)
    total = np.where(seen, gaps, 0.0).sum(axis=2)
    return np.where(count > 0, total / np.maximum(count, 1), np.inf)


def nearest(distance, candidates, k):
    """Weights of the k nearest candidates, summing to 1; ties for the last place share it."""
    reachable = [p for p in candidates if np.isfinite(distance[p])]
    weights = {}
    if not reachable:
        return weights
    k = min(k, len(reachable))
    edge = sorted(distance[p] for p in reachable)[k - 1]
    tied = [p for p in reachable if abs(distance[p] - edge) <= 1e-12 * edge]
    nearer = [p for p in reachable if distance[p] < edge and p not in tied]
    for p in nearer:
        weights[p] = 1.0 / k
    for p in tied:
        weights[p] = (k - len(nearer)) / len(tied) / k
    return weights


def pairs_of_classes(X, y, k, discrete, row_weight):
    """(row, other, weight as miss, weight as hit) of all pairs."""
    distance = distances(differences(X, discrete))
    prior = {c: np.mean(y == c) for c in np.unique(y)}
    for i in range(len(y)):
        if (y == y[i]).sum() == 1:
            continue
        for c in prior:
            candidates = [p for p in range(len(y)) if p != i and y[p] == c]
            for p, share in nearest(distance[i], candidates, k).items():
                if c == y[i]:
                    yield i, p, 0.0, row_weight[i] * share
                else:
                    yield i, p, row_weight[i] * share * prior[c] / (1 - prior[y[i]]), 0.0


def pairs_of_numbers(X, y, k, discrete):
    distance = distances(differences(X, discrete))
    for i in range(len(y)):
        candidates = [p for p in range(len(y)) if p != i]
        for p, share in nearest(distance[i], candidates, k).items():
            gap = abs(y[i] - y[p]) / (y.max() - y.min())
            yield i, p, share * gap, share * (1 - gap)


def combine(X, pairs, discrete):
    """Mean difference of misses less that of hits, over the pairs that have both cells."""
    gaps = differences(X, discrete)
    sums, seen, totals = np.zeros((2, X.shape[1])), np.zeros((2, X.shape[1])), np.zeros(2)
    for i, p, *weights in pairs:
        there = ~np.isnan(gaps[i, p])
        for kind in (0, 1):
            sums[kind] += weights[kind] * np.where(there, gaps[i, p], 0.0)
            seen[kind] += weights[kind] * there
            totals[kind] += weights[kind]
    out = np.zeros(X.shape[1])
    for j in range(X.shape[1]):
        means = [sums[kind, j] / seen[kind, j] if seen[kind, j] > 0 else 0.0 for kind in (0, 1)]
        share = min(seen[kind, j] / totals[kind] if totals[kind] > 0 else 1.0 for kind in (0, 1))
        out[j] = (means[0] - means[1]) * share
    return out


def combine_by_row(X, pairs, discrete, row_weight):
    """Mean over rows of their mean difference to misses less that to hits, over observed pairs."""
    gaps = differences(X, discrete)
    out = np.zeros(X.shape[1])
    for i in {pair[0] for pair in pairs}:
        own = [pair for pair in pairs if pair[0] == i]
        for j in range(X.shape[1]):
            seen = [pair for pair in own if not np.isnan(gaps[i, pair[1], j])]
            weights = [sum(pair[2 + kind] for pair in seen) for kind in (0, 1)]
            if min(weights) > 0:
                sums = [
                    sum(pair[2 + kind] * gaps[i, pair[1], j] for pair in seen) for kind in (0, 1)
                ]
                out[j] += row_weight[i] * (sums[0] / weights[0] - sums[1] / weights[1])
    return out / sum(row_weight[i] for i in {pair[0] for pair in pairs})


def relieff(X, y, k, discrete, row_weight=None):
    row_weight = np.ones(len(y)) if row_weight is None else row_weight
    pairs = list(pairs_of_classes(X, y, k, discrete, row_weight))
    return combine_by_row(X, pairs, discrete, row_weight)


def rrelieff(X, y, k, discrete):
    return combine(X, list(pairs_of_numbers(X, y, k, discrete)), discrete)


def rrelieff_as_printed(X, y, k):
    """Figure 3 of Robnik-Sikonja and Kononenko (2003), d(i, j) = 1 / k, continuous columns."""
    n_rows, n_columns = X.shape
    Z = (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))
    target = (y - y.min()) / (y.max() - y.min())
    by_class, by_column, by_both = 0.0, np.zeros(n_columns), np.zeros(n_columns)
    for i in range(n_rows):
        distance = np.abs(Z - Z[i]).sum(axis=1)
        distance[i] = np.inf
        for p in np.argsort(distance)[:k]:
            gap = abs(target[i] - target[p])
            by_class += gap / k
            by_column += np.abs(Z[i] - Z[p]) / k
            by_both += gap * np.abs(Z[i] - Z[p]) / k
    return by_both / by_class - (by_column - by_both) / (n_rows - by_class)


def relief_by_threshold(X, y, k):
    """What skrebate does with a numeric target: a hit is within one standard deviation of it."""
    Z = (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))
    scores = np.zeros(X.shape[1])
    for i in range(len(y)):
        distance = np.abs(Z - Z[i]).sum(axis=1)
        order = [p for p in np.argsort(distance, kind="stable") if p != i]
        hit = np.abs(y - y[i]) < y.std(ddof=1)
        hits = [p for p in order if hit[p]][:k]
        misses = [p for p in order if not hit[p]][:k]
        if hits:
            scores -= np.abs(Z[i] - Z[hits]).mean(axis=0)
        if misses:
            scores += np.abs(Z[i] - Z[misses]).mean(axis=0)
    return scores / len(y)


def relieff_equal_misses(X, y, k):
    """What skrebate does with more than two classes: all misses count the same."""
    Z = (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))
    scores = np.zeros(X.shape[1])
    for i in range(len(y)):
        distance = np.abs(Z - Z[i]).sum(axis=1)
        order = [p for p in np.argsort(distance, kind="stable") if p != i]
        near = {c: [p for p in order if y[p] == c][:k] for c in np.unique(y)}
        hits = near.pop(y[i])
        scores -= np.abs(Z[i] - Z[hits]).mean(axis=0)
        misses = [p for others in near.values() for p in others]
        scores += np.abs(Z[i] - Z[misses]).mean(axis=0)
    return scores / len(y)


def margin_vectors(gaps, y):
    """Sum of differences to all misses less that to all hits; a missing cell is no difference."""
    sign = np.where(y[:, None] == y, -1.0, 1.0)
    return (np.nan_to_num(gaps) * sign[:, :, None]).sum(axis=1)


def margin_weights(margins):
    n_rows = len(margins)
    inverse = np.empty(n_rows)
    for i in range(n_rows):
        gaps = [np.linalg.norm(margins[i] - margins[p]) for p in range(n_rows) if p != i]
        inverse[i] = 1.0 / np.mean(gaps)
    return n_rows * inverse / inverse.sum()


def flip_evaluation(X, y, columns, utility="linear", sharpness=1.0):
    """Equation 2 of Gilad-Bachrach, Navot and Tishby (2004)."""
    columns = sorted(columns)
    total = 0.0
    for i in range(len(y)):
        distance = np.sqrt(((X[:, columns] - X[i, columns]) ** 2).sum(axis=1))
        hits = [distance[p] for p in range(len(y)) if p != i and y[p] == y[i]]
        misses = [distance[p] for p in range(len(y)) if y[p] != y[i]]
        if hits:
            margin = 0.5 * (min(misses) - min(hits))
            worth = {
                "linear": margin,
                "zero_one": float(margin > 0),
                "sigmoid": 1.0 / (1.0 + np.exp(-sharpness * margin)),
            }
            total += worth[utility]
    return total


def gflip(X, y, random, start=(), utility="linear", sharpness=1.0):
    """Figure 2 there: the set, its evaluation, and what every column gains given the others."""

    def evaluate(columns):
        return flip_evaluation(X, y, columns, utility, sharpness)

    chosen, changed = set(start), True
    while changed:
        changed = False
        for j in random.permutation(X.shape[1]):
            if evaluate(chosen ^ {j}) > evaluate(chosen) + 1e-10:
                chosen, changed = chosen ^ {j}, True
    gains = [evaluate(chosen | {j}) - evaluate(chosen - {j}) for j in range(X.shape[1])]
    return chosen, evaluate(chosen), np.array(gains)
