"""Rankings, sets and orders: checked, and turned into one another."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._validation import Number, check_value
from tamis.exceptions import InputError

LEVEL = Number(float, 0, 1, open_low=True, open_high=True)


def check_permutations(rankings: Any, who: str) -> NDArray[np.int64]:
    """Ranks of shape (n_lists, n_features): each row has 1 to n_features once."""
    table = _numeric_table(rankings, who, "rankings")
    for number, row in enumerate(table):
        if not are_permutations(row[None, :]):
            raise InputError(
                f"{who}: every row of rankings must hold each rank from 1 (best) to "
                f"{table.shape[1]} once, and list {number} does not. {_hint(table)}"
            )
    return table.astype(np.int64)


def check_ranks(rankings: Any, who: str) -> NDArray[Any]:
    """Ranks of shape (n_lists, n_features) in which features may share a rank."""
    table = _numeric_table(rankings, who, "rankings")
    outside = ~((table >= 1) & (table <= table.shape[1]))  # a NaN is outside, too
    if outside.any():
        row, column = np.argwhere(outside)[0]
        raise InputError(
            f"{who}: ranks must be between 1 (best) and {table.shape[1]}, the number of features, "
            f"got {table[row, column].item()!r} in list {row}. {_hint(table)}"
        )
    return table


def check_orders(orders: Any, who: str) -> NDArray[np.int64]:
    """Indices of shape (n_lists, n_features), best first: each row has every index once."""
    table = _numeric_table(orders, who, "orders")
    if not are_permutations(table + 1):
        raise InputError(
            f"{who}: every row of orders must hold each index from 0 to {table.shape[1] - 1} once, "
            "best first, as `order_` of a selector does. Ranks (`ranking_`, 1 is best) need no "
            "conversion."
        )
    return table.astype(np.int64)


def are_permutations(table: NDArray[Any]) -> bool:
    """Whether each row has the numbers from 1 to its length once."""
    if not (table.min() >= 1 and table.max() <= table.shape[1]):
        return False
    whole = table.astype(np.int64)
    seen = np.zeros(table.shape, dtype=bool)
    np.put_along_axis(seen, whole - 1, True, axis=1)
    return bool(seen.all() and np.array_equal(whole, table))


def _numeric_table(lists: Any, who: str, name: str) -> NDArray[Any]:
    try:
        table = np.asarray(lists)
    except ValueError:  # numpy on lists of different lengths
        table = np.empty(0, dtype=object)
    if table.ndim != 2 or table.dtype.kind not in "iuf":
        got = f"an array of shape {table.shape} and type {table.dtype}"
        raise InputError(
            f"{who}: {name} must be numbers of shape (n_lists, n_features), one list per row, all "
            f"of the same features, got {'ragged lists' if table.dtype == object else got}."
        )
    if table.shape[0] < 2 or table.shape[1] < 1:
        raise InputError(
            f"{who}: expected at least two lists of at least one feature, got {name} of shape "
            f"{table.shape}. Rank on several splits of the rows."
        )
    return table.astype(np.int64) if table.dtype.kind == "u" else table


def _hint(table: NDArray[Any]) -> str:
    if are_permutations(table + 1):
        return "These count from 0: turn orders (`order_`) into ranks with rankings_from_orders."
    return "Pass `ranking_` of fitted selectors, or orders through rankings_from_orders."


def check_sets(sets: Any, n_features: int, who: str) -> NDArray[np.bool_]:
    """Sets as a mask of shape (n_lists, n_features)."""
    check_value(n_features, Number(int, 1), who=who, name="n_features")
    return mask_of_sets(sets, int(n_features), who)


def mask_of_sets(sets: Any, n_features: int | None, who: str) -> NDArray[np.bool_]:
    """Sets as a mask; without a number of features, of those features that some set holds."""
    rows = _rows_of(sets, who)
    if len(rows) < 2:
        raise InputError(
            f"{who}: expected at least two sets, got {len(rows)}. Select on several splits of the "
            "rows."
        )
    if all(row.dtype == bool for row in rows):
        shapes = {row.shape for row in rows}
        size = rows[0].size if n_features is None else n_features
        if shapes != {(size,)}:
            raise InputError(
                f"{who}: a boolean matrix must have a row for every list and a column for each of "
                f"the {size} features, got rows of shape {sorted(shapes)}."
            )
        return np.stack(rows)
    for number, row in enumerate(rows):
        _check_indices(row, n_features, number, who)
    rows = [row.astype(np.int64) for row in rows]
    if n_features is None:
        members, places = np.unique(np.concatenate(rows), return_inverse=True)
        rows = np.split(places, np.cumsum([row.size for row in rows])[:-1])
        n_features = members.size
    mask = np.zeros((len(rows), n_features), dtype=bool)
    for number, row in enumerate(rows):
        mask[number, row] = True
    return mask


def _rows_of(sets: Any, who: str) -> list[NDArray[Any]]:
    if isinstance(sets, str | bytes | dict) or not hasattr(sets, "__iter__"):
        raise InputError(
            f"{who}: sets must be lists of feature indices or a boolean matrix (n_lists, "
            f"n_features), got {type(sets).__name__}."
        )
    if hasattr(sets, "to_numpy"):  # a data frame would give the names of its columns
        sets = sets.to_numpy()
    try:
        return [np.asarray(sorted(s) if isinstance(s, set | frozenset) else s) for s in sets]
    except ValueError:  # numpy on lists inside lists
        raise InputError(f"{who}: every set must be a plain list of feature indices.") from None


def _check_indices(row: NDArray[Any], n_features: int | None, number: int, who: str) -> None:
    if row.size == 0:
        return
    if row.ndim != 1 or row.dtype.kind not in "iu":
        raise InputError(
            f"{who}: set {number} must be a list of feature indices (int), got shape {row.shape} "
            f"and type {row.dtype}. Turn names into column numbers; a mask must be boolean."
        )
    end = np.inf if n_features is None else n_features
    if row.min() < 0 or row.max() >= end:
        wrong = row.min() if row.min() < 0 else row.max()
        upto = "" if n_features is None else f" to {n_features - 1} (n_features={n_features})"
        raise InputError(f"{who}: indices count from 0{upto}, got {wrong} in set {number}.")
    values, counts = np.unique(row, return_counts=True)
    if (counts > 1).any():
        twice = values[np.argmax(counts > 1)]
        raise InputError(
            f"{who}: a set holds a feature once, got {twice} twice in set {number}. If these "
            "are zeros and ones for every feature, pass them as a boolean matrix."
        )


def check_equal_sizes(mask: NDArray[np.bool_], who: str) -> int:
    """Number of features of every set."""
    sizes = np.unique(mask.sum(axis=1))
    if sizes.size > 1:
        raise InputError(
            f"{who}: all sets must have the same size, got sizes from {sizes[0]} to {sizes[-1]}. "
            "Use nogueira, which is made for sets of different sizes, or jaccard."
        )
    return int(sizes[0])


def from_orders(orders: Any, k: int) -> NDArray[np.int64]:
    """Sets of the `k` best features of every order, best first.

    Parameters
    ----------
    orders : array-like of int of shape (n_lists, n_features)
        Indices of all features, best first, such as ``order_`` of selectors.
    k : int
        Number of features to keep.

    Examples
    --------
    >>> from tamis.evaluation.stability import from_orders, kuncheva
    >>> sets = from_orders([[2, 0, 1, 3], [2, 1, 0, 3], [2, 0, 3, 1]], k=2)
    >>> sets.tolist()
    [[2, 0], [2, 1], [2, 0]]
    >>> kuncheva(sets, n_features=4)
    0.33
    """
    table = check_orders(orders, "from_orders")
    check_value(k, Number(int, 1, table.shape[1]), who="from_orders", name="k")
    return table[:, :k].copy()


def rankings_from_orders(orders: Any) -> NDArray[np.int64]:
    """Ranks (1 is best) of every feature from orders, as ``ranking_`` of selectors.

    Parameters
    ----------
    orders : array-like of int of shape (n_lists, n_features)
        Indices of all features, best first, one list per row, such as ``order_`` of selectors.

    Examples
    --------
    >>> from tamis.evaluation.stability import rankings_from_orders
    >>> rankings_from_orders([[2, 0, 1], [1, 0, 2]]).tolist()
    [[2, 3, 1], [2, 1, 3]]
    """
    table = check_orders(orders, "rankings_from_orders")
    rankings = np.empty_like(table)
    np.put_along_axis(rankings, table, np.arange(1, table.shape[1] + 1)[None, :], axis=1)
    return rankings
