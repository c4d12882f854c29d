"""The record of a comparison: plain values that JSON can hold, enough for the report."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
from scipy import sparse

from tamis._runtime.plain import plain, versions
from tamis.evaluation.results import tables
from tamis.evaluation.results.recommendation import Recommendation, recommend
from tamis.evaluation.results.results import LEVEL, Results, frequency, mean_ranks, stability_rows
from tamis.evaluation.results.schema import NAME, VERSION
from tamis.evaluation.results.tables import Differences, difference_rows, differences

# More would be neither drawn nor read.
MOST_CORRELATED = 50
MOST_FREQUENT = 60


def make_record(results: Results) -> dict[str, Any]:
    """Everything about a comparison except the rankings themselves."""
    first = results.setting(0)
    table = list(tables.score_rows(results))
    found = {
        "schema": NAME,
        "version": VERSION,
        "methods": list(results.plan.selectors),
        "selectors": {
            name: " ".join(repr(selector).split())
            for name, selector in results.plan.selectors.items()
        },
        "learner": first.learners[0].name,
        "metric": first.metrics[0].name,
        "level": LEVEL,
        "random_state": results.plan.random_state,
        "seeds": _seeds(results),
        "versions": results.versions[0] if results.versions else versions(),
        "other_versions": results.versions[1:],
        "data": [_data(results, number) for number in range(len(results.plan.settings))],
        "significance": _over_data(results),
        "failures": list(tables.failure_rows(results)),
        "warnings": _warnings(results),
        "table": {
            "fields": list(table[0]) if table else [],
            "rows": [list(row.values()) for row in table],
        },
    }
    return plain(found)


def _data(results: Results, number: int) -> dict[str, Any]:
    setting = results.setting(number)
    table, name = setting.table, setting.table.name
    answer = recommend(results, number)

    def mine(rows: Any) -> list[dict[str, Any]]:
        chosen = (row for row in rows if row["data"] == name)
        return [{key: value for key, value in row.items() if key != "data"} for row in chosen]

    return {
        "name": name,
        "fingerprint": table.fingerprint,
        "n_rows": int(table.X.shape[0]),
        "n_columns": int(table.X.shape[1]),
        "task": table.task,
        "counts": list(setting.counts),
        "learners": [learner.name for learner in setting.learners],
        "metrics": [
            {"name": metric.name, "greater_is_better": bool(metric.greater_is_better)}
            for metric in setting.metrics
        ],
        "protocol": setting.protocol.as_dict(),
        "splits": [split.name for split in setting.splits],
        "answer": None if answer is None else asdict(answer),
        "scores": mine(tables.curve_rows(results)),
        "stability": mine(stability_rows(results)),
        "times": mine(tables.time_rows(results)),
        "probes": mine(tables.probe_rows(results)),
        "frequencies": _frequencies(results, number, answer),
        "correlation": _correlation(table, answer),
        "significance": _shown(differences(results, number, None, None, None)),
    }


def _seeds(results: Results) -> list[dict[str, Any]]:
    return [
        {
            "data": results.setting(data).table.name,
            "method": method,
            "seeds": [
                results.seeds[data, method, split]
                for split in range(len(results.setting(data).splits))
            ],
        }
        for data in range(len(results.plan.settings))
        for method in results.plan.selectors
    ]


def _warnings(results: Results) -> list[dict[str, Any]]:
    """What selectors and estimators warned of, and on how many splits."""
    counts: dict[tuple[str, str, str], int] = {}
    for (data, method, _), unit in results.units.items():
        for text in unit.warnings:
            key = (results.setting(data).table.name, method, text)
            counts[key] = counts.get(key, 0) + 1
    return [
        {"data": data, "method": method, "warning": text, "n": n}
        for (data, method, text), n in counts.items()
    ]


def _over_data(results: Results) -> dict[str, Any] | None:
    if len(results.plan.settings) < 2 or not same_metric(results):
        return None
    return _shown(differences(results, None, None, None, None))


def same_metric(results: Results) -> bool:
    """Whether the deciding metric of all data sets is the same."""
    return len({setting.metrics[0].name for setting in results.plan.settings}) == 1


def _shown(found: Differences) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "over": found.block,
        "metric": found.metric,
        "learner": found.learner,
        "count": found.count,
        "left_out": found.left_out,
        "reason": found.reason,
        "methods": difference_rows(found),
    }
    tests = found.found
    if tests is not None:
        shown |= {
            "test": tests.post_hoc,
            "best": tests.best,
            "as_good": list(tests.as_good),
            "groups": [list(group) for group in tests.groups],
            "critical_difference": tests.critical_difference,
            "friedman": None if tests.friedman is None else tests.friedman._asdict(),
            "test_level": tests.level,
            "n_blocks": tests.n_rows,
        }
    return shown


def _frequencies(
    results: Results, number: int, answer: Recommendation | None
) -> dict[str, Any] | None:
    """How often every method chose the columns that some method chose most."""
    if answer is None:
        return None
    orders = {method: results.orders(number, method) for method in results.plan.selectors}
    orders = {method: found for method, found in orders.items() if found.size}
    shares = {m: frequency(found, answer.count).share for m, found in orders.items()}
    ranks = {method: mean_ranks(found) for method, found in orders.items()}
    wanted = list(answer.indices[:MOST_FREQUENT])
    total = np.sum(list(shares.values()), axis=0)
    for column in np.argsort(-total, kind="stable"):
        if len(wanted) >= MOST_FREQUENT or total[column] == 0:
            break
        if int(column) not in wanted:
            wanted.append(int(column))
    names = results.setting(number).table.columns
    return {
        "count": answer.count,
        "indices": wanted,
        "columns": [names[column] for column in wanted],
        "methods": list(orders),
        "shares": [[float(shares[method][column]) for method in orders] for column in wanted],
        "mean_ranks": [[float(ranks[method][column]) for method in orders] for column in wanted],
    }


def _correlation(table: Any, answer: Recommendation | None) -> dict[str, Any] | None:
    """Correlation of the chosen columns over all rows."""
    if answer is None:
        return None
    chosen = answer.indices[:MOST_CORRELATED]
    part = table.X[:, chosen]
    part = np.asarray(part.toarray() if sparse.issparse(part) else part, dtype=np.float64)
    return {
        "kind": "pearson",
        "indices": chosen,
        "columns": [table.columns[column] for column in chosen],
        "values": pairwise_correlation(part).tolist(),
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
