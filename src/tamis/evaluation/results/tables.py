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
from tamis.evaluation.intervals import RowScores, effective_rows, gather
from tamis.evaluation.metrics import Metric
from tamis.evaluation.run.plan import BASELINE, Job, Plan
from tamis.evaluation.run.units import UnitResult, unit_clusters
from tamis.evaluation.stability.sets import wilson
from tamis.evaluation.store import StoredUnit
from tamis.exceptions import InputError

Floats = NDArray[np.float64]
Cell = tuple[int, str, int, str, str]  # data, method, count, learner, metric
Rows = Iterator[dict[str, Any]]
Orders = NDArray[np.int32]
LEVEL = 0.95  # of every interval
GUESSING, RANDOM, ALL = "guessing", BASELINE, "all features"


class Results:
    """The stored rows of a plan; rows of other plans are passed over."""

    def __init__(self, plan: Plan, rows: Iterable[StoredUnit]):
        self.plan, self.settings, self.methods = plan, plan.settings, list(plan.selectors)
        self.names = [setting.table.name for setting in plan.settings]
        self.units: dict[tuple[int, str, int], UnitResult] = {}
        self.halves: dict[tuple[int, str], dict[int, Orders]] = {}
        self.versions: list[dict[str, str]] = []
        self._values: dict[Cell, Floats] = {}
        self._by_row: dict[Cell, dict[int, Any]] = {}
        stored = {row.key: row for row in rows}
        for job in plan.jobs:
            if job.key in stored:
                row = stored[job.key]
                if row.versions not in self.versions:
                    self.versions.append(row.versions)
                self._add(job, row.result)

    def _add(self, job: Job, result: UnitResult) -> None:
        n_splits = len(self.settings[job.data].splits)
        if job.split >= n_splits:  # a half of the rows, of which only the order is known
            if result.error is None:
                orders = self.halves.setdefault((job.data, job.method), {})
                orders[job.split - n_splits] = result.order
            return
        self.units[job.data, job.method, job.split] = result
        for number, score in enumerate(result.scores):
            cell = (job.data, job.method, score["count"], score["learner"], score["metric"])
            self._values.setdefault(cell, self._missing(job.data))[job.split] = score["value"]
            if result.by_row is not None:
                self._by_row.setdefault(cell, {})[job.split] = result.by_row[number]

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
        n_columns = self.settings[data].table.X.shape[1]
        if any(order.size != n_columns for order in orders):
            raise InputError(
                f"compare: expected rankings of the {n_columns} columns of {self.names[data]!r} in "
                "the store, got another number of columns. Use a new store."
            )
        return np.array(orders, dtype=np.int32).reshape(-1, n_columns)

    def pairs(self, data: int, method: str) -> list[tuple[Orders, Orders]]:
        """Orders of disjoint halves of the rows."""
        found = self.halves.get((data, method), {})
        return [(found[k], found[k + 1]) for k in sorted(found) if k % 2 == 0 and k + 1 in found]

    def row_scores(self, cells: Sequence[Cell]) -> RowScores | None:
        """Scores of several cells of one data set and metric, on the splits that all have.

        A metric that cannot be divided among rows is divided among splits; then the variance of
        Nadeau and Bengio takes the place of that of rows.
        """
        data = cells[0][0]
        splits, clusters = self.settings[data].splits, self.settings[data].clusters
        table = np.array([self.values(*cell) for cell in cells])
        common = np.flatnonzero(np.isfinite(table).all(axis=0))
        if not common.size:
            return None
        overlap = float(np.mean([split.test.size / split.train.size for split in splits]))
        parts = [
            (unit_clusters(clusters, splits[j].test)[1], self._rows_of(cells, int(j)))
            for j in common
        ]
        if all(np.isfinite(values).all() for _, values in parts):
            if any(len(rows) != len(values) for rows, values in parts):
                raise InputError(
                    f"compare: expected scores of the rows that are tested on {self.names[data]!r} "
                    "in the store, got another number of rows. Use a new store."
                )
            return gather(parts, int(clusters.max()) + 1, overlap)
        means = table[:, common].T
        scores, n = means.mean(axis=0), common.size
        rows = (means - scores) / n * np.sqrt(1.0 + n * overlap)
        return RowScores(scores, rows, np.zeros_like(rows), np.full(n, 1.0 / n), 1.0, overlap)

    def _rows_of(self, cells: Sequence[Cell], split: int) -> Floats:
        missing = np.full(1, np.nan)
        found = [self._by_row.get(cell, {}).get(split, missing) for cell in cells]
        return np.array(found if len({row.size for row in found}) == 1 else [missing]).T

    def effective(self, data: int, metric: Metric) -> float:
        """How many independent answers the rows tested are worth at most."""
        setting = self.settings[data]
        tested = np.unique(np.concatenate([split.test for split in setting.splits]))
        rows = effective_rows(metric, setting.table.y[tested])
        return min(rows, float(np.unique(setting.clusters[tested]).size))

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


def mean_of(results: Results, cell: Cell) -> Mean:
    """Mean score of a cell over the splits, with standard error and interval."""
    values = results.values(*cell)
    n = int(np.isfinite(values).sum())
    if n == 0:
        return Mean(np.nan, np.nan, np.nan, np.nan, 0)
    mean, found = float(values[np.isfinite(values)].mean()), results.row_scores([cell])
    if n == 1 or found is None:
        return Mean(mean, np.nan, np.nan, np.nan, n)
    metric = results.metric(cell[4], cell[0])
    _, error, low, high = found.interval(0, metric, results.effective(cell[0], metric))
    return Mean(mean, error, low, high, n)


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
    counts = results.settings[data].counts
    for method in results.methods:
        yield from _curve(results, data, method, dict.fromkeys(counts, method))


