"""Filters by moments as the textbooks write them: one column, one class, one row at a time."""

import numpy as np
from scipy import stats


def table(seed=0, n_rows=80, n_columns=14, n_classes=3, *, missing=0.0):
    """Columns of many scales, with a constant one, a copy, empty ones, and classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    y[:n_classes] = np.arange(n_classes)
    X = rng.normal(size=(n_rows, n_columns)) * rng.choice([1e-3, 1.0, 1e4], n_columns)
    X[:, 0] += y * np.abs(X[:, 0]).mean()
    X[:, 3] = 7.0
    X[:, 6] = rng.integers(0, 4, n_rows)
    if missing:
        X[rng.random(X.shape) < missing] = np.nan
        X[:, 9] = np.nan
        X[y > 0, 10] = np.nan
        X[2:, 11] = np.nan
        X[y == 0, 12] = np.nan
    X[:, 5] = X[:, 4]
    return X, y


def observed(x, y, weight):
    seen = ~np.isnan(x) & (weight > 0)
    return x[seen], y[seen], weight[seen]


def mean(x, weight):
    return float((weight * x).sum() / weight.sum())


def squares(x, weight):
    return float((weight * (x - mean(x, weight)) ** 2).sum())


def per_column(function, X, y, weight=None, **options):
    """Value of every column, 0 for those with less than two different values."""
    weight = np.ones(len(X)) if weight is None else weight
    values = []
    for x in X.T:
        x, t, w = observed(x.astype(float), y, weight)
        values.append(function(x, t, w, **options) if np.unique(x).size > 1 else 0.0)
    return np.array(values)


def fisher(x, y, weight, *, form="plain"):
    above, below, usable = 0.0, 0.0, False
    for k in np.unique(y):
        x_k, w_k = x[y == k], weight[y == k]
        gap = (mean(x_k, w_k) - mean(x, weight)) ** 2
        if form == "weighted":
            above, below, usable = above + w_k.sum() * gap, below + squares(x_k, w_k), True
        else:
            above += gap
            if w_k.sum() > 1:
                below, usable = below + squares(x_k, w_k) / (w_k.sum() - 1), True
    return above / below if usable else 0.0


def anova(x, y, weight):
    """F of the classes, and its probability."""
    classes = np.unique(y)
    freedom = classes.size - 1, weight.sum() - classes.size
    if min(freedom) <= 0:
        return 0.0, 1.0
    between = sum(
        weight[y == k].sum() * (mean(x[y == k], weight[y == k]) - mean(x, weight)) ** 2
        for k in classes
    )
    within = sum(squares(x[y == k], weight[y == k]) for k in classes)
    ratio = between / freedom[0] / (within / freedom[1])
    return ratio, stats.f.sf(ratio, *freedom)


def pearson(x, y, weight):
    if np.unique(x).size < 2 or np.unique(y).size < 2:
        return 0.0
    both = (weight * (x - mean(x, weight)) * (y - mean(y, weight))).sum()
    return both / np.sqrt(squares(x, weight)) / np.sqrt(squares(y, weight))


def line(x, y, weight):
    """F of a straight line, and its probability."""
    freedom = weight.sum() - 2
    if freedom <= 0 or np.unique(y).size < 2:
        return 0.0, 1.0
    r = pearson(x, y, weight)
    ratio = r**2 / (1 - r**2) * freedom
    return ratio, stats.f.sf(ratio, 1, freedom)


def mid_ranks(x, weight):
    """Weight below, and half of the ties."""
    return np.array([weight[x < v].sum() + weight[x == v].sum() / 2 for v in x])


def spearman(x, y, weight):
    return pearson(mid_ranks(x, weight), mid_ranks(y, weight), weight)


def one_class(x, y, weight, *, correlation, label):
    return correlation(x, (y == label).astype(float), weight)


def multiple(x, y, weight, *, ranks=False):
    """Correlation of a column with its least-squares fit by the indicators of the classes."""
    x = mid_ranks(x, weight) if ranks else x
    if np.unique(y).size < 2:
        return 0.0
    indicators = (y[:, None] == np.unique(y)).astype(float)
    root = np.sqrt(weight)
    solution = np.linalg.lstsq(indicators * root[:, None], x * root, rcond=None)[0]
    return pearson(x, indicators @ solution, weight)


def variance(x, y, weight, *, ddof=0):
    freedom = weight.sum() - ddof
    return squares(x, weight) / freedom if freedom > 0 else 0.0
