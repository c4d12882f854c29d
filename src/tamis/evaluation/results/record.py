"""The record of a comparison: plain values that JSON can hold, enough for the report."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import asdict
from typing import Any

import numpy as np
from scipy import sparse

from tamis._runtime.plain import plain, versions
from tamis.evaluation.results import tables
from tamis.evaluation.results.recommendation import Recommendation, recommend
from tamis.evaluation.results.schema import NAME, VERSION
from tamis.evaluation.results.tables import Results

# More would be neither drawn nor read.
MOST_CORRELATED = 50
MOST_FREQUENT = 60
# Fields of the table of scores.
SCORES = ("data", "method", "split", "count", "learner", "metric", "value")


def make_record(results: Results) -> dict[str, Any]:
    """Everything about a comparison except the rankings themselves."""
    has_overall = len(results.settings) > 1 and same_metric(results)
    first, numbers = results.settings[0], range(len(results.settings))
    rows = [
        [results.names[i], *row.values()] for i in numbers for row in tables.score_rows(results, i)
    ]
    selectors = results.plan.selectors.items()
    found = {
        "schema": NAME,
        "version": VERSION,
        "methods": results.methods,
        "selectors": {name: " ".join(repr(selector).split()) for name, selector in selectors},
        "learner": first.learners[0].name,
        "metric": first.metrics[0].name,
        "level": tables.LEVEL,
        "random_state": results.plan.random_state,
        "seeds": _seeds(results),
        "versions": results.versions[0] if results.versions else versions(),
        "other_versions": results.versions[1:],
        "data": [_data(results, number) for number in numbers],
        "significance": tables.differences(results, None) if has_overall else None,
        "failures": list(tables.failure_rows(results)),
        "warnings": _warnings(results),
        "table": {"fields": SCORES if rows else [], "rows": rows},
    }
    return plain(found)


def _data(results: Results, number: int) -> dict[str, Any]:
    setting = results.settings[number]
    table = setting.table
    answer = recommend(results, number)
    return {
        "name": table.name,
        "fingerprint": table.fingerprint,
        "n_rows": int(table.X.shape[0]),
        "n_columns": int(table.X.shape[1]),
        "task": table.task,
        "counts": list(setting.counts),
        "learners": [learner.name for learner in setting.learners],
        "metrics": [
            {
                "name": metric.name,
                "greater_is_better": bool(metric.greater_is_better),
                "low": metric.low,
                "high": metric.high,
            }
            for metric in setting.metrics
        ],
        "protocol": setting.protocol.as_dict(),
        "splits": [split.name for split in setting.splits],
        "answer": None if answer is None else asdict(answer),
        "scores": list(tables.curve_rows(results, number)),
        "baselines": list(tables.baseline_rows(results, number)),
        "stability": list(tables.stability_rows(results, number)),
        "times": list(tables.time_rows(results, number)),
        "probes": list(tables.probe_rows(results, number)),
        "frequencies": None if answer is None else _frequencies(results, number, answer),
        "correlation": None if answer is None else _correlation(table, answer),
        "significance": tables.differences(results, number),
    }


def _seeds(results: Results) -> list[dict[str, Any]]:
    seeds = defaultdict(list)
    for job in results.plan.jobs:  # in the order of their splits
        seeds[results.names[job.data], job.method].append(job.seed)
    return [
        {"data": data, "method": method, "seeds": found} for (data, method), found in seeds.items()
    ]


def _warnings(results: Results) -> list[dict[str, Any]]:
    """What selectors and estimators warned of, and on how many splits."""
    counts = Counter(
        (results.names[data], method, text)
        for (data, method, _), unit in results.units.items()
        for text in unit.warnings
    )
    return [
        {"data": data, "method": method, "warning": text, "n": n}
        for (data, method, text), n in counts.items()
    ]


def same_metric(results: Results) -> bool:
    """Whether the deciding metric of all data sets is the same."""
    return len({setting.metrics[0].name for setting in results.settings}) == 1


def _frequencies(results: Results, number: int, answer: Recommendation) -> dict[str, Any]:
    """How often every method chose the columns that some method chose most."""
    found = {method: results.orders(number, method) for method in results.methods}
    orders = {method: rankings for method, rankings in found.items() if rankings.size}
    shares = np.array([tables.frequency(o, answer.count).share for o in orders.values()])
    ranks = np.array([tables.mean_ranks(o) for o in orders.values()])
    total = shares.sum(axis=0)
    frequent = [j for j in np.argsort(-total, kind="stable").tolist() if total[j] > 0]
    wanted = list(dict.fromkeys([*answer.indices, *frequent]))[:MOST_FREQUENT]
    names = results.settings[number].table.columns
    return {
        "count": answer.count,
        "indices": wanted,
        "columns": [names[column] for column in wanted],
        "methods": list(orders),
        "shares": shares[:, wanted].T,
        "mean_ranks": ranks[:, wanted].T,
    }


def _correlation(table: Any, answer: Recommendation) -> dict[str, Any]:
    """Correlation of the chosen columns over all rows."""
    chosen = answer.indices[:MOST_CORRELATED]
    part = table.X[:, chosen]
    part = np.asarray(part.toarray() if sparse.issparse(part) else part, dtype=np.float64)
    return {
        "kind": "pearson",
        "indices": chosen,
        "columns": answer.columns[:MOST_CORRELATED],
        "values": pairwise_correlation(part),
    }


def pairwise_correlation(table: Any) -> Any:
    """Correlation of columns over the rows where both are there; NaN where one never varies."""
    n = table.shape[1]
    values = np.full((n, n), np.nan)
    for i in range(n):
        for j in range(i, n):
            both = np.isfinite(table[:, i]) & np.isfinite(table[:, j])
            a, b = table[both, i], table[both, j]
            if a.size < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
                continue
            a, b = a - a.mean(), b - b.mean()
            a, b = a / np.abs(a).max(), b / np.abs(b).max()  # squares of huge values are inf
            value = float(a @ b / np.sqrt((a @ a) * (b @ b)))
            values[i, j] = values[j, i] = 1.0 if i == j else min(max(value, -1.0), 1.0)
    return values
