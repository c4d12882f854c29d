"""FirstLook: what a first walk tells of the rows as they are stored."""

from __future__ import annotations

from tamis.data.partitioned import RawBlock
from tamis.data.target_blocks import Encoding, TargetSummary
from tamis.passes.located import checked_weight
from tamis.statistics import Ranges


class FirstLook:
    """The target and, where a walk over the cells would follow anyway, the ranges of the columns.

    Parameters
    ----------
    target : TargetSummary
        That has seen nothing.
    ranges : Ranges or None
        That have seen nothing; None leaves the cells alone.
    """

    def __init__(self, target: TargetSummary, ranges: Ranges | None = None):
        self.target, self.ranges = target, ranges

    def look(self, raw: RawBlock) -> None:
        """Take in a block; rows without weight count as rows only."""
        assert raw.target is not None
        weight = checked_weight(raw, self.target.who)
        self.target.update(raw.target, weight)
        if self.ranges is not None:
            self.ranges.update(Encoding(self.target.who).block(raw, weight), 1)

    def merge(self, other: FirstLook) -> FirstLook:
        """Take in what another object has seen."""
        self.target.merge(other.target)
        if self.ranges is not None:
            assert other.ranges is not None
            self.ranges.merge(other.ranges)
        return self
