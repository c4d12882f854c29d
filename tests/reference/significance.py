"""Significance tests written as their definitions say, by loops and enumeration."""

import itertools

import numpy as np


def signed_rank_p_value(differences):
    """Two-sided p-value of Wilcoxon's test, by all patterns of signs; zeros are dropped."""
    values = [d for d in differences if d != 0]
    ranks = average_ranks_of([abs(d) for d in values])
    positive = sum(r for r, d in zip(ranks, values, strict=True) if d > 0)
    smaller = min(positive, sum(ranks) - positive)
    patterns = itertools.product([0, 1], repeat=len(values))
    hits = sum(sum(r for r, s in zip(ranks, p, strict=True) if s) <= smaller for p in patterns)
    return min(1.0, 2 * hits / 2 ** len(values))


def average_ranks_of(values):
    """Rank 1 for the smallest; ties get the mean of their places."""
    below = [sum(other < value for other in values) for value in values]
    equal = [sum(other == value for other in values) for value in values]
    return [b + (e + 1) / 2 for b, e in zip(below, equal, strict=True)]


def bayesian_shares(differences, rope, weights):
    """Shares left, inside and right for one draw of weights; the prior's zero comes first."""
    values = [0.0, *differences]
    shares = [0.0, 0.0, 0.0]
    for (z, w), (other, v) in itertools.product(zip(values, weights, strict=True), repeat=2):
        side = 0 if z + other < -2 * rope else 2 if z + other > 2 * rope else 1
        shares[side] += w * v
    return shares


def bayesian_signed_rank(differences, rope, strength, n_draws, seed):
    """Shares of draws in which left, inside and right are the largest."""
    random = np.random.default_rng(seed)
    won = np.zeros(3)
    for weights in random.dirichlet([strength] + [1.0] * len(differences), n_draws):
        won[np.argmax(bayesian_shares(differences, rope, weights))] += 1
    return won / n_draws


def maximal_groups(average_ranks, difference):
    """Sets of two or more methods, all pairs closer than `difference`, in no larger such set."""
    methods = range(len(average_ranks))
    fine = [
        set(group)
        for size in range(2, len(average_ranks) + 1)
        for group in itertools.combinations(methods, size)
        if all(
            abs(average_ranks[i] - average_ranks[j]) < difference
            for i, j in itertools.combinations(group, 2)
        )
    ]
    return [group for group in fine if not any(group < other for other in fine)]


def binomial_tail(wins, trials, chance):
    """P(X >= wins)."""
    from math import comb

    return sum(
        comb(trials, k) * chance**k * (1 - chance) ** (trials - k) for k in range(wins, trials + 1)
    )
