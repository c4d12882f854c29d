"""Stability measures, literally: one list, one pair, one feature at a time."""

from itertools import combinations
from math import log, sqrt

import numpy as np


def distribution(ranks, top=None):
    """What a ranking gives to every feature."""
    size = len(ranks)
    k = size if top is None else top
    return [(1 + sum(1 / j for j in range(r, k + 1))) / (2 * k) if r <= k else 0.0 for r in ranks]


def index_of_distributions(lists):
    """1 - D / D* from its definition, by divergences from the mean."""
    n_features = len(lists[0])
    mean = [sum(column) / len(lists) for column in zip(*lists, strict=True)]
    divergence = 0.0
    for p in lists:
        divergence += sum(a * log(a / m) for a, m in zip(p, mean, strict=True) if a > 0)
    of_random = sum(a * log(a * n_features) for a in lists[0] if a > 0)
    return 1 - divergence / len(lists) / of_random


def jensen_shannon(rankings, top=None):
    return index_of_distributions([distribution(list(row), top) for row in rankings])


def jensen_shannon_sets(sets, n_features):
    return index_of_distributions(
        [[1 / len(s) if f in s else 0.0 for f in range(n_features)] for s in sets]
    )


def mean_over_pairs(measure, lists):
    values = [measure(a, b) for a, b in combinations(list(lists), 2)]
    return sum(values) / len(values)


def kuncheva(sets, n_features):
    def consistency(a, b):
        k, r = len(a), len(set(a) & set(b))
        return (r * n_features - k**2) / (k * (n_features - k))

    return mean_over_pairs(consistency, sets)


def jaccard(sets):
    def overlap(a, b):
        either = set(a) | set(b)
        return len(set(a) & set(b)) / len(either) if either else 1.0

    return mean_over_pairs(overlap, sets)


def tau_b(x, y):
    concordant = discordant = pairs = tied_x = tied_y = 0
    for f, g in combinations(range(len(x)), 2):
        pairs += 1
        tied_x += x[f] == x[g]
        tied_y += y[f] == y[g]
        product = (x[f] - x[g]) * (y[f] - y[g])
        concordant += product > 0
        discordant += product < 0
    return (concordant - discordant) / sqrt((pairs - tied_x) * (pairs - tied_y))


def indicators(sets, n_features):
    return np.array([[float(f in s) for f in range(n_features)] for s in sets])


def nogueira(sets, n_features):
    """Estimate and variance, in the letters of the paper."""
    Z = indicators(sets, n_features)
    M, d = Z.shape
    p = Z.mean(axis=0)
    k = Z.sum(axis=1)
    k_bar = k.mean()
    scale = k_bar / d * (1 - k_bar / d)
    phi = 1 - np.mean(M / (M - 1) * p * (1 - p)) / scale
    parts = []
    for i in range(M):
        inner = sum(Z[i, f] * p[f] for f in range(d)) / d - k[i] * k_bar / d**2
        inner += phi / 2 * (2 * k[i] * k_bar / d**2 - k[i] / d - k_bar / d + 1)
        parts.append(inner / scale)
    mean = sum(parts) / M
    return phi, 4 / M**2 * sum((part - mean) ** 2 for part in parts)


def similarity_adjusted(sets, similarity):
    """Effective stability with both covariance matrices written out."""
    Z = indicators(sets, len(similarity))
    d = Z.shape[1]
    k = Z.sum(axis=1)
    found = np.cov(Z, rowvar=False)
    expected = np.empty((d, d))
    for f in range(d):
        for g in range(d):
            if f == g:
                expected[f, g] = k.mean() / d * (1 - k.mean() / d)
            else:
                expected[f, g] = (np.mean(k**2) - k.mean()) / (d**2 - d) - k.mean() ** 2 / d**2
    return 1 - np.trace(similarity @ found) / np.trace(similarity @ expected)
