"""UDFS and LLCFS as the papers print them: dense matrices, loops over rows."""

import numpy as np
from scipy import linalg


def standardised(X):
    """Columns less their mean, over their deviation; missing cells at the mean."""
    X = np.asarray(X, dtype=np.float64)
    centred = X - np.nanmean(X, axis=0)
    return np.nan_to_num(centred / np.sqrt(np.nanmean(centred**2, axis=0)))


def neighbours(X, i, k):
    """The k rows nearest to row i, without itself; equal distances by lower row."""
    distances = [(((X[i] - X[j]) ** 2).sum(), j) for j in range(len(X)) if j != i]
    return [j for _, j in sorted(distances)[:k]]


def udfs_matrix(X, k, lam):
    """``M = X [sum_i S_i H (X~_i' X~_i + lambda I)^-1 H S_i'] X'`` with columns as in X."""
    n_rows = len(X)
    total = np.zeros((n_rows, n_rows))
    for i in range(n_rows):
        group = [i, *neighbours(X, i, k)]
        size = len(group)
        S = np.zeros((n_rows, size))
        S[group, range(size)] = 1.0
        H = np.eye(size) - np.ones((size, size)) / size
        local = X[group].T @ H
        total += S @ H @ np.linalg.inv(local.T @ local + lam * np.eye(size)) @ H @ S.T
    return X.T @ total @ X


def udfs(M, c, gamma, *, n_steps, floor, start=None):
    """Row norms of W and the objective after every step; D starts as I, or from given norms."""
    D = np.eye(len(M)) if start is None else np.diag(1 / (2 * np.maximum(start, floor)))
    path = []
    for _ in range(n_steps):
        W = np.linalg.eigh(M + gamma * D)[1][:, :c]
        norms = np.linalg.norm(W, axis=1)
        path.append(np.trace(W.T @ M @ W) + gamma * norms.sum())
        D = np.diag(1 / (2 * np.maximum(norms, floor)))
    return norms, np.array(path)


def mean_null_norms(M, c):
    """Root of the mean squared row norms over all choices of c orthonormal null vectors."""
    basis = linalg.null_space(M, rcond=1e-10)
    return np.sqrt((basis**2).sum(axis=1) * c / basis.shape[1])


def ridge_maps(X, group, tau, beta):
    """Matrices that take targets of a group to w and b, from the normal equations.

    They minimise ``beta sum_j (y_j - w'x_j - b)^2 + sum_l w_l^2 / tau_l``.
    """
    local = np.column_stack([X[group], np.ones(len(group))])
    penalty = np.diag(np.append(1 / tau, 0.0))
    solution = np.linalg.solve(beta * local.T @ local + penalty, beta * local.T)
    return solution[:-1], solution[-1]


def llcfs(X, c, k, beta, *, n_steps):
    """Weights tau and the sum of the c smallest eigenvalues in every round."""
    n_rows, n_columns = X.shape
    tau, path = np.full(n_columns, 1 / n_columns), []
    for _ in range(n_steps):
        A = np.zeros((n_rows, n_rows))
        groups, maps = [], []
        for i in range(n_rows):
            group = neighbours(X * np.sqrt(tau), i, min(k, n_rows - 1))
            w, b = ridge_maps(X, group, tau, beta)
            A[i, group] = X[i] @ w + b
            groups.append(group)
            maps.append(w)
        values, vectors = np.linalg.eigh((np.eye(n_rows) - A).T @ (np.eye(n_rows) - A))
        path.append(values[:c].sum())
        squares = np.zeros(n_columns)
        for group, w in zip(groups, maps, strict=True):
            squares += ((w @ vectors[group, :c]) ** 2).sum(axis=1)
        tau = np.sqrt(squares) / np.sqrt(squares).sum()
    return tau, np.array(path)
