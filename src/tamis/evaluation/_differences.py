"""Which methods differ: over data sets, or over the splits of one."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from tamis.evaluation import significance
from tamis.evaluation._results import Floats, Results


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
