"""How far the rankings of the splits agree, and which columns they choose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.evaluation import stability
from tamis.evaluation._results import Floats, Results

UNKNOWN = float("nan")


def stability_rows(results: Results, top: int | None = None) -> Iterator[dict[str, Any]]:
    """Agreement of the splits by data, method and count."""
    for data, setting in enumerate(results.plan.settings):
        for method in results.plan.selectors:
            orders = results.orders(data, method)
            if not orders.size:
                continue
            whole = ranking_stability(orders, top)
            for count in setting.counts:
                yield {
                    "data": setting.table.name,
                    "method": method,
                    "count": count,
                    **set_stability(orders, count),
                    "jensen_shannon": whole,
                    "n": orders.shape[0],
                }


def ranking_stability(orders: NDArray[np.int32], top: int | None) -> float:
    """Jensen-Shannon index of whole rankings or their top."""
    if orders.shape[0] < 2 or orders.shape[1] < 2:
        return UNKNOWN
    top = None if top is None else min(top, orders.shape[1])
    return float(stability.jensen_shannon(stability.rankings_from_orders(orders), top))


def set_stability(orders: NDArray[np.int32], count: int) -> dict[str, float]:
    """Nogueira with its interval, and Jaccard, of the best `count` columns."""
    if orders.shape[0] < 2 or count >= orders.shape[1]:  # all columns: nothing was chosen
        return dict.fromkeys(("nogueira", "low", "high", "jaccard"), UNKNOWN)
    sets = orders[:, :count]
    found = stability.nogueira(sets, orders.shape[1])
    return {
        "nogueira": float(found.value),
        "low": float(found.low),
        "high": float(found.high),
        "jaccard": float(stability.jaccard(sets)),
    }


def frequency(orders: NDArray[np.int32], count: int) -> Floats:
    """Share of the splits that have every column among their best `count`."""
    chosen = np.bincount(orders[:, :count].ravel(), minlength=orders.shape[1])
    return chosen / orders.shape[0]


def frequency_rows(
    orders: NDArray[np.int32], count: int, names: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Share of the splits that choose a column, with its interval; the most frequent first."""
    if not orders.size:
        return
    found, ranks = stability.selection_frequency(orders[:, :count], len(names)), mean_ranks(orders)
    for j in np.lexsort((np.arange(ranks.size), ranks, -found.share)).tolist():
        yield {
            "column": names[j],
            "index": j,
            "share": float(found.share[j]),
            "low": float(found.low[j]),
            "high": float(found.high[j]),
            "mean_rank": float(ranks[j]),
        }


def mean_ranks(orders: NDArray[np.int32]) -> Floats:
    """Mean rank of every column, 1 is best."""
    total = np.zeros(orders.shape[1])
    ranks = np.arange(1.0, orders.shape[1] + 1)
    for order in orders:
        total[order] += ranks
    return total / orders.shape[0]


def chosen_columns(orders: NDArray[np.int32], count: int) -> NDArray[np.intp]:
    """The `count` columns most often among the best; of equal ones, the better mean rank."""
    share, ranks = frequency(orders, count), mean_ranks(orders)
    return np.lexsort((np.arange(share.size), ranks, -share))[:count]
