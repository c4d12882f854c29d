"""How much two columns repeat each other: the information that they share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tamis.statistics.correlations import Floats, Range

# Mutual information compares columns in this many classes of nearly equal size.
INFORMATION_BINS = 5


def information_blocks(X: Any, weight: Floats, dtype: Any) -> Callable[[Range, Range], Any]:
    """Mutual information of the columns in classes of nearly equal size, as a share in [0, 1].

    The share is that of the smaller entropy, so that a column that determines another has 1. Joint
    counts of two ranges are one product of indicators; a row with a missing cell takes no part in
    the pairs of that column.
    """
    codes = _rank_classes(X, weight)

    def indicators(columns: Range) -> NDArray[Any]:
        part = codes[slice(*columns)]
        hot = part[:, None, :] == np.arange(INFORMATION_BINS)[:, None]
        return hot.reshape(-1, part.shape[1]).astype(dtype)

    def block_of(rows: Range, columns: Range) -> Any:
        left = indicators(rows) * weight.astype(dtype)
        joint = left @ indicators(columns).T
        shape = (rows[1] - rows[0], INFORMATION_BINS, columns[1] - columns[0], INFORMATION_BINS)
        return _information_share(joint.reshape(shape).transpose(0, 2, 1, 3).astype(np.float64))

    return block_of


def _information_share(joint: Floats) -> Floats:
    """Mutual information over the smaller entropy, for joint counts in the last two axes."""
    total = joint.sum(axis=(2, 3), keepdims=True)
    joint = np.divide(joint, total, out=np.zeros_like(joint), where=total > 0)
    left, right = joint.sum(axis=3), joint.sum(axis=2)
    entropies = [_entropy(share, -1) for share in (left, right)]
    shared = entropies[0] + entropies[1] - _entropy(joint, (2, 3))
    smaller = np.minimum(*entropies)
    share = np.divide(shared, smaller, out=np.zeros_like(shared), where=smaller > 1e-12)
    return np.clip(share, 0.0, 1.0)


def _entropy(share: Floats, axis: Any) -> Floats:
    logs = np.log(share, out=np.zeros_like(share), where=share > 0)
    return -(share * logs).sum(axis=axis)


def _rank_classes(X: Any, weight: Floats) -> NDArray[np.int8]:
    """Class of every cell by its mid-rank, -1 where missing; ties stay together."""
    n_rows, n_columns = X.shape
    codes = np.empty((n_columns, n_rows), dtype=np.int8)
    X = X.tocsc() if sparse.issparse(X) else X
    for j in range(n_columns):
        column = X[:, [j]].toarray().ravel() if sparse.issparse(X) else X[:, j]
        seen = ~np.isnan(column)
        values, code = np.unique(column[seen], return_inverse=True)
        mass = np.bincount(code, weight[seen], minlength=values.size)
        middle = (np.cumsum(mass) - mass / 2) / mass.sum()
        classes = np.minimum((middle * INFORMATION_BINS).astype(np.int8), INFORMATION_BINS - 1)
        codes[j] = -1
        codes[j, seen] = classes[code]
    return codes
