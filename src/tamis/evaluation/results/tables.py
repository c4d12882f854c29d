"""Results of a comparison, and rows about each data set: means, stability, times, differences."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from tamis.evaluation import significance, stability
from tamis.evaluation.run.plan import Plan
from tamis.evaluation.run.units import UnitResult
from tamis.evaluation.stability.sets import wilson
from tamis.evaluation.store import StoredUnit
from tamis.exceptions import InputError

Floats = NDArray[np.float64]
Cell = tuple[int, str, int, str, str]  # data, method, count, learner, metric
Rows = Iterator[dict[str, Any]]
Orders = NDArray[np.int32]
LEVEL = 0.95  # of every interval


class Results:
    """The stored rows of a plan; rows of other plans are passed over."""

    def __init__(self, plan: Plan, rows: Iterable[StoredUnit]):
        self.plan, self.settings, self.methods = plan, plan.settings, list(plan.selectors)
        self.names = [setting.table.name for setting in plan.settings]
        self.units: dict[tuple[int, str, int], UnitResult] = {}
        self.versions: list[dict[str, str]] = []
        self._values: dict[Cell, Floats] = {}
        stored = {row.key: row for row in rows}
        for job in plan.jobs:
            if job.key in stored:
                row = stored[job.key]
                self.units[job.data, job.method, job.split] = row.result
                if row.versions not in self.versions:
                    self.versions.append(row.versions)
                for score in row.result.scores:
                    cell = (job.data, job.method, score["count"], score["learner"], score["metric"])
                    values = self._values.setdefault(cell, self._missing(job.data))
                    values[job.split] = score["value"]

    def _missing(self, data: int) -> Floats:
        return np.full(len(self.settings[data].splits), np.nan)

    def values(self, data: int, method: str, count: int, learner: str, metric: str) -> Floats:
        """Scores over the splits, NaN where there is none."""
        found = self._values.get((data, method, count, learner, metric))
        return self._missing(data) if found is None else found

    def units_of(self, data: int, method: str) -> list[tuple[int, UnitResult]]:
        """Finished units with the number of their split."""
        splits = range(len(self.settings[data].splits))
        found = ((split, self.units.get((data, method, split))) for split in splits)
        return [(split, unit) for split, unit in found if unit is not None]

    def successes(self, data: int, method: str) -> list[UnitResult]:
        """Units whose selector did not fail."""
        return [unit for _, unit in self.units_of(data, method) if unit.error is None]

    def orders(self, data: int, method: str) -> NDArray[np.int32]:
        """Rankings (best first) of the splits where the selector did not fail, one per row."""
        orders = [unit.order for unit in self.successes(data, method)]
        empty = np.empty((0, self.settings[data].table.X.shape[1]), dtype=np.int32)
        return np.vstack(orders) if orders else empty

    def overlap(self, data: int) -> float | None:
        """Mean number of test rows per training row, or None if no row is tested twice.

        Then the scores of splits depend on each other, and the variance of their mean is taken to
        be larger by this (Nadeau and Bengio).
        """
        splits = self.settings[data].splits
        tested = np.concatenate([split.test for split in splits])
        if np.unique(tested).size == tested.size:
            return None
        return float(np.mean([split.test.size / split.train.size for split in splits]))

    def metric(self, name: str | None, data: int) -> Any:
        """A metric of a data set; the first if none is named."""
        metrics = {metric.name: metric for metric in self.settings[data].metrics}
        return metrics[
            next(iter(metrics)) if name is None else check_known(name, metrics, "metric")
        ]


def check_known(name: str, known: Collection[str], what: str) -> str:
    """The name, if there is such a one."""
    if name not in known:
        raise InputError(
            f"Comparison: {what} must be one of {', '.join(map(repr, known))}, got {name!r}."
        )
    return name


class Mean(NamedTuple):
    """Mean over splits; what cannot be known (one split) is NaN."""

    mean: float
    standard_error: float
    low: float
    high: float
    n: int


def mean_of(values: Floats, overlap: float | None) -> Mean:
    """Mean, standard error and t interval of scores over splits.

    Where splits share test rows, s² (1/n + n_test / n_train) takes the place of s² / n: plain
    intervals would shrink to nothing with more and more splits of the same rows.
    """
    values = values[np.isfinite(values)]
    n = values.size
    if n == 0:
        return Mean(np.nan, np.nan, np.nan, np.nan, 0)
    mean = float(values.mean())
    if n == 1:
        return Mean(mean, np.nan, np.nan, np.nan, 1)
    error = float(values.std(ddof=1) * np.sqrt(1 / n + (overlap or 0.0)))
    half = float(stdtrit(n - 1, 0.5 + LEVEL / 2)) * error
    return Mean(mean, error, mean - half, mean + half, n)


def score_rows(results: Results, data: int) -> Rows:
    """One row per score, in the order of the plan."""
    splits = results.settings[data].splits
    for method in results.methods:
        for number, unit in results.units_of(data, method):
            for score in unit.scores:
                shown = {key: score[key] for key in ("count", "learner", "metric", "value")}
                yield {"method": method, "split": splits[number].name, **shown}


def curve_rows(results: Results, data: int) -> Rows:
    """Mean and interval by method, learner, metric and count."""
    setting, overlap = results.settings[data], results.overlap(data)
    learners = [learner.name for learner in setting.learners]
    metrics = [metric.name for metric in setting.metrics]
    for method, learner, metric, count in product(
        results.methods, learners, metrics, setting.counts
    ):
        found = mean_of(results.values(data, method, count, learner, metric), overlap)
        if found.n:
            where = {"method": method, "learner": learner, "metric": metric, "count": count}
            yield {**where, **found._asdict()}


def time_rows(results: Results, data: int) -> Rows:
    """Median seconds of selecting and of learning on one split, and its memory."""
    for method in results.methods:
        found = results.successes(data, method)
        if found:
            # The first fit of a process also loads libraries: the median is the method's own.
            peaks = [unit.peak_bytes for unit in found if unit.peak_bytes is not None]
            yield {
                "method": method,
                "select_seconds": float(np.median([unit.select_seconds for unit in found])),
                "learn_seconds": float(np.median([_learn_seconds(unit) for unit in found])),
                "peak_bytes": int(np.median(peaks)) if peaks else None,
                "n": len(found),
            }


def _learn_seconds(unit: Any) -> float:
    """Seconds of all estimators of a unit; every metric of a model repeats its time."""
    models = {(row["count"], row["learner"]): row["fit_seconds"] for row in unit.scores}
    return float(sum(models.values()))


def probe_rows(results: Results, data: int) -> Rows:
    """Mean share of known probes among the selected columns, where they are known."""
    overlap = results.overlap(data)
    for method, count in product(results.methods, results.settings[data].counts):
        shares = [unit.probe_share or {} for _, unit in results.units_of(data, method)]
        values = np.array([share[count] for share in shares if count in share])
        if values.size:
            yield {"method": method, "count": count, **mean_of(values, overlap)._asdict()}


def failure_rows(results: Results) -> Rows:
    """Selectors that failed, and estimators or metrics that gave nothing, on all data sets."""
    for (data, method, number), unit in results.units.items():
        split = results.settings[data].splits[number].name
        where = {"data": results.names[data], "method": method, "split": split}
        if unit.error is not None:
            lines = unit.error.strip().splitlines() or ["failed"]
            yield {**where, "part": "selector", "error": lines[-1], "details": unit.error}
        for learner, note in dict.fromkeys(
            (row["learner"], row.get("note")) for row in unit.scores
        ):
            if note is not None:
                yield {**where, "part": learner, "error": note, "details": note}


def stability_rows(results: Results, data: int, top: int | None = None) -> Rows:
    """Agreement of the splits by method and count."""
    for method in results.methods:
        orders = results.orders(data, method)
        if orders.size:
            index = float("nan")
            if min(orders.shape) > 1:
                most = None if top is None else min(top, orders.shape[1])
                index = stability.jensen_shannon(stability.rankings_from_orders(orders), most)
            for count in results.settings[data].counts:
                agreement = {**set_stability(orders, count), "jensen_shannon": index}
                yield {"method": method, "count": count, **agreement, "n": orders.shape[0]}


def set_stability(orders: Orders, count: int) -> dict[str, float]:
    """Nogueira with its interval, and Jaccard, of the best `count` columns."""
    if orders.shape[0] < 2 or count >= orders.shape[1]:  # all columns: nothing was chosen
        return dict.fromkeys(("nogueira", "low", "high", "jaccard"), float("nan"))
    sets = orders[:, :count]
    value, low, high, _ = stability.nogueira(sets, orders.shape[1])
    return {"nogueira": value, "low": low, "high": high, "jaccard": stability.jaccard(sets)}


def frequency(orders: Orders, count: int) -> stability.SelectionFrequency:
    """Share of the splits that have every column among their best `count`, with its interval."""
    chosen = np.bincount(orders[:, :count].ravel(), minlength=orders.shape[1])
    return wilson(chosen, orders.shape[0], LEVEL)


def mean_ranks(orders: Orders) -> Floats:
    """Mean rank of every column, 1 is best."""
    total = np.zeros(orders.shape[1])
    ranks = np.arange(1.0, orders.shape[1] + 1)
    for order in orders:
        total[order] += ranks
    return total / orders.shape[0]


def frequency_rows(orders: Orders, count: int, names: Sequence[str]) -> Rows:
    """How often a column is among the best, the most frequent and then the best ranked first."""
    if orders.size:
        found, ranks = frequency(orders, count), mean_ranks(orders)
        for j in np.lexsort((ranks, -found.share)).tolist():
            yield {
                "column": names[j],
                "index": j,
                "share": float(found.share[j]),
                "low": float(found.low[j]),
                "high": float(found.high[j]),
                "mean_rank": float(ranks[j]),
            }


def differences(
    results: Results,
    data: int | None,
    metric: str | None = None,
    learner: str | None = None,
    count: int | None = None,
) -> dict[str, Any]:
    """Compare the methods over data sets (`data` None), or over the splits of one."""
    first, share = data or 0, None
    measure = results.metric(metric, first)
    learner = learner or results.settings[first].learners[0].name
    if data is None:
        numbers = range(len(results.settings))
        blocks = [_splits(results, number, measure.name, learner, count) for number in numbers]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # a method without any score
            table = np.array([np.nanmean(block, axis=0) for block in blocks])
        complete = np.isfinite(table).all(axis=0)
    else:
        table = _splits(results, data, measure.name, learner, count)
        tested = [(split.test.size, split.train.size) for split in results.settings[data].splits]
        share = float(np.mean([test / (test + train) for test, train in tested]))
        complete = np.isfinite(table).any(axis=0)
    table = table[np.isfinite(table[:, complete]).all(axis=1)][:, complete]
    kept = [method for method, whole in zip(results.methods, complete, strict=True) if whole]
    over = "data sets" if data is None else "splits"
    found: dict[str, Any] = {
        "over": over,
        "metric": measure.name,
        "learner": learner,
        "count": count,
        "left_out": [method for method in results.methods if method not in kept],
        "reason": None,
        "methods": [],
    }
    if min(table.shape) < 2:
        return {**found, "reason": f"fewer than two methods or two {over} with scores"}
    tests = significance.compare_many(
        table, kept, test_share=share, greater_is_better=measure.greater_is_better
    )
    return {
        **found,
        "methods": _method_rows(tests),
        "test": tests.post_hoc,
        "best": tests.best,
        "as_good": tests.as_good,
        "groups": tests.groups,
        "critical_difference": tests.critical_difference,
        "friedman": None if tests.friedman is None else tests.friedman._asdict(),
        "test_level": tests.level,
        "n_blocks": tests.n_rows,
    }


def _splits(results: Results, data: int, metric: str, learner: str, count: int | None) -> Floats:
    """Score of every split (rows) and method (columns), by default the mean over all counts."""
    counts = results.settings[data].counts if count is None else (count,)
    return np.column_stack(
        [
            np.mean([results.values(data, method, k, learner, metric) for k in counts], axis=0)
            for method in results.methods
        ]
    )


def _method_rows(tests: significance.ManyMethods) -> list[dict[str, Any]]:
    """One row per method, best first."""
    rows = [
        {
            "method": name,
            "mean": tests.means[i],
            "average_rank": tests.average_ranks[i],
            "p_value": tests.p_values[i],
            "is_best": name == tests.best,
            "as_good_as_best": name in tests.as_good,
            "groups": [n for n, group in enumerate(tests.groups, 1) if name in group],
        }
        for i, name in enumerate(tests.names)
    ]
    return sorted(rows, key=lambda row: (not row["is_best"], row["average_rank"]))
