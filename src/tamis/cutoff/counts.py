"""Numbers of columns that cross-validation tries."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.cutoff.fraction import Fraction
from tamis.cutoff.rule import CutRule, TopK
from tamis.exceptions import InputError


def counts_to_try(grid: Any, n_columns: int, *, who: str, at_least: int = 1) -> NDArray[np.int64]:
    """Different counts between `at_least` and `n_columns`; by default some twelve, log-spaced."""
    counts = np.geomspace(1, n_columns, 12).round().astype(np.int64)
    if grid is not None:
        counts = np.asarray(grid)
    if counts.ndim != 1 or not counts.size or counts.dtype.kind not in "iu" or counts.min() < 1:
        raise InputError(f"{who}: grid must hold ints of at least 1, got {grid!r}.")
    return np.unique(np.clip(counts, at_least, n_columns)).astype(np.int64)


def most_wanted(rule: CutRule, n_columns: int) -> int:
    """The largest number of columns that a rule may take from the top of an order."""
    if type(rule) is TopK:
        return min(rule.k, n_columns)
    if type(rule) is Fraction:
        return rule.count(n_columns)
    return n_columns
