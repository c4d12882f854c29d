"""Tables larger than memory: an engine for one, once its target was read, and who takes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamis._runtime.checkpoint import Checkpoint
from tamis._runtime.fingerprint import fingerprint
from tamis._runtime.warning import warn
from tamis._runtime.wording import counted
from tamis.data.partitioned import PartitionedTable, RawBlock
from tamis.data.target_blocks import Encoding, TargetSummary
from tamis.exceptions import InputError
from tamis.passes.engine import Levels
from tamis.passes.memory import Opened
from tamis.passes.stream import (
    SourceEngine,
    StreamEngine,
    checked_weight,
    located,
    read_ahead,
)
from tamis.statistics import Ranges

NO_COLUMNS = np.empty(0, dtype=np.intp)


class FirstLook:
    """The target and, where a pass over the cells would follow anyway, the ranges of the columns.

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
            encoding = Encoding(self.target.who, leave_out_missing=self.target.leave_out_missing)
            self.ranges.update(encoding.block(raw, weight), 1)

    def merge(self, other: FirstLook) -> FirstLook:
        """Take in what another object has seen."""
        self.target.merge(other.target)
        if self.ranges is not None:
            assert other.ranges is not None
            self.ranges.merge(other.ranges)
        return self


def open_partitioned(
    source: PartitionedTable,
    task: str | None,
    who: str,
    about: Any,
    levels: Levels | None,
    needs_ranges: bool,
) -> Opened:
    """As `tamis.passes.memory.open_table`, for a table larger than memory: read its target once.

    Where a pass for the ranges would follow, Dask finds them beside the target: making or moving
    its chunks costs more than the work on them.
    """
    target, ranges = None, None
    if task is not None:
        together = needs_ranges and works_elsewhere(source) and source.checkpoint is None
        if together and source.known_ranges() is None:
            ranges = Ranges(source.n_columns)
        summary = TargetSummary(who, task, levels is not None, source.leaves_out_missing)
        target, ranges = _looked_at(source, FirstLook(summary, ranges))
        if target.n_missing:
            warn(f"{who}: {counted(target.n_missing, 'row')} with no target left out.")
    encoding = _encoding_of(target, who, levels)
    engine = _engine_of(source, encoding, ranges, about)
    if target is None:
        return Opened(engine, source.n_rows or 0, float(source.n_rows or 0))
    if target.is_classes:
        total, n_codes = float(target.weight.sum()), target.weight.size
        return Opened(engine, target.n_rows, total, target.labels, target.weight, n_codes=n_codes)
    n_codes = 0 if encoding.codes is None else int(encoding.codes.max()) + 1
    centre = encoding.centre or 0.0
    return Opened(engine, target.n_rows, target.total, centre=centre, n_codes=n_codes)


def _engine_of(
    source: PartitionedTable, encoding: Encoding, ranges: Ranges | None, about: Any
) -> SourceEngine:
    checkpoint = None
    if source.checkpoint is not None:
        labels = None if encoding.labels is None else encoding.labels.tolist()
        name = fingerprint(source.fingerprint(), about, labels, encoding.centre)
        checkpoint = Checkpoint(source.checkpoint, name, encoding.who, source.stamps)
    if works_elsewhere(source):
        from tamis.passes.dask.cluster import ClusterEngine

        return ClusterEngine(source, encoding, checkpoint=checkpoint, ranges=ranges)
    return StreamEngine(source, encoding, checkpoint=checkpoint)


def works_elsewhere(source: PartitionedTable) -> bool:
    """Whether Dask does the work, not this process."""
    return source.cluster is not None or not source.is_read_by_workers


def _encoding_of(target: TargetSummary | None, who: str, levels: Levels | None) -> Encoding:
    if target is None:
        return Encoding(who)
    missing = target.n_missing > 0
    if target.is_classes:
        return Encoding(who, target.labels, leave_out_missing=missing)
    if levels is None:
        return Encoding(who, centre=target.mean, leave_out_missing=missing)
    assert target.labels is not None
    codes = levels(target.labels.astype(np.float64), target.weight)
    return Encoding(who, target.labels, codes, leave_out_missing=missing)


def read_target(source: PartitionedTable, who: str, task: str) -> TargetSummary:
    """Classes or numbers of the target, from a pass over that column alone."""
    summary = TargetSummary(who, task, leave_out_missing=source.leaves_out_missing)
    return _looked_at(source, FirstLook(summary))[0]


def _looked_at(source: PartitionedTable, look: FirstLook) -> tuple[TargetSummary, Ranges | None]:
    """What a first pass finds; the cells are left alone where their ranges are not wanted."""
    columns = NO_COLUMNS if look.ranges is None else None
    if works_elsewhere(source):
        from tamis.passes.dask.cluster import run_on_workers

        look = run_on_workers(source, look, None, columns)
        return look.target.finish(), look.ranges
    n_before, part = 0, -1
    for item in read_ahead(source, 0, columns):
        if item.part != part:
            part, n_before = item.part, 0
        if item.raw is not None:
            with located(source, part, n_before):
                look.look(item.raw)
            n_before += item.raw.n_rows
    return look.target.finish(), look.ranges


def check_source(
    X: PartitionedTable, y: Any, sample_weight: Any, *, who: str, streams: bool, supervised: bool
) -> None:
    """Raise where a table larger than memory cannot be used by a selector, or with this call."""
    if not streams:
        raise InputError(
            f"{who}: expected a table in memory, got {X!r}. This method needs all rows at once: "
            "read the table with X.to_numpy(), or use a selector that works block by block, such "
            "as DFT or Fisher, as a first sieve."
        )
    if y is not None or sample_weight is not None:
        name = "y" if y is not None else "sample_weight"
        raise InputError(
            f"{who}: expected the target and the weights inside the scan, got {name} beside it. "
            "Name them when the scan is made: tamis.scan(path, target=..., weight=...)."
        )
    if supervised and not X.has_target:
        raise InputError(
            f"{who}: requires a target, but the scan has none. Name it: tamis.scan(path, "
            "target=...)."
        )


def check_in_memory(X: Any, who: str, setting: str, instead: str) -> None:
    """Raise if a setting that needs all rows at once meets a table larger than memory."""
    if isinstance(X, PartitionedTable):
        raise InputError(
            f"{who}: {setting} expected a table in memory, got {X!r}. Use {instead}, which works "
            "block by block, or read the table with X.to_numpy()."
        )
