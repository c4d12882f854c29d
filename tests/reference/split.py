"""DFT and RFT written as the paper says them: one column, one cut, one mask at a time."""

import numpy as np

from reference.codes import quantile


def entropy(y, w):
    total = w.sum()
    if total == 0:
        return 0.0
    shares = np.array([w[y == label].sum() for label in np.unique(y)]) / total
    shares = shares[shares > 0]
    return float(-(shares * np.log2(shares)).sum())


def mean_squared_error(y, w):
    if w.sum() == 0:
        return 0.0
    mean = (w * y).sum() / w.sum()
    return float((w * (y - mean) ** 2).sum() / w.sum())


def balanced(y, w):
    """Weights after which every class has the same total."""
    labels = np.unique(y)
    return sum(np.where(y == c, w * w.sum() / (labels.size * w[y == c].sum()), 0.0) for c in labels)


def split_test(X, y, impurity, *, n_bins=16, bins="uniform", weight=None):
    """Loss, threshold and score of every column; NaN cells take no part."""
    X = np.asarray(X, dtype=np.float64)
    y = np.asarray(y)
    weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=np.float64)
    loss, thresholds, scores = [], [], []
    for column in X.T:
        seen = ~np.isnan(column) & (weight > 0)
        x, t, w = column[seen], y[seen], weight[seen]
        base = impurity(t, w) if seen.any() else impurity(y, weight)
        best, cut = base, np.nan
        if seen.any() and x.min() < x.max():
            best = np.inf
            candidates = np.linspace(x.min(), x.max(), n_bins + 1)[1:-1]
            if bins == "quantile":
                codes = quantile(x, n_bins, w)
                candidates = [x[codes == level].min() for level in range(1, codes.max() + 1)]
            for candidate in candidates:
                left = x < candidate
                value = sum(w[side].sum() * impurity(t[side], w[side]) for side in (left, ~left))
                if value / w.sum() < best - 1e-12:
                    best, cut = value / w.sum(), candidate
        loss.append(best)
        thresholds.append(cut)
        scores.append(1 - best / base if base > 0 else 0.0)
    return np.array(loss), np.array(thresholds), np.array(scores)
