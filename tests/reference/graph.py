"""Inf-FS as the paper prints it: the whole matrix by two loops, its eigenvalues, its inverse."""

import numpy as np
from scipy.stats import rankdata


def walk_scores(A, damping=0.9):
    """``(I - r A)^-1 e - e`` with ``r = damping / spectral radius``; 0 if the radius is 0."""
    A = np.asarray(A, dtype=np.float64)
    n = len(A)
    radius = np.abs(np.linalg.eigvals(A)).max()
    if radius == 0:
        return np.zeros(n)
    return np.linalg.inv(np.eye(n) - damping / radius * A) @ np.ones(n) - 1.0


def weighted_ranks(x, w):
    """Weight below plus half of the weight of the ties, and a half more: ranks, if all weigh 1."""
    return np.array([w[x < value].sum() + w[x == value].sum() / 2 + 0.5 for value in x])


def centred(x, w, *, ranks):
    """Values (or ranks) of the observed cells minus their mean; missing cells are 0."""
    out = np.zeros(len(x))
    seen = ~np.isnan(x)
    values, weight = x[seen], w[seen]
    if ranks:
        plain = (weight == 1).all()
        values = rankdata(values) if plain else weighted_ranks(values, weight)
    out[seen] = values - (weight * values).sum() / weight.sum()
    return out


def correlation(x, y, w, *, ranks):
    a, b = centred(x, w, ranks=ranks), centred(y, w, ranks=ranks)
    return (w * a * b).sum() / np.sqrt((w * a**2).sum() * (w * b**2).sum())


def spearman(x, y, w):
    return correlation(x, y, w, ranks=True)


def pearson(x, y, w):
    return correlation(x, y, w, ranks=False)


def classes_of_equal_size(x, n_bins=5):
    """Class of every value by the middle of its ranks, in whole numbers so that nothing rounds."""
    doubled = np.array([2 * (x < value).sum() + (x == value).sum() for value in x])
    return np.minimum(n_bins * doubled // (2 * len(x)), n_bins - 1)


def shannon(*labels):
    counts = np.unique(np.column_stack(labels), axis=0, return_counts=True)[1]
    shares = counts / counts.sum()
    return -(shares * np.log(shares)).sum()


def mutual_information(x, y, w):
    """Shared information over the smaller entropy, from the rows where both are observed."""
    code = []
    for column in (x, y):
        classes = np.full(len(column), -1)
        seen = ~np.isnan(column)
        classes[seen] = classes_of_equal_size(column[seen])
        code.append(classes)
    both = (code[0] >= 0) & (code[1] >= 0)
    a, b = code[0][both], code[1][both]
    smaller = min(shannon(a), shannon(b))
    return (shannon(a) + shannon(b) - shannon(a, b)) / smaller if smaller > 0 else 0.0


def deviations(X, w):
    """Standard deviations of the observed cells; one is taken off the weights, if they allow it."""
    seen = ~np.isnan(X)
    totals = np.array([w[s].sum() for s in seen.T])
    less = 1.0 if totals.min() > 1 else 0.0
    out = []
    for column, s, total in zip(X.T, seen.T, totals, strict=True):
        x, weight = column[s], w[s]
        mean = (weight * x).sum() / total
        out.append(np.sqrt((weight * (x - mean) ** 2).sum() / (total - less)))
    return np.array(out)


def graph_matrix(X, alpha, *, weight=None, relation=spearman):
    """Full matrix A of columns that all vary."""
    X = np.asarray(X, dtype=np.float64)
    w = np.ones(len(X)) if weight is None else np.asarray(weight, dtype=np.float64)
    s = deviations(X, w)
    s = s / s.max()
    n = X.shape[1]
    A = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            redundancy = abs(relation(X[:, i], X[:, j], w))
            A[i, j] = alpha * max(s[i], s[j]) + (1 - alpha) * (1 - redundancy)
    return A


def inf_fs(X, alpha=0.5, *, damping=0.9, weight=None, relation=spearman):
    """Scores; columns that never vary stay out of the graph and score 0."""
    X = np.asarray(X, dtype=np.float64)
    w = np.ones(len(X)) if weight is None else np.asarray(weight, dtype=np.float64)
    X, w = X[w > 0], w[w > 0]
    varies = np.array([np.unique(column[~np.isnan(column)]).size > 1 for column in X.T])
    scores = np.zeros(X.shape[1])
    A = graph_matrix(X[:, varies], alpha, weight=w, relation=relation)
    scores[varies] = walk_scores(A, damping)
    return scores
