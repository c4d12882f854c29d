"""open_source: an engine for a source, once its target was read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.checkpoint import Checkpoint
from tamis.data.partitioned import PartitionedTable
from tamis.data.target_blocks import Encoding, TargetSummary
from tamis.passes.dask.chunks import ChunkReader
from tamis.passes.first_look import FirstLook
from tamis.passes.located import located
from tamis.passes.stream import StreamEngine, read_ahead
from tamis.statistics import Ranges

NO_COLUMNS = np.empty(0, dtype=np.intp)


# Codes of the distinct values of a numeric target, from them and their weights.
Levels = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.int32]]


def open_source(
    source: PartitionedTable,
    who: str,
    task: str | None,
    about: Any,
    levels: Levels | None = None,
    *,
    needs_ranges: bool = False,
) -> tuple[Any, TargetSummary | None]:
    """Read the target once, and make an engine that encodes it.

    Parameters
    ----------
    source : PartitionedTable
        Where the rows are.
    who : str
        Name of the selector, for messages.
    task : {"auto", "classification", "regression"} or None
        What the target is to be; None leaves it alone.
    about : object
        What tells this fit from others on the same data, as plain JSON.
    levels : callable or None
        Makes codes of a numeric target.
    needs_ranges : bool, default=False
        Whether a walk over the cells for their ranges would follow. Dask then finds them beside the
        target: making or moving its chunks costs more than the work on them.

    Returns
    -------
    engine : StreamEngine or ClusterEngine
        Walks the blocks.
    target : TargetSummary or None
        What the target holds.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> import tamis
    >>> from tamis.passes import open_source
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "X.npy")
    ...     np.save(path, np.eye(4))
    ...     table = tamis.scan(path, target=["b", "a", "b", "b"])
    ...     engine, target = open_source(table, "Fisher", "classification", None)
    >>> engine.n_columns, target.labels.tolist(), target.weight
    (4, ['a', 'b'], array([1., 3.]))
    """
    target, ranges = None, None
    if task is not None:
        together = needs_ranges and works_elsewhere(source) and source.checkpoint is None
        if together and source.known_ranges() is None:
            ranges = Ranges(source.n_columns)
        look = FirstLook(TargetSummary(who, task, levels is not None), ranges)
        target, ranges = _looked_at(source, look)
    encoding = encoding_of(target, who, levels)
    checkpoint = None
    if source.checkpoint is not None:
        labels = None if encoding.labels is None else encoding.labels.tolist()
        facts = [source.fingerprint(), about, labels, encoding.centre]
        checkpoint = Checkpoint(source.checkpoint, facts, who, source.stamps)
    if works_elsewhere(source):
        from tamis.passes.dask.cluster import ClusterEngine

        return ClusterEngine(source, encoding, checkpoint=checkpoint, ranges=ranges), target
    return StreamEngine(source, encoding, checkpoint=checkpoint), target


def works_elsewhere(source: PartitionedTable) -> bool:
    """Whether Dask does the work, not this process."""
    return source.cluster is not None or isinstance(source, ChunkReader)


def encoding_of(target: TargetSummary | None, who: str, levels: Levels | None = None) -> Encoding:
    """How blocks of this target are encoded."""
    if target is None:
        return Encoding(who)
    if target.is_classes:
        return Encoding(who, labels=target.labels)
    if levels is not None:
        assert target.labels is not None
        values = target.labels.astype(np.float64)
        return Encoding(who, labels=target.labels, codes=levels(values, target.weight))
    return Encoding(who, centre=target.mean)


def read_target(source: PartitionedTable, who: str, task: str) -> TargetSummary:
    """Classes or numbers of the target, from a walk over that column alone."""
    return _looked_at(source, FirstLook(TargetSummary(who, task)))[0]


def _looked_at(source: PartitionedTable, look: FirstLook) -> tuple[TargetSummary, Ranges | None]:
    """What a first walk finds; the cells are left alone where their ranges are not wanted."""
    columns = NO_COLUMNS if look.ranges is None else None
    if works_elsewhere(source):
        from tamis.passes.dask.cluster import fold_on_workers

        look = fold_on_workers(source, look, None, columns)
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
