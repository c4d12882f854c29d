"""Results of a comparison by data set and method, and how far the rankings of the splits agree."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.evaluation import stability
from tamis.evaluation.run.plan import Plan, Setting
from tamis.evaluation.run.units import UnitResult
from tamis.evaluation.stability.sets import wilson
from tamis.evaluation.store import StoredUnit
from tamis.exceptions import InputError

Floats = NDArray[np.float64]
Cell = tuple[int, str, str]  # count, learner, metric


class Results:
    """The stored rows of a plan; rows of other plans are passed over."""

    def __init__(self, plan: Plan, rows: Iterable[StoredUnit]):
        self.plan = plan
        stored = {row.key: row for row in rows}
        self.units: dict[tuple[int, str, int], UnitResult] = {}
        self.versions: list[dict[str, str]] = []
        for job in plan.jobs:
            row = stored.get(job.key)
            if row is not None:
                self.units[job.data, job.method, job.split] = row.result
                if row.versions not in self.versions:
                    self.versions.append(row.versions)
        self.seeds = {(job.data, job.method, job.split): job.seed for job in plan.jobs}
        self._values = {
            (data, method): self._collect(data, method)
            for data in range(len(plan.settings))
            for method in plan.selectors
        }

    def _collect(self, data: int, method: str) -> dict[Cell, Floats]:
        """Scores over the splits, NaN where there is none."""
        n_splits = len(self.plan.settings[data].splits)
        values: dict[Cell, Floats] = defaultdict(lambda: np.full(n_splits, np.nan))
        for split in range(n_splits):
            unit = self.units.get((data, method, split))
            for score in unit.scores if unit is not None else ():
                cell = (score["count"], score["learner"], score["metric"])
                values[cell][split] = score["value"]
        return dict(values)

    def setting(self, data: int) -> Setting:
        """Everything that was done on a data set."""
        return self.plan.settings[data]

    def number_of(self, name: str) -> int:
        """Position of a data set."""
        names = [setting.table.name for setting in self.plan.settings]
        if name not in names:
            raise InputError(
                f"Comparison: data must be one of {', '.join(map(repr, names))}, got {name!r}."
            )
        return names.index(name)

    def check_method(self, method: str) -> str:
        """The method, if there is such a one."""
        if method not in self.plan.selectors:
            known = ", ".join(map(repr, self.plan.selectors))
            raise InputError(f"Comparison: method must be one of {known}, got {method!r}.")
        return method

    def values(self, data: int, method: str, count: int, learner: str, metric: str) -> Floats:
        """Scores over the splits, NaN where there is none."""
        n_splits = len(self.plan.settings[data].splits)
        missing = np.full(n_splits, np.nan)
        return self._values[data, method].get((count, learner, metric), missing)

    def orders(self, data: int, method: str) -> NDArray[np.int32]:
        """Rankings (best first) of the splits where the selector did not fail, one per row."""
        setting = self.plan.settings[data]
        found = [self.units.get((data, method, split)) for split in range(len(setting.splits))]
        orders = [unit.order for unit in found if unit is not None and unit.error is None]
        if not orders:
            return np.empty((0, setting.table.X.shape[1]), dtype=np.int32)
        return np.vstack(orders)

    def overlap(self, data: int) -> float | None:
        """Mean number of test rows per training row, or None if no row is tested twice.

        Then the scores of splits depend on each other, and the variance of their mean is taken to
        be larger by this (Nadeau and Bengio).
        """
        splits = self.plan.settings[data].splits
        tested = np.concatenate([split.test for split in splits])
        if np.unique(tested).size == tested.size:
            return None
        return float(np.mean([split.test.size / split.train.size for split in splits]))

    def metric(self, name: str | None, data: int = 0) -> Any:
        """A metric of a data set; the first if none is named."""
        metrics = {metric.name: metric for metric in self.plan.settings[data].metrics}
        if name is None:
            return next(iter(metrics.values()))
        if name not in metrics:
            known = ", ".join(map(repr, metrics))
            raise InputError(f"Comparison: metric must be one of {known}, got {name!r}.")
        return metrics[name]


UNKNOWN = float("nan")
LEVEL = 0.95  # of every interval


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


def frequency(orders: NDArray[np.int32], count: int) -> stability.SelectionFrequency:
    """Share of the splits that have every column among their best `count`, with its interval."""
    chosen = np.bincount(orders[:, :count].ravel(), minlength=orders.shape[1])
    return wilson(chosen, orders.shape[0], LEVEL)


def frequency_rows(
    orders: NDArray[np.int32], count: int, names: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Share of the splits that choose a column, with its interval; the most frequent first."""
    if not orders.size:
        return
    found, ranks = frequency(orders, count), mean_ranks(orders)
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
    share, ranks = frequency(orders, count).share, mean_ranks(orders)
    return np.lexsort((np.arange(share.size), ranks, -share))[:count]
