"""Rows in an order of their own, equal ones together, so that the order they came in is nothing."""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Floats = NDArray[np.float64]
# Cells that are looked at in one go.
BLOCK_CELLS = 2**20
# Rows are repeated to at most so many times their number.
MOST_REPETITIONS = 4


class DistinctRows(NamedTuple):
    """One row of each kind, and what all of its kind weigh together; None if all weigh alike."""

    rows: NDArray[np.intp]
    weight: Floats | None


def distinct_rows(X: Any, codes: NDArray[np.int32], weight: Floats | None) -> DistinctRows:
    """Put rows that have the same cells and the same class together, in an order by content.

    Random draws then depend on what is in the table, not on the order of its rows, and a weight of
    2 is the row twice. Rows without weight are left out.
    """
    share = np.ones(X.shape[0]) if weight is None else weight
    # By content first: another naming of the classes must not change the order.
    kinds = np.column_stack([_digests(X), codes.astype(np.uint64)])
    _, first, kind = np.unique(kinds, axis=0, return_index=True, return_inverse=True)
    # Added up in order of size, for another order of the rows could round otherwise.
    order = np.lexsort((share, kind))
    total: Floats = np.bincount(kind[order], share[order], minlength=first.size)  # type: ignore
    first, total = first[total > 0], total[total > 0]
    return DistinctRows(first, None if total.min() == total.max() else total)


def listed_rows(X: Any, target: NDArray[Any], weight: Floats | None) -> DistinctRows:
    """Put rows in an order by content; weights that are counts become repetitions.

    For methods that draw rows by themselves, so that a weight of 2 is the row twice. Other weights
    are returned as they are, None if all are equal.
    """
    digests = _digests(X)
    order = np.lexsort((target, digests[:, 1], digests[:, 0]))
    if weight is None:
        return DistinctRows(order, None)
    order = order[weight[order] > 0]
    share = weight[order]
    if share.min() == share.max():
        return DistinctRows(order, None)
    if (share == np.floor(share)).all() and share.sum() <= MOST_REPETITIONS * X.shape[0]:
        return DistinctRows(np.repeat(order, share.astype(np.intp)), None)
    return DistinctRows(order, share)


def _digests(X: Any) -> NDArray[np.uint64]:
    """Two whole numbers per row that say what is in it."""
    n_rows, n_columns = X.shape
    out = np.empty((n_rows, 2), dtype=np.uint64)
    size = max(1, BLOCK_CELLS // n_columns)
    for start in range(0, n_rows, size):
        block = X[start : start + size]
        dense = block.toarray() if sparse.issparse(block) else block
        dense = dense.astype(np.float64, order="C") + 0.0  # minus zero is zero
        dense[np.isnan(dense)] = np.nan  # NaN has many patterns of bits
        for i, row in enumerate(dense, start):
            digest = hashlib.blake2b(row.data, digest_size=16).digest()
            out[i] = np.frombuffer(digest, dtype=np.uint64)
    return out
