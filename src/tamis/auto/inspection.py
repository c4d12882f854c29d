"""A look at the table before anything is learned: what is left out, and what to beware of."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tamis.auto.problem import Problem
from tamis.evaluation.suspects import Suspect, look_at_columns

# A value stretches a feature if its range is so many times its interquartile range.
STRETCHED = 20.0
COLUMNS_AT_ONCE = 1024


class Inspection(NamedTuple):
    """Names of the features with each property."""

    identifiers: list[str]
    constant: list[str]
    repeated: list[str]
    like_target: list[str]
    outlying: list[str]
    missing_share: float


def inspect_table(problem: Problem, names: list[str]) -> Inspection:
    """Look at every feature once."""
    table = Suspect(problem.X, names, {})
    facts = look_at_columns(table, problem.y, problem.n_classes > 0)
    outlying, n_missing = [], 0
    n_rows, n_features = problem.X.shape
    for start in range(0, n_features, COLUMNS_AT_ONCE):
        block = np.arange(start, min(start + COLUMNS_AT_ONCE, n_features))
        cells = problem.cells(problem.rows, block)
        missing = np.isnan(cells)
        n_missing += int(missing.sum())
        cells = np.where(missing.all(axis=0), 0.0, cells)
        low, first, third, high = np.nanpercentile(cells, (0, 25, 75, 100), axis=0)
        stretched = (third > first) & (high - low > STRETCHED * (third - first))
        outlying += [names[j] for j in block[stretched]]
    return Inspection(
        facts.identifiers,
        facts.constant,
        facts.repeated,
        facts.like_target + facts.near_target,
        outlying,
        n_missing / (n_rows * n_features),
    )
