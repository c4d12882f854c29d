"""TimeOrder: the rows scored come after those learned from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.evaluation._rows import stamps
from tamis.evaluation.protocols._protocol import Parts, Protocol, check_count, check_enough


@dataclass(frozen=True, eq=False)
class TimeOrder(Protocol):
    """Blocks of rows in time order, each scored by models that learned from all rows before it.

    Parameters
    ----------
    n_splits : int, default=5
        Blocks scored; the rows before the first of them are only learned from.
    gap : int, default=0
        Rows left out just before each block, where the target is known only later.
    time : array-like of shape (n_samples,) or None
        When every row was measured: anything that sorts. Rows of the same time are never on
        both sides. ``None`` means that the rows are in time order.

    Examples
    --------
    >>> from tamis.evaluation.protocols import TimeOrder
    >>> splits = TimeOrder(2).splits(None, [0, 1, 0, 1, 0, 1], True)
    >>> [(split.train.tolist(), split.test.tolist()) for split in splits]
    [([0, 1], [2, 3]), ([0, 1, 2, 3], [4, 5])]
    """

    n_splits: int = 5
    gap: int = 0
    time: Any = None

    def __post_init__(self) -> None:
        check_count(self, "n_splits", 1)
        check_count(self, "gap", 0)

    def _parts(self, X: Any, y: NDArray[Any], is_classes: bool) -> Parts:
        n = y.shape[0]
        check_enough(self, n, self.n_splits + 1 + self.gap, "rows")
        when = stamps(self.time, n, self.who)
        order = np.argsort(when, kind="stable")
        block = n // (self.n_splits + 1)
        parts = []
        for k in range(self.n_splits):
            start = n - (self.n_splits - k) * block
            test = order[start : start + block]
            before = order[: max(start - self.gap, 0)]
            parts.append((before[when[before] < when[test[0]]], test))
        return [f"block {k + 1}" for k in range(self.n_splits)], parts

    def describe(self) -> str:
        """Say in one sentence what is done."""
        gap = f", without the {self.gap} rows just before it" if self.gap else ""
        return (
            f"{self.n_splits} blocks in time order, each scored by models that learned from the "
            f"rows before it{gap}."
        )
