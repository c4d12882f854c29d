"""Stability selection the slow, plain way, and its bounds by search over distributions."""

import itertools

import numpy as np
from scipy.optimize import linprog, minimize


def frequencies(fit, X, y, pairs, n_per_half):
    """Share of halves, and of pairs, that choose each feature; for scores without ties."""
    once, twice = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for pair in pairs:
        chosen = []
        for rows in pair:
            scores = fit(X[rows], y[rows])
            best = sorted(range(X.shape[1]), key=lambda j: -scores[j])[:n_per_half]
            chosen.append({int(j) for j in best})
        for j in chosen[0] | chosen[1]:
            once[j] += (j in chosen[0]) + (j in chosen[1])
            twice[j] += j in chosen[0] and j in chosen[1]
    return once / (2 * len(pairs)), twice / len(pairs)


def markov_tail(mean, start, n_steps):
    """Largest tail of any distribution on 0, 1 / n, ..., 1, by linear programming."""
    return _largest_tail(mean, start, n_steps, [])


def unimodal_tail(mean, start, n_steps):
    """Largest tail of a unimodal one: a linear program for every mode."""
    best = 0.0
    for mode in range(n_steps + 1):
        rows = []
        for i in range(n_steps):
            row = np.zeros(n_steps + 1)
            row[i], row[i + 1] = (1, -1) if i < mode else (-1, 1)  # rises to the mode, then falls
            rows.append(row)
        best = max(best, _largest_tail(mean, start, n_steps, rows))
    return best


def _largest_tail(mean, start, n_steps, rows):
    places = np.arange(n_steps + 1)
    A = np.array([places / n_steps, *rows])
    b = np.array([mean, *np.zeros(len(rows))])
    found = linprog(-1.0 * (places >= start), A, b, np.ones((1, n_steps + 1)), [1.0], bounds=(0, 1))
    return -found.fun if found.success else 0.0


def r_concave_tail(mean, start, n_steps, r, n_starts=6, seed=0):
    """Largest tail found by a general search over all r-concave distributions."""
    random = np.random.default_rng(seed)
    best = 0.0
    for last, _ in itertools.product(range(start, n_steps + 1), range(n_starts)):
        places = np.arange(last + 1)
        kinks = np.maximum(places[:, None] - np.arange(1, last)[None], 0)

        def pmf(x, places=places, kinks=kinks, last=last):
            convex = x[last - 1] * places + kinks @ np.exp(x[: last - 1])
            logs = np.log(convex - convex.min() + np.exp(x[last])) / r
            weights = np.exp(logs - logs.max())
            return weights / weights.sum()

        start_at = random.normal(-3, 3, last + 1)
        start_at[last - 1] = random.normal(1, 2)
        found = minimize(
            lambda x, pmf=pmf: -np.log(pmf(x)[start:].sum() + 1e-300),
            start_at,
            method="SLSQP",
            constraints={
                "type": "ineq",
                "fun": lambda x, pmf=pmf, places=places: (
                    np.log(mean * n_steps) - np.log(pmf(x) @ places + 1e-300)
                ),
            },
            bounds=[(-25, 12)] * (last - 1) + [(-50, 500), (-25, 10)],
            options={"maxiter": 300, "ftol": 1e-12},
        )
        tail = pmf(found.x)
        if tail @ places <= mean * n_steps * (1 + 1e-6):
            best = max(best, tail[start:].sum())
    return best
