"""Algorithm 2 of Krupka, Navot and Tishby (2008), step by step on plain sets and lists."""

import math

import numpy as np
from sklearn.utils import check_random_state

from reference.quality_map import nearest_mean


def mf_pfs(meta, columns, y, n, quality, *, alphas, t, seed, reuse, n_neighbors=10):
    """Survivors, best first, the candidates dropped in each round, and all that were measured."""
    random = check_random_state(seed)
    random.randint(2**31 - 1)  # seed of the folds, which decide nothing
    F = list(range(len(meta)))
    measured, dropped, rounds = set(), [], 0
    while len(F) > n:
        alpha = alphas[rounds] if rounds < len(alphas) else alphas[-1]
        size = min(max(2, math.floor(alpha * n + 0.5)), len(F))
        shuffled = [int(f) for f in random.permutation(F)]
        if reuse:  # sorted keeps the order of equal ones
            shuffled = sorted(shuffled, key=lambda f: f not in measured)
        F0 = shuffled[:size]
        measured |= set(F0)
        Y = quality(columns[:, F0], y)
        everything = scale_by(meta, F0)
        points = [everything[f] for f in F0]
        predicted = {f: nearest_mean(points, Y, everything[f], n_neighbors) for f in F}
        n_drop = min(max(1, math.floor(t * len(F) + 1e-9)), len(F) - n)
        best = sorted(F, key=lambda f: (-predicted[f], f))
        dropped.append(best[len(F) - n_drop :])
        F = sorted(best[: len(F) - n_drop])
        rounds += 1
    survivors = sorted(F, key=lambda f: (-predicted[f], f))
    return survivors, dropped, measured


def scale_by(meta, rows):
    """All candidates on the scale of some of them."""
    meta = np.asarray(meta, dtype=float)
    part = meta[rows]
    spread = part.std(axis=0)
    return np.where(spread > 0, meta / np.where(spread > 0, spread, 1.0), 0.0)
