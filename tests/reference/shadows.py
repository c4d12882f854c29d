"""Hits of features over the best permuted copy, one round after the other, in plain loops."""

import numpy as np


def hits(fit, X, y, draws):
    """Rounds in which every feature beats all shadows; `draws` has the rows and columns of each."""
    n_features = X.shape[1]
    found = [0] * n_features
    for rows, order in draws:
        columns = [*X.T, *X[rows].T]
        scores = fit(np.column_stack([columns[j] for j in order]), y)
        own = {j: score for j, score in zip(order, scores, strict=True) if j < n_features}
        noise = [score for j, score in zip(order, scores, strict=True) if j >= n_features]
        for j in range(n_features):
            found[j] += all(own[j] > score for score in noise)
    return found
