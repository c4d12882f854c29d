"""Algorithm 3 of Krupka, Navot and Tishby (2008), line by line, and its yardsticks."""

import math

import numpy as np


def mufasa(n_steps, first_point, near, draw, quality):
    """Best set, best point, and every (point, quality, accepted); j counts from 1 as printed.

    `near(point, j)` is the random move after step j, `draw(point, j)` the random set of step j.
    """
    q_best = -math.inf  # printed: maxreal, with which nothing would ever be accepted
    u = first_point
    u_best = f_best = None
    steps = []
    for j in range(1, n_steps + 1):
        features = draw(u, j)
        q = quality(features)
        accepted = q >= q_best
        if accepted:
            f_best, u_best, q_best = features, u, q
        steps.append((u, q, accepted))
        u = near(u_best, j)
    return f_best, u_best, q_best, steps


def information_gain(column, y):
    """Entropy of the classes less their mean entropy for each value of the column, in bits."""
    gain = _entropy(y)
    for value in np.unique(column):
        here = y[column == value]
        gain -= here.size / y.size * _entropy(here)
    return gain


def prefix_by_gain_per_cost(gains, costs, budget):
    """Features by gain per cost, until the next one would exceed the budget."""
    order = sorted(range(len(gains)), key=lambda j: (-gains[j] / costs[j], j))
    chosen, spent = [], 0.0
    for j in order:
        if spent + costs[j] > budget:
            break
        chosen.append(j)
        spent += costs[j]
    return chosen


def _entropy(y):
    shares = np.unique(y, return_counts=True)[1] / y.size
    return float(-(shares * np.log2(shares)).sum())
