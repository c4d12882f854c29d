"""Weights of rows by how usual their margin is, for methods that should not follow odd rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.threads import run_parts, threads_for

Floats = NDArray[np.float64]

# Cells that are sorted, or distances that are held, at a time.
TILE_CELLS = 1 << 18


def margin_weights(X: Floats, codes: NDArray[np.int32], n_jobs: int | None = None) -> Floats:
    """Weight of every row: large where its margin is like that of the other rows.

    The margin vector of row i has one entry per column, the distance to all rows of other classes
    less the distance to all rows of its own class::

        m_ij = sum_{l: y_l != y_i} |x_ij - x_lj| - sum_{l: y_l = y_i} |x_ij - x_lj|
        w_i  = T (1 / d_i) / sum_p (1 / d_p),    d_i = mean_{p != i} ||m_i - m_p||_2

    Rows whose margin lies far from the others' pull the scores of columns about when the sample
    changes, hence their small weight. The weights sum to the number of rows. Columns should be of
    comparable scale.

    References
    ----------
    Yu, L., Han, Y. and Berens, M. E. (2012). Stable gene selection from microarray data via sample
    weighting. IEEE/ACM Transactions on Computational Biology and Bioinformatics, 9(1), 262-272.
    """
    return weights_of_margins(margin_vectors(X, codes, n_jobs))


def margin_vectors(X: Floats, codes: NDArray[np.int32], n_jobs: int | None = None) -> Floats:
    """Margin of every row along every column; a missing cell has margin 0 and no distance."""
    n_rows, n_columns = X.shape
    by_class = np.argsort(codes, kind="stable")
    groups = np.split(by_class, np.cumsum(np.bincount(codes))[:-1])
    out = np.empty((n_rows, n_columns))
    width = max(1, TILE_CELLS // n_rows)

    def tile(first: int) -> None:
        columns = np.ascontiguousarray(X[:, first : first + width].T, dtype=np.float64)
        seen = ~np.isnan(columns)
        total = np.where(seen, columns, 0.0).sum(axis=1, keepdims=True)
        # Less the mean, or a large offset would drown the differences.
        columns = columns - total / np.maximum(seen.sum(axis=1, keepdims=True), 1)
        margin = _distances_within(columns)
        for rows in groups:
            margin[:, rows] -= 2.0 * _distances_within(columns[:, rows])
        out[:, first : first + width] = margin.T

    tiles = [(first,) for first in range(0, n_columns, width)]
    run_parts(tile, tiles, threads_for(X.size, n_jobs))
    return out


def weights_of_margins(margins: Floats) -> Floats:
    """Inverse of the mean distance to the other margin vectors, summing to their number."""
    n_rows = margins.shape[0]
    if n_rows < 2:
        return np.ones(n_rows)
    centred = margins - margins.mean(axis=0)
    scale = float(np.abs(centred).max(initial=0.0))
    centred = centred / scale if scale > 0 else centred
    squares = (centred * centred).sum(axis=1)
    distance = np.empty(n_rows)
    height = max(1, TILE_CELLS // n_rows)
    for first in range(0, n_rows, height):
        rows = slice(first, first + height)
        size = squares[rows, None] + squares
        gap = size - 2.0 * (centred[rows] @ centred.T)
        # What is left of two equal vectors is rounding, whose root would not be small.
        gap[gap < 1e-14 * size] = 0.0
        distance[rows] = np.sqrt(gap).sum(axis=1) / (n_rows - 1)
    if distance.min() == 0.0:  # all margins are the same
        return np.ones(n_rows)
    inverse = 1.0 / distance
    weights: Floats = inverse * (n_rows / inverse.sum())
    return weights


def _distances_within(columns: Floats) -> Floats:
    """For every entry of a row, the sum of its distances to all entries of that row.

    In sorted order the sum is a matter of one running total: entries before it are smaller.
    """
    order = np.argsort(columns, axis=1, kind="stable")  # NaN comes last
    values = np.take_along_axis(columns, order, axis=1)
    seen = ~np.isnan(values)
    values = np.where(seen, values, 0.0)
    count = seen.sum(axis=1, keepdims=True)
    before = np.arange(values.shape[1])
    upto = np.cumsum(values, axis=1)
    sums = values * (2 * before + 1 - count) + (values + upto[:, -1:] - 2.0 * upto)
    sums = np.where(seen, sums, 0.0)
    out = np.empty_like(sums)
    np.put_along_axis(out, order, sums, axis=1)
    return out
