"""Scores against the number of features, times, failures, and which methods differ."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtrit

from tamis.evaluation import significance
from tamis.evaluation.results.results import LEVEL, Floats, Results


class Mean(NamedTuple):
    """Mean over splits; what cannot be known (one split) is NaN."""

    mean: float
    standard_error: float
    low: float
    high: float
    n: int


def mean_of(values: Floats, overlap: float | None, level: float = LEVEL) -> Mean:
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
    half = float(stdtrit(n - 1, 0.5 + level / 2)) * error
    return Mean(mean, error, mean - half, mean + half, n)


def score_rows(results: Results) -> Iterator[dict[str, Any]]:
    """One row per score, in the order of the plan."""
    for data, setting in enumerate(results.plan.settings):
        for method in results.plan.selectors:
            for number, split in enumerate(setting.splits):
                unit = results.units.get((data, method, number))
                for score in unit.scores if unit is not None else ():
                    yield {
                        "data": setting.table.name,
                        "method": method,
                        "split": split.name,
                        "count": score["count"],
                        "learner": score["learner"],
                        "metric": score["metric"],
                        "value": score["value"],
                    }


def curve_rows(results: Results) -> Iterator[dict[str, Any]]:
    """Mean and interval by data, method, learner, metric and count."""
    for data, setting in enumerate(results.plan.settings):
        overlap = results.overlap(data)
        for method in results.plan.selectors:
            for learner in setting.learners:
                for metric in setting.metrics:
                    for count in setting.counts:
                        values = results.values(data, method, count, learner.name, metric.name)
                        found = mean_of(values, overlap)
                        if found.n:
                            yield {
                                "data": setting.table.name,
                                "method": method,
                                "learner": learner.name,
                                "metric": metric.name,
                                "count": count,
                                **found._asdict(),
                            }


def time_rows(results: Results) -> Iterator[dict[str, Any]]:
    """Median seconds of selecting and of learning on one split, and its memory."""
    for data, setting in enumerate(results.plan.settings):
        for method in results.plan.selectors:
            found = [
                unit
                for (of, name, _), unit in results.units.items()
                if of == data and name == method and unit.error is None
            ]
            if found:
                # The first fit of a process also loads libraries: the median is the method's own.
                peaks = [unit.peak_bytes for unit in found if unit.peak_bytes is not None]
                yield {
                    "data": setting.table.name,
                    "method": method,
                    "select_seconds": float(np.median([unit.select_seconds for unit in found])),
                    "learn_seconds": float(np.median([learn_seconds(unit) for unit in found])),
                    "peak_bytes": int(np.median(peaks)) if peaks else None,
                    "n": len(found),
                }


def learn_seconds(unit: Any) -> float:
    """Seconds of all estimators of a unit; every metric of a model repeats its time."""
    models = {(row["count"], row["learner"]): row["fit_seconds"] for row in unit.scores}
    return float(sum(models.values()))


def probe_rows(results: Results) -> Iterator[dict[str, Any]]:
    """Mean share of known probes among the selected columns, where they are known."""
    for data, setting in enumerate(results.plan.settings):
        overlap = results.overlap(data)
        for method in results.plan.selectors:
            for count in setting.counts:
                units = [
                    results.units.get((data, method, split)) for split in range(len(setting.splits))
                ]
                shares = [unit.probe_share for unit in units if unit is not None]
                values = [share[count] for share in shares if share is not None and count in share]
                if values:
                    yield {
                        "data": setting.table.name,
                        "method": method,
                        "count": count,
                        **mean_of(np.array(values), overlap)._asdict(),
                    }


def failure_rows(results: Results) -> Iterator[dict[str, Any]]:
    """Selectors that failed, and estimators or metrics that gave nothing."""
    for (data, method, number), unit in results.units.items():
        setting = results.plan.settings[data]
        where = {
            "data": setting.table.name,
            "method": method,
            "split": setting.splits[number].name,
        }
        if unit.error is not None:
            lines = unit.error.strip().splitlines() or ["failed"]
            yield {**where, "part": "selector", "error": lines[-1], "details": unit.error}
        notes = {
            (row["learner"], row["note"]): row for row in unit.scores if row.get("note") is not None
        }
        for learner, note in notes:
            yield {**where, "part": learner, "error": note, "details": note}


@dataclass(frozen=True)
class Differences:
    """What the tests say, or why there are none (`found` is None)."""

    found: Any
    block: str
    metric: str
    learner: str
    count: int | None
    left_out: list[str]
    reason: str | None = None


def differences(
    results: Results,
    data: int | None,
    metric: str | None,
    learner: str | None,
    count: int | None,
) -> Differences:
    """Compare the methods over data sets (`data` None), or over the splits of one."""
    first = 0 if data is None else data
    measure = results.metric(metric, first)
    learner = learner or results.setting(first).learners[0].name
    numbers = range(len(results.plan.settings)) if data is None else [data]
    blocks = [_splits(results, number, measure.name, learner, count) for number in numbers]
    table = np.array([_means(block) for block in blocks]) if data is None else blocks[0]
    methods = list(results.plan.selectors)
    complete = np.isfinite(table).any(axis=0)
    if data is None:
        complete = np.isfinite(table).all(axis=0)
    rows = np.isfinite(table[:, complete]).all(axis=1)
    kept = [name for name, is_whole in zip(methods, complete, strict=True) if is_whole]
    left_out = [name for name in methods if name not in kept]
    block = "data sets" if data is None else "splits"
    found = reason = None
    if len(kept) < 2 or rows.sum() < 2:
        reason = f"fewer than two methods or two {block} with scores"
    else:
        share = None if data is None else _test_share(results, data)
        found = significance.compare_many(
            table[rows][:, complete],
            kept,
            test_share=share,
            greater_is_better=measure.greater_is_better,
        )
    return Differences(found, block, measure.name, learner, count, left_out, reason)


def _splits(results: Results, data: int, metric: str, learner: str, count: int | None) -> Floats:
    """Score of every split (rows) and method (columns), by default the mean over all counts."""
    counts = results.setting(data).counts if count is None else (count,)
    return np.column_stack(
        [
            np.mean([results.values(data, method, k, learner, metric) for k in counts], axis=0)
            for method in results.plan.selectors
        ]
    )


def _means(block: Floats) -> Floats:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a method without any score
        return np.nanmean(block, axis=0)


def _test_share(results: Results, data: int) -> float:
    """Share of the test rows in a split, for the correction of the t test."""
    splits = results.setting(data).splits
    return float(np.mean([s.test.size / (s.test.size + s.train.size) for s in splits]))


def difference_rows(differences: Differences) -> list[dict[str, Any]]:
    """One row per method, best first."""
    found = differences.found
    if found is None:
        return []
    rows = [
        {
            "method": name,
            "mean": found.means[i],
            "average_rank": found.average_ranks[i],
            "p_value": found.p_values[i],
            "is_best": name == found.best,
            "as_good_as_best": name in found.as_good,
            "groups": [n for n, group in enumerate(found.groups, 1) if name in group],
        }
        for i, name in enumerate(found.names)
    ]
    return sorted(rows, key=lambda row: (not row["is_best"], row["average_rank"]))
