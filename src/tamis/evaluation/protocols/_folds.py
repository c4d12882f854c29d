"""Folds: k-fold cross-validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.evaluation._rows import deal_folds
from tamis.evaluation.protocols._protocol import Parts, Protocol, check_count, check_enough


@dataclass(frozen=True, eq=False)
class Folds(Protocol):
    """k-fold cross-validation, of which every row is scored once per repeat.

    Of classes, every fold gets its share. A class with fewer rows than folds is missing from
    some folds; the row of a class of one is scored by models that have not seen its class.
    Numbers are shuffled plainly.

    Parameters
    ----------
    n_folds : int, default=5
        Parts.
    n_repeats : int, default=1
        How often, each time with other parts.
    random_state : int, default=0
        Seed.

    Examples
    --------
    >>> from tamis.evaluation.protocols import Folds
    >>> Folds(10).describe()
    '10-fold cross-validation, with equal shares of the classes if there are any (seed 0).'
    """

    n_folds: int = 5
    n_repeats: int = 1
    random_state: int = 0

    def __post_init__(self) -> None:
        for name, low in (("n_folds", 2), ("n_repeats", 1), ("random_state", 0)):
            check_count(self, name, low)

    def _parts(self, X: Any, y: NDArray[Any], is_classes: bool) -> Parts:
        check_enough(self, y.shape[0], self.n_folds, "rows")
        rng = np.random.default_rng(self.random_state)
        names, parts = [], []
        for repeat in range(self.n_repeats):
            fold = deal_folds(y, is_classes, self.n_folds, rng)
            for k in range(self.n_folds):
                start = f"repeat {repeat + 1}, " if self.n_repeats > 1 else ""
                names.append(f"{start}fold {k + 1}")
                parts.append((np.flatnonzero(fold != k), np.flatnonzero(fold == k)))
        return names, parts

    def describe(self) -> str:
        """Say in one sentence what is done."""
        times = f", {self.n_repeats} times" if self.n_repeats > 1 else ""
        return (
            f"{self.n_folds}-fold cross-validation{times}, with equal shares of the classes if "
            f"there are any (seed {self.random_state})."
        )