def baseline_rows(results: Results, data: int) -> Rows:
    """Mean and interval of guessing, of random features, and of all features."""
    setting = results.settings[data]
    n_columns = setting.table.X.shape[1]
    names = {0: GUESSING, **dict.fromkeys(setting.counts, RANDOM)}
    yield from _curve(results, data, BASELINE, names)
    yield from _curve(results, data, BASELINE, {n_columns: ALL})


def _curve(results: Results, data: int, method: str, names: dict[int, str]) -> Rows:
    """Rows of a method for counts, under the name that each count gives it."""
    setting = results.settings[data]
    learners = [learner.name for learner in setting.learners]
    metrics = [metric.name for metric in setting.metrics]
    for learner, metric, count in product(learners, metrics, names):
        found = mean_of(results, (data, method, count, learner, metric))
        if found.n:
            where = {"learner": learner, "metric": metric, "count": count}
            yield {"method": names[count], **where, **found._asdict()}


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
    for method, count in product(results.methods, results.settings[data].counts):
        shares = [unit.probe_share or {} for _, unit in results.units_of(data, method)]
        values = np.array([share[count] for share in shares if count in share])
        if values.size:
            yield {"method": method, "count": count, **_plain_mean(values)._asdict()}


def _plain_mean(values: Floats) -> Mean:
    """Mean over splits with a t interval, cut to the values that a share can take."""
    n, mean = values.size, float(values.mean())
    if n == 1:
        return Mean(mean, np.nan, np.nan, np.nan, 1)
    error = float(values.std(ddof=1) / np.sqrt(n))
    half = float(stdtrit(n - 1, 0.5 + LEVEL / 2)) * error
    return Mean(mean, error, max(mean - half, 0.0), min(mean + half, 1.0), n)


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
    """Agreement of disjoint halves of the rows by method and count."""
    for method in results.methods:
        pairs = results.pairs(data, method)
        if not results.orders(data, method).size:
            continue
        index = float("nan")
        if pairs and pairs[0][0].size > 1:
            most = None if top is None else min(top, pairs[0][0].size)
            index = float(np.mean([_jensen_shannon(pair, most) for pair in pairs]))
        for count in results.settings[data].counts:
            agreement = {**set_stability(pairs, count), "jensen_shannon": index}
            yield {"method": method, "count": count, **agreement, "n": len(pairs)}


def _jensen_shannon(pair: tuple[Orders, Orders], top: int | None) -> float:
    return stability.jensen_shannon(stability.rankings_from_orders(np.array(pair)), top)


def set_stability(pairs: Sequence[tuple[Orders, Orders]], count: int) -> dict[str, float]:
    """Agreement of the best `count` columns of disjoint halves, beyond chance, and Jaccard.

    Pairs of halves of one table are not independent, so the variance of the mean of m pairs is
    taken to be s² (1/m + 1/4): then the interval holds in at least 92% of simulated tables, where
    s² / m holds in 73 to 99%.
    """
    unknown = dict.fromkeys(("nogueira", "low", "high", "jaccard"), float("nan"))
    if not pairs or count >= pairs[0][0].size:  # all columns: nothing was chosen
        return unknown
    sets, n = [np.array(pair)[:, :count] for pair in pairs], len(pairs)
    values = np.array([stability.kuncheva(pair, pairs[0][0].size) for pair in sets])
    found = {"nogueira": float(values.mean()), "low": float("nan"), "high": float("nan")}
    if n > 1:
        # Agreement moves by steps of one column: no fewer than half a step is known.
        spread = max(float(values.std(ddof=1)), 0.5 / count)
        half = float(stdtrit(n - 1, 0.5 + LEVEL / 2)) * spread * np.sqrt(1.0 / n + 0.25)
        found["low"] = max(found["nogueira"] - half, -1.0)
        found["high"] = min(found["nogueira"] + half, 1.0)
    return {**found, "jaccard": float(np.mean([stability.jaccard(pair) for pair in sets]))}


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
    """Compare the methods over data sets (`data` None), or over the rows of one."""
    first = data or 0
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
    greater = measure.greater_is_better
    if data is None:
        tests = significance.compare_many(table, kept, greater_is_better=greater)
    else:
        rows = _mean_over_counts(results, data, kept, learner, measure.name, count)
        tests = significance.compare_rows(rows, table, kept, greater_is_better=greater)
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


def _mean_over_counts(
    results: Results, data: int, methods: list[str], learner: str, metric: str, count: int | None
) -> RowScores:
    """Scores of the methods by row, by default the mean over all counts."""
    counts = results.settings[data].counts if count is None else (count,)
    cells = [(data, method, k, learner, metric) for method in methods for k in counts]
    found = results.row_scores(cells)
    assert found is not None  # the caller found splits that all methods have
    means = np.kron(np.eye(len(methods)), np.full((len(counts), 1), 1.0 / len(counts)))
    return found._replace(
        scores=found.scores @ means, rows=found.rows @ means, splits=found.splits @ means
    )


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
