"""Plain versions of what `tamis.certainty` computes for knockoffs, written from the definitions."""

import numpy as np


def threshold(W, level):
    for t in sorted({abs(w) for w in W if w != 0}):
        above, below = sum(w >= t for w in W), sum(w <= -t for w in W)
        if above and (1 + below) / above <= level + 1e-12:
            return t
    return np.inf


def e_bh(e_values, level):
    """The k largest, for the largest k that qualifies."""
    n = len(e_values)
    order = sorted(range(n), key=lambda j: -e_values[j])
    ks = [k for k in range(1, n + 1) if e_values[order[k - 1]] >= n / (level * k) - 1e-9]
    chosen = np.zeros(n, bool)
    chosen[order[: max(ks, default=0)]] = True
    return chosen


def e_values(W, level, n_tested):
    """Stops at the threshold, or where too few features are left to reach it."""
    found = np.zeros((len(W), len(W[0])))
    for i, line in enumerate(W):
        for t in sorted({abs(w) for w in line if w != 0}):
            above, below = sum(w >= t for w in line), sum(w <= -t for w in line)
            if 1 + below <= level * above + 1e-9 or above < 1 / level - 1e-9:
                for j, w in enumerate(line):
                    found[i, j] = n_tested / (1 + below) if w >= t else 0
                break
    return found.mean(axis=0)


def reconstructability(S, s):
    """Trace of the inverse of the joint covariance of features and copies."""
    C = S - np.diag(s)
    return np.trace(np.linalg.inv(np.block([[S, C], [C, S]])))
