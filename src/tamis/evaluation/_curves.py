"""Scores against the number of columns: mean and interval over the splits; and times."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtrit

from tamis.evaluation._results import Floats, Results

LEVEL = 0.95


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
    """Seconds of all learners of a unit; every metric of a model repeats its time."""
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
    """Selectors that failed, and learners or metrics that gave nothing."""
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
