"""ILFS as its formulas say it: one cell at a time, exact fractions, a matrix and its inverse."""

from fractions import Fraction
from math import floor, log

import numpy as np

from reference import statistics as plain


def class_moments(X, codes, weight, n_classes):
    """Weight, mean and variance as ``[class, column]`` tables."""
    parts = []
    for k in range(n_classes):
        rows = codes == k
        parts.append(np.array(plain.moments(X[rows], weight[rows])))
    return tuple(np.array(parts).transpose(1, 0, 2))


def class_means(column, codes, weight, n_classes):
    """Mean of every class that has a value, by class."""
    means = {}
    for k in range(n_classes):
        cells = [
            (Fraction(w), Fraction(x))
            for x, code, w in zip(column.tolist(), codes, weight, strict=True)
            if code == k and x == x and w > 0
        ]
        if cells:
            means[k] = sum(w * x for w, x in cells) / sum(w for w, _ in cells)
    return means


def closeness_of(x, k, means, closeness):
    """Closeness of `x` to class `k`, an exact fraction; the limits where distances are zero."""
    distances = {label: (Fraction(x) - mean) ** 2 for label, mean in means.items()}
    if not any(distances.values()):
        guess = Fraction(1, len(means))
        return guess if closeness == "inverse" else 1 - guess
    if closeness == "complement":
        return 1 - distances[k] / sum(distances.values())
    zero = [label for label, d in distances.items() if d == 0]
    if zero:
        return Fraction(int(k in zero), len(zero))
    return (1 / distances[k]) / sum(1 / d for d in distances.values())


def token_counts(X, codes, weight, n_classes, n_tokens=6, closeness="inverse"):
    """Weight of every token in every column, and of the cells that have none."""
    table = np.zeros((X.shape[1], n_tokens + 1))
    for j, column in enumerate(np.asarray(X, dtype=np.float64).T):
        means = class_means(column, codes, weight, n_classes)
        for x, k, w in zip(column.tolist(), codes, weight, strict=True):
            if x != x or len(means) < 2:
                table[j, n_tokens] += w
                continue
            c = closeness_of(x, k, means, closeness)
            table[j, min(floor(c * n_tokens), n_tokens - 1)] += w
    return table


def start(n_tokens):
    rising = [t / sum(range(1, n_tokens + 1)) for t in range(1, n_tokens + 1)]
    return [rising, rising[::-1]]


def free_topics(Q, n_iter):
    """Section 3.2 as printed, with P(z), P(f|z) and P(t|z)."""
    n, n_tokens = Q.shape
    t_z, f_z, z_ = start(n_tokens), [[1 / n] * n, [1 / n] * n], [0.5, 0.5]
    likelihood = []

    def p_z_f(z, f):
        return z_[z] * f_z[z][f] / sum(z_[u] * f_z[u][f] for u in (0, 1))

    def log_likelihood():
        return sum(
            Q[f, t] * log(sum(p_z_f(z, f) * t_z[z][t] for z in (0, 1)))
            for f in range(n)
            for t in range(n_tokens)
            if Q[f, t] > 0
        )

    likelihood.append(log_likelihood())
    for _ in range(n_iter):
        joint = [
            [[z_[z] * f_z[z][f] * t_z[z][t] for t in range(n_tokens)] for f in range(n)]
            for z in (0, 1)
        ]
        part = [np.zeros((n, n_tokens)), np.zeros((n, n_tokens))]
        for f in range(n):
            for t in range(n_tokens):
                for z in (0, 1) if Q[f, t] > 0 else ():
                    share = joint[z][f][t] / (joint[0][f][t] + joint[1][f][t])
                    part[z][f, t] = Q[f, t] * share
        t_z = [part[z].sum(axis=0) / part[z].sum() for z in (0, 1)]
        f_z = [part[z].sum(axis=1) / part[z].sum() for z in (0, 1)]
        z_ = [part[z].sum() / Q.sum() for z in (0, 1)]
        likelihood.append(log_likelihood())
    return np.array([p_z_f(0, f) for f in range(n)]), np.array(t_z), np.array(likelihood)


def anchored_topics(Q, n_iter, anchor, topic_prior):
    """Every parameter is its expected count plus its prior count, over the sum of those."""
    n, n_tokens = Q.shape
    first = start(n_tokens)
    t_z, p = first, [0.5] * n
    total = Q.sum()
    beta = topic_prior * total / n
    path = []

    def objective():
        value = sum(
            Q[f, t] * log(p[f] * t_z[0][t] + (1 - p[f]) * t_z[1][t])
            for f in range(n)
            for t in range(n_tokens)
        )
        for z in (0, 1):
            for t in range(n_tokens):
                value += anchor * total / 2 * first[z][t] * log(t_z[z][t] / first[z][t])
        return value + sum(beta / 2 * (log(2 * x) + log(2 * (1 - x))) for x in p)

    path.append(objective())
    for _ in range(n_iter):
        part = [np.zeros((n, n_tokens)), np.zeros((n, n_tokens))]
        for f in range(n):
            for t in range(n_tokens):
                a, b = p[f] * t_z[0][t], (1 - p[f]) * t_z[1][t]
                part[0][f, t], part[1][f, t] = Q[f, t] * a / (a + b), Q[f, t] * b / (a + b)
        p = [(part[0][f].sum() + beta / 2) / (Q[f].sum() + beta) for f in range(n)]
        counts = [part[z].sum(axis=0) + anchor * total / 2 * np.array(first[z]) for z in (0, 1)]
        t_z = [c / c.sum() for c in counts]
        path.append(objective())
    return np.array(p), np.array(t_z), np.array(path)


def walk(p):
    """Row sums of ``(I - rA)^-1 - I`` with ``A = p p'``, by eigenvalues and an inverse."""
    A = np.outer(p, p)
    r = 0.9 / np.abs(np.linalg.eigvalsh(A)).max()
    eye = np.eye(len(p))
    return (np.linalg.inv(eye - r * A) - eye).sum(axis=1)
