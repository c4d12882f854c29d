"""Codes and entropies, literally: one column, one pair, one cut at a time."""

from itertools import pairwise

import numpy as np


def entropy(weights):
    shares = weights[weights > 0] / weights.sum()
    return float(-(shares * np.log2(shares)).sum())


def class_weights(classes, weight):
    return np.bincount(classes, weight)


def uniform(x, n_bins):
    """Levels of one column without missing cells."""
    values = np.unique(x)
    if values.size <= n_bins:
        return np.searchsorted(values, x)
    cuts = x.min() + np.arange(1, n_bins) * ((x.max() - x.min()) / n_bins)
    return (x[:, None] >= cuts).sum(axis=1)


def quantile(x, n_bins, weight):
    values = np.unique(x)
    if values.size <= n_bins:
        return np.searchsorted(values, x)
    middle = np.array([weight[x < v].sum() + weight[x == v].sum() / 2 for v in x])
    level = np.minimum((middle * n_bins / weight.sum() + 1e-9).astype(int), n_bins - 1)
    return np.unique(level, return_inverse=True)[1]


def mdl_cuts(x, classes, weight):
    """Cuts of one column, in the words of Fayyad and Irani (1993)."""
    total = weight.sum()
    whole = class_weights(classes, weight)
    best, cut = np.inf, None
    values = np.unique(x)
    for low, high in pairwise(values):
        below = x <= low
        parts = sum(
            weight[side].sum() / total * entropy(class_weights(classes[side], weight[side]))
            for side in (below, ~below)
        )
        if parts < best - 1e-10:
            best, cut = parts, (low + high) / 2
    if cut is None or (whole > 0).sum() < 2:
        return []
    below = x < cut
    k, sides = (whole > 0).sum(), []
    for side in (below, ~below):
        counts = class_weights(classes[side], weight[side])
        sides.append(((counts > 0).sum(), entropy(counts)))
    delta = np.log2(3.0**k - 2) - (k * entropy(whole) - sum(n * h for n, h in sides))
    cost = (np.log2(max(total - 1, 1)) + delta) / total
    if entropy(whole) - best <= cost + 1e-10:
        return []
    return [
        *mdl_cuts(x[below], classes[below], weight[below]),
        cut,
        *mdl_cuts(x[~below], classes[~below], weight[~below]),
    ]


def code_table(X, strategy, n_bins=5, classes=None, weight=None):
    """Levels, one column per row, -1 for missing."""
    weight = np.ones(len(X)) if weight is None else weight
    out = np.full(X.T.shape, -1)
    for j, x in enumerate(X.T):
        seen = ~np.isnan(x)
        if not seen.any():
            continue
        if strategy == "uniform":
            out[j, seen] = uniform(x[seen], n_bins)
        elif strategy == "quantile":
            out[j, seen] = quantile(x[seen], n_bins, weight[seen])
        else:
            cuts = mdl_cuts(x[seen], classes[seen], weight[seen])
            out[j, seen] = np.searchsorted(cuts, x[seen], side="right") if cuts else 0
    return out


def information(a, b, weight):
    """Mutual information in bits and both entropies, over rows where both are known."""
    known = (a >= 0) & (b >= 0)
    if not known.any():
        return 0.0, 0.0, 0.0
    a, b, weight = a[known], b[known], weight[known]
    joint = np.zeros((a.max() + 1, b.max() + 1))
    np.add.at(joint, (a, b), weight)
    left, right = entropy(joint.sum(axis=1)), entropy(joint.sum(axis=0))
    return max(left + right - entropy(joint.ravel()), 0.0), left, right


def uncertainty(a, b, weight):
    shared, left, right = information(a, b, weight)
    return 2 * shared / (left + right) if left + right > 0 else 0.0
