"""OFW as the paper and the specification write it: every draw enumerated, dense vectors."""

import itertools

import numpy as np


def occurrences(draw, n):
    """C(omega, .): how often each column occurs in a draw."""
    return np.bincount(draw, minlength=n).astype(float)


def all_draws(P, k):
    """Every ordered draw of k columns with replacement, and its probability."""
    for draw in itertools.product(range(P.size), repeat=k):
        yield np.array(draw), float(np.prod(P[list(draw)]))


def energy(P, k, error):
    """Eq. 2: expected error of a subset drawn from P."""
    return sum(p * error(draw) for draw, p in all_draws(P, k))


def gradient(P, k, error):
    """Eq. 7: derivative of the energy by every P(delta)."""
    total = np.zeros(P.size)
    for draw, p in all_draws(P, k):
        total += p * error(draw) * occurrences(draw, P.size) / P
    return total


def log_gradient(P, k, error):
    """Eq. 9: derivative of the energy by log P."""
    return P * gradient(P, k, error)


def project_plane(v):
    """On the plane of vectors whose sum does not change."""
    return v - v.mean()


def project_tangent(v, P):
    """On the tangent space of log P, where sum P dlogP = 0."""
    return v - P * (v @ P) / (P @ P)


def euclidean_drift(P, draw, q):
    """Figure 3: d(delta) = q (C / P - mean over all columns of C / P)."""
    return q * project_plane(occurrences(draw, P.size) / P)


def riemannian_drift(P, draw, q):
    """Eq. 12 and 14: q (C - kappa P), kappa = sum C P / sum P^2."""
    C = occurrences(draw, P.size)
    return q * (C - P * (C @ P) / (P @ P))


def printed_riemannian_drift(P, draw, q):
    """Figure 4 as printed: C q + kappa P, with the wrong sign and without q."""
    C = occurrences(draw, P.size)
    return C * q + P * (C @ P) / (P @ P)


def riemannian_step(P, draw, q, step):
    moved = P * np.exp(-step * riemannian_drift(P, draw, q))
    return moved / moved.sum()


def project_simplex(x):
    """Nearest point of the simplex by sorting."""
    ordered = np.sort(x)[::-1]
    sums = np.cumsum(ordered)
    positions = np.arange(1, x.size + 1)
    last = np.flatnonzero(ordered - (sums - 1) / positions > 0)[-1]
    return np.maximum(x - (sums[last] - 1) / (last + 1), 0)


def printed_projection(x):
    """Section 4.3: the recursion, whose first step projects on the plane of sum 1."""
    x = x + (1 - x.sum()) / x.size
    while (x < 0).any():
        positive = x > 0
        x = np.where(positive, x, 0.0)
        x[positive] += (1 - x.sum()) / positive.sum()
    return x
