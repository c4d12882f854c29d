"""Learners of OFW written out: rows repeated as drawn, exact fractions where ties count."""

from fractions import Fraction
from itertools import pairwise

import numpy as np


def error(found, truth, balanced):
    """Share of wrong answers, or its mean over the classes that occur in `truth`."""
    wrong = np.asarray(found) != np.asarray(truth)
    if not balanced:
        return wrong.mean()
    return np.mean([wrong[truth == c].mean() for c in np.unique(truth)])


def evaluate(predict, X, y, draw, train, test, balanced=False):
    """Error of one draw; columns are a set, rows come as often as they were drawn."""
    columns = sorted(set(draw))
    known, asked = X[np.ix_(train, columns)], X[np.ix_(test, columns)]
    return error(predict(known, y[train], asked), y[test], balanced)


def nearest_neighbours(X, y, asked, n_neighbors, metric):
    """Votes of the nearest rows, which share the last places if tied; then the lower class."""
    return [_vote(X, y, point, min(n_neighbors, len(X)), metric) for point in asked]


def _vote(X, y, point, n_neighbors, metric):
    away = (point != X).sum(axis=1) if metric == "mismatch" else ((X - point) ** 2).sum(axis=1)
    limit = np.sort(away)[n_neighbors - 1]
    places = n_neighbors - int((away < limit).sum())
    share = Fraction(places, int((away == limit).sum()))
    votes = dict.fromkeys(np.unique(y), 0)
    for distance, c in zip(away, y, strict=True):
        votes[c] += 1 if distance < limit else share if distance == limit else 0
    return max(votes, key=lambda c: (votes[c], -c))


def linear_discriminant(X, y, asked, shrinkage):
    """Nearest class mean by the shrunk covariance within the classes, plus the log share."""
    present = np.unique(y)
    means = np.array([X[y == c].mean(axis=0) for c in present])
    centred = X - means[np.searchsorted(present, y)]
    S = centred.T @ centred / len(X)
    mean_variance = np.trace(S) / len(S)
    shrunk = (1 - shrinkage) * S + shrinkage * mean_variance * np.eye(len(S))
    shares = np.array([(y == c).mean() for c in present])
    coefficients = np.linalg.solve(shrunk, means.T)
    intercepts = np.log(shares) - 0.5 * (means.T * coefficients).sum(axis=0)
    return present[(asked @ coefficients + intercepts).argmax(axis=1)]


def tree(X, y, asked, max_depth, min_samples_leaf):
    """CART by Gini impurity; equal gains go to the lower column, then to the lower threshold."""
    counts = np.bincount(y)
    leaf = np.full(len(asked), counts.argmax())
    if max_depth == 0 or (counts > 0).sum() < 2:
        return leaf
    cut = _best_cut(X, y, min_samples_leaf)
    if cut is None:
        return leaf
    column, threshold = cut
    inside, outside = X[:, column] <= threshold, asked[:, column] <= threshold
    for side, other in ((inside, outside), (~inside, ~outside)):
        leaf[other] = tree(X[side], y[side], asked[other], max_depth - 1, min_samples_leaf)
    return leaf


def _best_cut(X, y, least):
    best, cut = None, None
    for column in range(X.shape[1]):
        values = np.unique(X[:, column])
        for low, high in pairwise(values):
            left = X[:, column] <= low
            if min(left.sum(), (~left).sum()) < least:
                continue
            impurity = _impurity(y[left]) + _impurity(y[~left])
            if best is None or impurity < best:
                best, cut = impurity, (column, (low + high) / 2)
    return cut


def _impurity(y):
    """Gini impurity times the number of rows, exactly."""
    counts = [int(n) for n in np.bincount(y)]
    return sum(counts) - Fraction(sum(n * n for n in counts), sum(counts))
