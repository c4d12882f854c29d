"""Nearest points: a weighted mean of their values, and what of the values no place explains."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin

Floats = NDArray[np.float64]
# Distances held at a time: 4 MB, which stay in the cache.
CELLS = 500_000
# Rounding of the distances; points so little farther than the k-th are as near as it is.
ROUNDING = 1e-9
# Neighbours whose differences tell the variance at distance 0.
NEAR = 8


class NearestRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Distance-weighted mean of the `n_neighbors` nearest points.

    A neighbour at distance ``d`` has the weight ``exp(-d^2 / b)``, with ``b`` the mean ``d^2`` over
    the neighbours of the query. All points as near as the last neighbour are neighbours too, so
    the order of the points does not matter.
    """

    def __init__(self, n_neighbors: int = 10):
        self.n_neighbors = n_neighbors

    def fit(self, X: Any, y: Any) -> NearestRegressor:
        """Keep the points."""
        self.points_ = np.array(X, dtype=np.float64)
        self.values_ = np.array(y, dtype=np.float64)
        self.n_features_in_ = self.points_.shape[1]
        return self

    def predict(self, X: Any) -> Floats:
        """Weighted means at the rows of `X`."""
        X = np.asarray(X, dtype=np.float64)
        out = np.empty(len(X))
        rows = max(1, CELLS // len(self.points_))
        for first in range(0, len(X), rows):
            out[first : first + rows] = self._means(X[first : first + rows])
        return out

    def _means(self, queries: Floats) -> Floats:
        from scipy.spatial.distance import cdist

        # Sums of squared differences: equal rows are at exactly 0, which x.x - 2 x.y + y.y loses.
        squares = cdist(queries, self.points_, "sqeuclidean")
        last = min(self.n_neighbors, len(self.points_)) - 1
        reach = np.partition(squares, last, axis=1)[:, last : last + 1]
        # Few are near, so the rest is done for those alone.
        query, point = np.nonzero(squares <= reach * (1.0 + ROUNDING))
        near = squares[query, point]
        width = _sums(query, near, len(queries)) / np.bincount(query, minlength=len(queries))
        # Where all neighbours are equal to the query, all of them count the same.
        weights = np.exp(-near / np.where(width > 0.0, width, 1.0)[query])
        # The mean is taken of differences to one value, so that equal values give just this value.
        base = float(self.values_[0])
        total = _sums(query, weights * (self.values_[point] - base), len(queries))
        return base + total / _sums(query, weights, len(queries))


def _sums(group: NDArray[np.intp], values: Floats, n_groups: int) -> Floats:
    return np.asarray(np.bincount(group, values, minlength=n_groups), dtype=np.float64)


def nugget(points: Floats, values: Floats) -> float:
    """Variance of the values at one and the same place, read off near points.

    Half the mean squared difference to the 1st, 2nd, ... neighbour, against its mean squared
    distance, is a line near 0 if the values are a smooth function of the place plus noise; where
    the line begins is the variance of the noise (the gamma test).
    """
    from tamis.statistics.neighbors import nearest_rows

    indices, squares = nearest_rows(np.ascontiguousarray(points), NEAR)
    halves = 0.5 * np.square(values[indices] - values[:, None]).mean(axis=0)
    distance = squares.mean(axis=0)
    centred = distance - distance.mean()
    if not centred.any():
        return float(halves.mean())
    start = halves.mean() - distance.mean() * (centred @ halves) / (centred @ centred)
    return float(np.clip(start, 0.0, halves[0]))
