"""WithRanges: ranges of the columns and another statistic, from one pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tamis.statistics.block import Block, Ranges, RangesResult
from tamis.statistics.state import Stateful


@dataclass
class WithRanges(Stateful):
    """Ranges of the columns and another statistic, from one pass.

    Parameters
    ----------
    ranges : Ranges
        That have seen nothing.
    other : Statistic
        That has seen nothing; values whose squares overflow are left to the ranges to report.
    weight_seen : float, default=0.0
        Total weight of the rows taken in.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.statistics import Block, Moments, Ranges, WithRanges
    >>> both = WithRanges(Ranges(1), Moments(1)).update(Block.of(np.array([[1.0], [3.0]])))
    >>> both.ranges.finish().high, both.other.finish().mean
    (array([3.]), array([2.]))
    """

    state_names: ClassVar[tuple[str, ...]] = ("ranges", "other", "weight_seen")

    ranges: Ranges
    other: Any
    weight_seen: float = 0.0

    def update(self, block: Block, n_jobs: int | None = 1) -> WithRanges:
        """Take in the rows of a block."""
        self.ranges.update(block, n_jobs)
        with np.errstate(over="ignore", invalid="ignore"):
            self.other.update(block, n_jobs)
        self.weight_seen += float(block.weight_slice.sum())
        return self

    def merge(self, other: WithRanges) -> WithRanges:
        """Take in what another object has seen."""
        self.ranges.merge(other.ranges)
        with np.errstate(over="ignore", invalid="ignore"):
            self.other.merge(other.other)
        self.weight_seen += other.weight_seen
        return self

    def add_classes(self, positions: NDArray[np.intp], n_classes: int) -> None:
        """Make room for classes met later, in a statistic of classes."""
        self.other.add_classes(positions, n_classes)

    def finish(self) -> tuple[RangesResult, Any]:
        """Both results."""
        return self.ranges.finish(), self.other.finish()
