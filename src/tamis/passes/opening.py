"""Tables larger than memory: how a selector is fitted on one, and an engine for it."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from tamis._runtime.checkpoint import Checkpoint
from tamis._runtime.fingerprint import fingerprint
from tamis._runtime.warning import warn
from tamis._runtime.wording import counted
from tamis.cutoff.rule import CutRule
from tamis.data.checks import set_columns
from tamis.data.number_target import NumberSummary
from tamis.data.partitioned import PartitionedTable
from tamis.data.target_blocks import ClassSummary, Encoding
from tamis.exceptions import InputError
from tamis.passes.engine import Levels
from tamis.passes.memory import Opened
from tamis.passes.stream import StreamEngine, located, read_ahead, weight_of
from tamis.statistics import Ranges

NO_COLUMNS = np.empty(0, dtype=np.intp)


class OutOfCoreMixin:
    """Fit a selector on a table that is read part by part."""

    def _fit_source(
        self: Any, X: PartitionedTable, y: Any, sample_weight: Any, rule: CutRule
    ) -> Any:
        """Fit on a table larger than memory."""
        self._check_source(X, y, sample_weight)
        if rule.needs_rows(self):
            raise InputError(
                f"{type(self).__name__}: expected a rule that needs only scores, got {rule.who}, "
                "which looks at all of the training data. Use another rule for a table larger than "
                "memory."
            )
        workers: Any = nullcontext(X)
        if X.cluster is not None:
            from tamis.passes.dask.cluster import at_work

            workers = at_work(X)
        with workers as opened:
            self._fit_checked(opened, None, None, rule)
        if X.checkpoint is not None:
            Path(X.checkpoint).unlink(missing_ok=True)
        return self

    def _check_source(self: Any, X: PartitionedTable, y: Any, sample_weight: Any) -> None:
        """Raise where the table cannot be used by this selector, or with this call."""
        who = type(self).__name__
        if not self._streams:
            raise InputError(
                f"{who}: expected a table in memory, got {X!r}. This method needs all rows at "
                "once: read the table with X.to_numpy(), or use a selector that works block by "
                "block, such as DFT or Fisher, as a first sieve."
            )
        if y is not None or sample_weight is not None:
            name = "y" if y is not None else "sample_weight"
            raise InputError(
                f"{who}: expected the target and the weights inside the scan, got {name} beside "
                "it. Name them when the scan is made: tamis.scan(path, target=..., weight=...)."
            )
        if self._supervised and not X.has_target:
            raise InputError(
                f"{who}: requires a target, but the scan has none. Name it: tamis.scan(path, "
                "target=...)."
            )
        set_columns(self, X.n_columns, X.names)

    def _about(self: Any) -> Any:
        """What distinguishes this fit from others on the same data, as plain JSON."""
        params = self.get_params(deep=False)
        kept = {key: repr(value) for key, value in params.items() if key != "n_jobs"}
        return [type(self).__name__, kept]


def open_partitioned(
    source: PartitionedTable,
    task: str | None,
    who: str,
    about: Any,
    levels: Levels | None,
    needs_ranges: bool,
) -> Opened:
    """As `tamis.passes.memory.open_table`, for a table larger than memory: read its target once."""
    if task is None:
        engine = _engine_of(source, Encoding(who), None, about)
        return Opened(engine, source.n_rows or 0, float(source.n_rows or 0))
    target, ranges = read_target(source, who, task, levels is not None, needs_ranges)
    missing = target.n_missing > 0
    if missing:
        warn(f"{who}: {counted(target.n_missing, 'row')} with no target left out.")
    labels, weight = target.labels, target.weight
    if not isinstance(target, NumberSummary) or not target.is_regression:
        engine = _engine_of(source, Encoding(who, labels, None, None, missing), ranges, about)
        n_rows, total = target.n_rows, float(weight.sum())
        return Opened(engine, n_rows, total, labels, weight, n_codes=weight.size)
    if levels is None:
        encoding, n_codes = Encoding(who, None, None, target.mean, missing), 0
    else:
        assert labels is not None
        codes = levels(labels.astype(np.float64), weight)
        encoding, n_codes = Encoding(who, labels, codes, None, missing), int(codes.max()) + 1
    engine = _engine_of(source, encoding, ranges, about)
    centre = encoding.centre or 0.0
    return Opened(engine, target.n_rows, target.total, centre=centre, n_codes=n_codes)


def _engine_of(
    source: PartitionedTable, encoding: Encoding, ranges: Ranges | None, about: Any
) -> StreamEngine:
    checkpoint = None
    if source.checkpoint is not None:
        labels = None if encoding.labels is None else encoding.labels.tolist()
        name = fingerprint(source.fingerprint(), about, labels, encoding.centre)
        checkpoint = Checkpoint(source.checkpoint, name, encoding.who, source.stamps)
    if _works_elsewhere(source):
        from tamis.passes.dask.cluster import ClusterEngine

        return ClusterEngine(source, encoding, checkpoint=checkpoint, ranges=ranges)
    return StreamEngine(source, encoding, checkpoint=checkpoint)


def _works_elsewhere(source: PartitionedTable) -> bool:
    """Whether Dask does the work, not this process."""
    return source.cluster is not None or not source.is_read_by_workers


def read_target(
    source: PartitionedTable,
    who: str,
    task: str,
    keep_values: bool = False,
    needs_ranges: bool = False,
) -> tuple[ClassSummary, Ranges | None]:
    """The target, and the ranges of the columns where Dask finds them in the same pass."""
    target = ClassSummary(who, source.leaves_out_missing)
    if task != "classification":
        target = NumberSummary(who, task, keep_values, source.leaves_out_missing)
    if _works_elsewhere(source):
        from tamis.passes.dask.cluster import first_look

        return first_look(source, target, needs_ranges)
    for item in read_ahead(source, 0, NO_COLUMNS):
        if item.raw is not None:
            assert item.raw.target is not None
            with located(source, item.part, item.n_before):
                target.update(item.raw.target, weight_of(item.raw, who))
    return target.finish(), None
