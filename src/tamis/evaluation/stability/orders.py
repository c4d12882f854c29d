"""Orders (indices, best first) turned into what the measures take."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._validation import Number, check_value
from tamis.evaluation.stability import _lists


def from_orders(orders: Any, k: int) -> NDArray[np.int64]:
    """Sets of the `k` best features of every order.

    Parameters
    ----------
    orders : array-like of int of shape (n_lists, n_features)
        Indices of all features, best first, one list per row, such as ``order_`` of selectors.
    k : int
        Number of features to keep.

    Returns
    -------
    sets : ndarray of int of shape (n_lists, k)
        The kept indices, best first.

    Examples
    --------
    >>> from tamis.evaluation.stability import from_orders, kuncheva
    >>> sets = from_orders([[2, 0, 1, 3], [2, 1, 0, 3], [2, 0, 3, 1]], k=2)
    >>> sets.tolist()
    [[2, 0], [2, 1], [2, 0]]
    >>> kuncheva(sets, n_features=4)
    0.33
    """
    table = _lists.check_orders(orders, "from_orders")
    check_value(k, Number(int, 1, table.shape[1]), who="from_orders", name="k")
    return table[:, :k].copy()


def rankings_from_orders(orders: Any) -> NDArray[np.int64]:
    """Ranks (1 is best) of every feature from orders.

    Parameters
    ----------
    orders : array-like of int of shape (n_lists, n_features)
        Indices of all features, best first, one list per row, such as ``order_`` of selectors.

    Returns
    -------
    rankings : ndarray of int of shape (n_lists, n_features)
        As ``ranking_`` of selectors.

    Examples
    --------
    >>> from tamis.evaluation.stability import rankings_from_orders
    >>> rankings_from_orders([[2, 0, 1], [1, 0, 2]]).tolist()
    [[2, 3, 1], [2, 1, 3]]
    """
    table = _lists.check_orders(orders, "rankings_from_orders")
    rankings = np.empty_like(table)
    np.put_along_axis(rankings, table, np.arange(1, table.shape[1] + 1)[None, :], axis=1)
    return rankings
