"""Slow literal twins of the default map: one query, one neighbour at a time."""

import math

import numpy as np


def scale(meta):
    """Columns of numbers around the median, divided by their deviation; 0 if they do not vary."""
    meta = np.asarray(meta, dtype=float)
    out = np.zeros_like(meta)
    for j in range(meta.shape[1]):
        column = meta[:, j]
        if column.min() < column.max():
            out[:, j] = column / math.sqrt(np.mean((column - column.mean()) ** 2))
    return out


def nearest_mean(points, values, query, n_neighbors):
    """Mean over the nearest points with weights exp(-d^2 / mean d^2), ties of the last included."""
    squares = [sum((a - b) ** 2 for a, b in zip(point, query, strict=True)) for point in points]
    reach = sorted(squares)[min(n_neighbors, len(points)) - 1]
    near = [i for i, square in enumerate(squares) if square <= reach * (1 + 1e-9)]
    width = sum(squares[i] for i in near) / len(near)
    total = weighted = 0.0
    for i in near:
        weight = math.exp(-squares[i] / width) if width > 0 else 1.0
        total += weight
        weighted += weight * values[i]
    return weighted / total
