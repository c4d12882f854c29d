"""Small matrices of neighbourhoods, many at a time; arrays in, arrays out."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

# Work space of a block of neighbourhoods, in numbers.
BLOCK_NUMBERS = 2**22
# Up to this many rows all scalar products are made once, by one matrix product.
ROWS_AT_ONCE = 2048


def centred_grams(X: Floats, groups: Rows, first: int = 0) -> Iterator[tuple[slice, Floats]]:
    """Scalar products within every group of rows, less the mean of the group, block by block.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns)
        The table.
    groups : ndarray of shape (n_groups, size)
        Rows of every group.
    first : int
        The mean is that of the members from here on.

    Yields
    ------
    block : slice
        Which groups.
    grams : ndarray of shape (n_block, size, size)
        ``Xc Xc'`` for the centred rows of each.
    """
    size = groups.shape[1]
    products = X @ X.T if X.shape[0] <= ROWS_AT_ONCE else None
    width = size if products is not None else max(size, X.shape[1])
    step = max(1, BLOCK_NUMBERS // (size * width))
    for start in range(0, groups.shape[0], step):
        block = slice(start, start + step)
        rows = groups[block]
        if products is not None:
            yield block, double_centred(products[rows[:, :, None], rows[:, None, :]], first)
        else:
            local = X[rows]
            local -= local[:, first:].mean(axis=1, keepdims=True)
            yield block, local @ local.transpose(0, 2, 1)


def double_centred(grams: Floats, first: int = 0) -> Floats:
    """``H G H'`` of every matrix of a stack, where H takes off the mean from `first` on."""
    grams = grams - grams[:, first:].mean(axis=1, keepdims=True)
    grams -= grams[:, :, first:].mean(axis=2, keepdims=True)
    return grams


def ridge_inverses(grams: Floats, ridge: float) -> Floats:
    """``H (G + ridge I)^-1 H`` of a stack of centred Gram matrices."""
    inverses = np.linalg.inv(grams + ridge * np.eye(grams.shape[1]))
    return double_centred(np.asarray(inverses, dtype=np.float64))
