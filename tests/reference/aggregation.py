"""Aggregation of rankings, written as the definitions are, one column and one list at a time."""

from fractions import Fraction
from math import comb

import numpy as np


def share_beaten(row, j):
    """Share of the other columns behind column j; a tie is half a win."""
    others = [value for i, value in enumerate(row) if i != j]
    wins = sum(1.0 if value > row[j] else 0.5 if value == row[j] else 0.0 for value in others)
    return wins / len(others)


def borda(rankings):
    rankings = np.asarray(rankings, dtype=float)
    return np.array(
        [np.mean([share_beaten(row, j) for row in rankings]) for j in range(rankings.shape[1])]
    )


def median_rank(rankings):
    rankings = np.asarray(rankings, dtype=float)
    return np.array(
        [np.median([share_beaten(row, j) for row in rankings]) for j in range(rankings.shape[1])]
    )


def rho(rankings, j):
    """Exact rho of column j: the k-th of m uniform numbers below r means k or more of m are."""
    rankings = np.asarray(rankings, dtype=float)
    m, n = rankings.shape
    shares = sorted(Fraction(int((row <= row[j]).sum()), n) for row in rankings)
    tails = []
    for k, share in enumerate(shares, start=1):
        tails.append(sum(comb(m, i) * share**i * (1 - share) ** (m - i) for i in range(k, m + 1)))
    return min(tails)


def spearman(left, right):
    """Pearson's correlation of ranks."""
    return np.corrcoef(left, right)[0, 1]
