"""open_source: an engine for a source, once its target was read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.engines.checkpoint import Checkpoint
from tamis.engines.chunks import ChunkReader
from tamis.engines.encoding import Encoding
from tamis.engines.located import add_target, located
from tamis.engines.source import Source
from tamis.engines.stream import StreamEngine, read_ahead
from tamis.engines.target import TargetSummary

NO_COLUMNS = np.empty(0, dtype=np.intp)


# Codes of the distinct values of a numeric target, from them and their weights.
Levels = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.int32]]


def open_source(
    source: Source, who: str, want: str | None, about: Any, levels: Levels | None = None
) -> tuple[Any, TargetSummary | None]:
    """Read the target once, on its own, and make an engine that encodes it.

    Parameters
    ----------
    source : Source
        Where the rows are.
    who : str
        Name of the selector, for messages.
    want : {"classes", "numbers", "either"} or None
        What the target is to be; None leaves it alone.
    about : object
        What tells this fit from others on the same data, as plain JSON.
    levels : callable or None
        Makes codes of a numeric target.

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
    >>> from tamis.engines import open_source
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "X.npy")
    ...     np.save(path, np.eye(4))
    ...     table = tamis.scan(path, target=["b", "a", "b", "b"])
    ...     engine, target = open_source(table, "Fisher", "classes", None)
    >>> engine.n_columns, target.labels.tolist(), target.weight
    (4, ['a', 'b'], array([1., 3.]))
    """
    target = None if want is None else read_target(source, who, want, levels is not None)
    encoding = encoding_of(target, who, levels)
    checkpoint = None
    if source.checkpoint is not None:
        labels = None if encoding.labels is None else encoding.labels.tolist()
        facts = [source.fingerprint(), about, labels, encoding.centre]
        checkpoint = Checkpoint(source.checkpoint, facts, who, source.stamps)
    if works_elsewhere(source):
        from tamis.engines.cluster import ClusterEngine

        return ClusterEngine(source, encoding, checkpoint=checkpoint), target
    return StreamEngine(source, encoding, checkpoint=checkpoint), target


def works_elsewhere(source: Source) -> bool:
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


def read_target(source: Source, who: str, want: str, keep_values: bool = False) -> TargetSummary:
    """Classes or numbers of the target, from a walk over that column alone."""
    summary = TargetSummary(who, want, keep_values)
    if works_elsewhere(source):
        from tamis.engines.cluster import fold_on_workers

        found: TargetSummary = fold_on_workers(source, summary, None, NO_COLUMNS)
        return found.finish()
    n_before, part = 0, -1
    for item in read_ahead(source, 0, NO_COLUMNS):
        if item.part != part:
            part, n_before = item.part, 0
        if item.raw is not None:
            with located(source, part, n_before):
                add_target(summary, item.raw)
            n_before += item.raw.n_rows
    return summary.finish()
