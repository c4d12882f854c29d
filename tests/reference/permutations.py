"""Plain twins of the permutation tests: a fit per order, and counts by loops."""

import numpy as np
from sklearn.base import clone


def refit(selector, X, y, orders):
    """Scores of a fit on every permuted target, ``[feature, order]``."""
    plain = clone(selector).set_params(n_features_to_select="all")
    return np.column_stack([clone(plain).fit(X, np.asarray(y)[one]).scores_ for one in orders])


def step_down(own, permuted):
    """Adjusted p-values of Westfall and Young's step-down maxT."""
    order = np.argsort(-own, kind="stable")
    n_orders = permuted.shape[1]
    p_values, largest = np.empty(own.size), 0.0
    for place, column in enumerate(order):
        hits = 0
        for q in range(n_orders):
            hits += permuted[order[place:], q].max() >= own[column]
        largest = max(largest, (1 + hits) / (1 + n_orders))
        p_values[column] = largest
    return p_values


def sequential(own, permuted, enough):
    """P-values of one feature after the other, each until it has enough hits."""
    p_values = np.empty(own.size)
    for column, line in enumerate(permuted):
        hits = 0
        for tries, score in enumerate(line, 1):
            hits += score >= own[column]
            if hits == enough:
                p_values[column] = hits / tries
                break
        else:
            p_values[column] = (1 + hits) / (1 + line.size)
    return p_values
