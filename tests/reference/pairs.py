"""Statistics of pairs of columns as their definitions say them: one cell at a time."""

import numpy as np


def few_values(X, most):
    """Distinct observed values of every column, ascending; None where there are too many."""
    found = []
    for column in np.asarray(X, dtype=np.float64).T:
        values = sorted({x for x in column.tolist() if x == x})
        found.append(values if len(values) <= most else None)
    return found


def level(x, cuts):
    """Number of cuts at or below `x`; None for a missing cell."""
    return None if x != x else sum(1 for cut in cuts if cut <= x)


def pair_counts(X, weight, cuts, one, others=None):
    """Weight ``[level of a column, level of one]`` for every column; `one` is a column or codes."""
    X = np.asarray(X, dtype=np.float64)
    codes = [level(x, cuts[one]) for x in X[:, one]] if others is None else list(others)
    n_one = len(cuts[one]) + 1 if others is None else int(max(others)) + 1
    tables = []
    for j in range(X.shape[1]):
        table = np.zeros((len(cuts[j]) + 1, n_one))
        for x, code, w in zip(X[:, j], codes, weight, strict=True):
            if code is not None and x == x and len(cuts[j]):
                table[level(x, cuts[j]), code] += w
        tables.append(table)
    return tables


def cross_products(X, weight, batch, centre, scale):
    """Weighted sums of products of scaled columns, missing cells as 0."""
    Z = (np.asarray(X, dtype=np.float64) - centre) * scale
    Z = np.where(np.isnan(Z), 0.0, Z)
    out = np.zeros((len(batch), Z.shape[1]))
    for row, w in zip(Z, weight, strict=True):
        for k, a in enumerate(batch):
            for j, z in enumerate(row):
                out[k, j] += w * row[a] * z
    return out
