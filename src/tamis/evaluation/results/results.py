"""Results of a comparison by data set, method and split."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.evaluation.run.plan import Plan
from tamis.evaluation.run.units import UnitResult
from tamis.evaluation.store import StoredUnit
from tamis.exceptions import InputError

Floats = NDArray[np.float64]
Cell = tuple[int, str, int, str, str]  # data, method, count, learner, metric


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
