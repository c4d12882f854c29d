"""Laplacian score and MCFS as the papers print them, with dense matrices."""

import numpy as np
from scipy.linalg import eigh


def distances(X):
    """Squared distances of all rows; infinite from a row to itself."""
    out = np.array([np.sum((X - row) ** 2, axis=1) for row in X])
    np.fill_diagonal(out, np.inf)
    return out


def nearest(X, k):
    """Nearest rows and their squared distances, ties by lower row."""
    all_of_them = distances(X)
    k = min(k, len(X) - 1)
    order = np.argsort(all_of_them, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(all_of_them, order, axis=1)


def affinity(X, k=5, weights="heat", width=None):
    """Weights of rows of which either is among the k nearest of the other."""
    rows, near = nearest(X, k)
    width = near.mean() if width is None else width
    S = np.zeros((len(X), len(X)))
    for i in range(len(X)):
        for j, distance in zip(rows[i], near[i], strict=True):
            S[i, j] = S[j, i] = np.exp(-distance / width) if weights == "heat" else 1.0
    return S


def at_the_mean(X):
    """Missing cells replaced by the mean of their column."""
    return np.where(np.isnan(X), np.nanmean(X, axis=0), X)


def laplacian_scores(X, S):
    """Section 2.2 of the paper, one column after the other; a missing cell has f~ = 0."""
    D = np.diag(S.sum(axis=1))
    L = D - S
    scores = []
    for f in X.T:
        seen = ~np.isnan(f)
        one = seen.astype(float)
        f = np.where(seen, f, 0.0)
        f = np.where(seen, f - (f @ D @ one) / (one @ D @ one), 0.0)
        scores.append((f @ L @ f) / (f @ D @ f))
    return np.array(scores)


def embedding(S, n_vectors):
    """Eigenvectors of L y = lambda D y after the first, and their eigenvalues."""
    D = np.diag(S.sum(axis=1))
    values, vectors = eigh(D - S, D)
    return vectors[:, 1 : n_vectors + 1], values[1 : n_vectors + 1]


def standardised(X):
    """Columns of mean 0 and length 1."""
    X = X - X.mean(axis=0)
    return X / np.sqrt((X**2).sum(axis=0))
