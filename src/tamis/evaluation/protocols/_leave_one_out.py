"""LeaveOneOut: every row is scored alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.evaluation.protocols._protocol import Parts, Protocol, check_enough


@dataclass(frozen=True, eq=False)
class LeaveOneOut(Protocol):
    """Every row is scored by models that learned from all others.

    One row gives no AUC, average precision or R2: take accuracy, or an error.

    Examples
    --------
    >>> from tamis.evaluation.protocols import LeaveOneOut
    >>> splits = LeaveOneOut().splits(None, [0, 1, 0, 1], True)
    >>> splits[2].name, splits[2].train.tolist(), splits[2].test.tolist()
    ('row 3', [0, 1, 3], [2])
    """

    def _parts(self, X: Any, y: NDArray[Any], is_classes: bool) -> Parts:
        n = y.shape[0]
        check_enough(self, n, 2, "rows")
        rows = np.arange(n)
        return [f"row {i + 1}" for i in rows], [(np.delete(rows, i), rows[[i]]) for i in rows]

    def describe(self) -> str:
        """Say in one sentence what is done."""
        return "Leave-one-out: every row is scored by models that learned from all others."
