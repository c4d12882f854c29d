"""How much two features repeat each other: correlations, information, or a function of users."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tamis.exceptions import InputError
from tamis.graph.relation_matrix import Tile
from tamis.statistics.correlations import Floats, Range, linear_factors, rank_factors

RELATIONS = ("spearman", "pearson", "mutual_information")
# Relations that are products of vectors, and who makes these.
FACTORS = {"spearman": rank_factors, "pearson": linear_factors}
# Mutual information compares columns in this many classes of nearly equal size.
INFORMATION_BINS = 5


def relation_tiles(X: Any, weight: Floats | None, settings: Any, dtype: str) -> Tile:
    """Function that gives the absolute relations between two ranges of features in memory."""
    if callable(settings.relation):
        return _user_tiles(X, settings)
    weight = np.ones(X.shape[0]) if weight is None else weight
    if settings.relation == "mutual_information":
        return information_tiles(X, weight, dtype)
    return FACTORS[settings.relation](X, weight, dtype, settings.n_jobs).block


def information_tiles(X: Any, weight: Floats, dtype: Any) -> Tile:
    """Mutual information of columns in classes, as a share of the smaller entropy."""
    codes = _rank_classes(X, weight)

    def indicators(columns: Range) -> NDArray[Any]:
        part = codes[slice(*columns)]
        hot = part[:, None, :] == np.arange(INFORMATION_BINS)[:, None]
        return hot.reshape(-1, part.shape[1]).astype(dtype)

    def tile(rows: Range, columns: Range) -> Any:
        # Joint counts of two ranges are one product of indicators; missing cells have none.
        left = indicators(rows) * weight.astype(dtype)
        joint = left @ indicators(columns).T
        shape = (rows[1] - rows[0], INFORMATION_BINS, columns[1] - columns[0], INFORMATION_BINS)
        return _information_share(joint.reshape(shape).transpose(0, 2, 1, 3).astype(np.float64))

    return tile


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


def _user_tiles(X: Any, settings: Any) -> Tile:
    """Relations by a function of the user, checked block by block."""

    def dense(columns: Range) -> Any:
        part = X[:, slice(*columns)]
        return part.toarray() if sparse.issparse(part) else part

    def tile(rows: Range, columns: Range) -> Any:
        block = np.asarray(settings.relation(dense(rows), dense(columns)), np.float64)
        expected = (rows[1] - rows[0], columns[1] - columns[0])
        if block.shape != expected or not ((np.abs(block) <= 1 + 1e-9).all()):
            raise InputError(
                f"{settings.who}: relation must return a matrix of shape {expected} with values "
                f"in [-1, 1], got shape {block.shape} with a largest size of "
                f"{np.abs(block).max(initial=0.0)!r}."
            )
        return np.abs(block)

    return tile
