"""Slow twins: a linear support vector machine by a general solver, elimination, zero norm."""

from itertools import combinations

import numpy as np
from scipy.optimize import minimize


def train(X, sign, price):
    """Signed multipliers of the machine, by a general solver of smooth programs."""
    gram = X @ X.T
    scale = max(np.trace(gram) / len(X), 1e-300)  # the solver expects numbers near 1
    found = minimize(
        lambda beta: 0.5 * beta @ gram @ beta / scale - sign @ beta,
        np.zeros(len(X)),
        jac=lambda beta: gram @ beta / scale - sign,
        bounds=np.sort(np.column_stack([np.zeros(len(X)), sign * price * scale]), axis=1),
        constraints={"type": "eq", "fun": np.sum, "jac": np.ones_like},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 2000},
    )
    return found.x / scale


def objective(X, sign, beta):
    """What the dual maximises."""
    return sign @ beta - 0.5 * np.sum((X.T @ beta) ** 2)


def violation(X, sign, low, high, beta):
    """How far the steepest row that may grow lies above the flattest that may shrink."""
    slope = sign - X @ (X.T @ beta)
    grow, shrink = slope[beta < high], slope[beta > low]
    return max(grow.max() - shrink.min(), 0.0)


def machines(y, multi_class):
    """Rows and signs of every two-class machine."""
    classes = np.unique(y)
    if multi_class == "ovo" or classes.size == 2:
        for a, b in combinations(classes, 2):
            rows = np.flatnonzero((y == a) | (y == b))
            yield rows, np.where(y[rows] == a, 1.0, -1.0)
    else:
        for a in classes:
            yield np.arange(y.size), np.where(y == a, 1.0, -1.0)


def squared_weights(X, y, price, multi_class="ovo"):
    """Squared weights summed over the machines."""
    total = np.zeros(X.shape[1])
    for rows, sign in machines(y, multi_class):
        total += (X[rows].T @ train(X[rows], sign, price[rows])) ** 2
    return total


def eliminate(X, y, price, step=1, multi_class="ovo"):
    """Order, best first, and the weights that the columns were dropped with."""
    left, order, criterion = list(range(X.shape[1])), [], np.zeros(X.shape[1])
    while left:
        weights = squared_weights(X[:, left], y, price, multi_class)
        count = max(1, int(step * len(left))) if step < 1 else min(step, len(left))
        gone = sorted(range(len(left)), key=lambda a: (weights[a], -left[a]))[:count]
        for a in gone:
            order.append(left[a])
            criterion[left[a]] = weights[a]
        left = [j for a, j in enumerate(left) if a not in gone]
    return order[::-1], criterion


def zero_norm(X, y, price, n_rounds, multi_class="ovo"):
    """Scale factors after some rounds of multiplicative updates, the largest being 1."""
    factor = np.ones(X.shape[1])
    for _ in range(n_rounds):
        factor = factor * np.sqrt(squared_weights(X * factor, y, price, multi_class))
        factor /= factor.max()
    return factor
