"""Scores of a comparison as measurements of an experiment."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tamis_papers.result import Measurement

# data, method, count, learner, metric
Cell = tuple[str, str, int, str, str]


def scores_of(found: Any) -> dict[Cell, list[float]]:
    """Scores by data, method, count, learner and metric; one per split."""
    values: dict[Cell, list[float]] = defaultdict(list)
    for row in found.score_rows():
        cell = (row["data"], row["method"], row["count"], row["learner"], row["metric"])
        values[cell].append(float(row["value"]))
    return dict(values)


def seconds_of(found: Any) -> float:
    """Time of all selectors and learners together, from the medians over the splits."""
    return float(
        sum(row["n"] * (row["select_seconds"] + row["learn_seconds"]) for row in found.time_rows())
    )


def measurements_of(
    found: Any,
    case: Callable[[Cell], Mapping[str, Any] | None],
    *,
    scale: float = 1.0,
    note: str = "",
) -> list[Measurement]:
    """A measurement per cell; cells whose case is None are left out.

    Several cells with the same case are averaged split by split, as papers do over numbers of
    features.
    """
    together: dict[tuple[Any, ...], list[list[float]]] = defaultdict(list)
    for cell, values in scores_of(found).items():
        named = case(cell)
        if named is not None:
            together[tuple(named.items())].append(values)
    return [
        Measurement(dict(named), (scale * np.mean(rows, axis=0)).tolist(), note)
        for named, rows in together.items()
    ]
