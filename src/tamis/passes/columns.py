"""ColumnBlocks: whole columns of a table that is not in memory, some at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.memory import as_bytes
from tamis._runtime.threads import split_evenly
from tamis.data.partitioned import PartitionedTable
from tamis.exceptions import InputError
from tamis.passes.dask.client import (
    RETRIES,
    check_workers,
    current_client,
    import_dask,
    lost_workers,
)
from tamis.passes.dask.cluster import ClusterEngine, RemotePass, compute, summarise
from tamis.passes.stream import StreamEngine
from tamis.statistics.block import Block

# What is made of all rows of some columns.
OfColumns = Callable[[Block], Any]
Range = tuple[int, int]
# Share of the memory for columns while they are worked on.
SHARE = 3


class Room(NamedTuple):
    """Bytes that one task may use, and how many tasks are at work at a time."""

    n_bytes: int
    n_tasks: int


class WholeColumns:
    """Rows one after the other; a statistic that keeps everything."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []

    def update(self, block: Block, n_jobs: int | None = 1) -> WholeColumns:
        """Take in the rows of a block."""
        self.blocks.append(block)
        return self

    def merge(self, other: WholeColumns) -> WholeColumns:
        """Take in what another object has seen."""
        self.blocks += other.blocks
        return self

    def finish(self) -> Block:
        """All rows as one Fortran-ordered block; what was kept is let go on the way."""
        n_rows = sum(block.n_rows for block in self.blocks)
        first = self.blocks[0]
        X = np.empty((n_rows, first.n_columns), dtype=first.X.dtype, order="F")
        target = None if first.target is None else np.empty(n_rows, first.target.dtype)
        weight = np.empty(n_rows)
        row = 0
        self.blocks.reverse()
        while self.blocks:
            block = self.blocks.pop()
            rows, own = slice(row, row + block.n_rows), slice(block.start, block.stop)
            X[rows], weight[rows] = block.X[own], block.weight_slice
            if target is not None and block.target is not None:
                target[rows] = block.target[own]
            row += block.n_rows
        return Block.of(X, target, weight)


class ColumnBlocks:
    """Whole columns of the source of an engine, read here or gathered on one worker.

    Ranges are positions among `columns`; without a limit, the source or the workers say how much
    memory there is.
    """

    def __init__(
        self, engine: Any, columns: NDArray[np.intp], n_rows: int, memory_limit: int | None = None
    ):
        self.source, self.encoding = engine.source, engine.encoding
        self.is_remote = isinstance(engine, ClusterEngine)
        self.columns, self.n_rows = columns, n_rows
        self.room = room_of(self.source, self.is_remote, memory_limit)

    def ranges(self, cell_bytes: int, most: int | None, who: str, advice: str) -> list[Range]:
        """Ranges of columns that fit the memory, at most so many columns in each.

        `cell_bytes` is what work on a column takes per row. Where not even one column fits, the
        error says `who` wanted it and what to do instead.
        """
        needed = cell_bytes * max(self.n_rows, 1)
        width = self.room.n_bytes // SHARE // needed
        if width < 1:
            raise InputError(
                f"{who}: expected room for whole columns, got {self.room.n_bytes:,} bytes of "
                f"memory, a third of which is less than the {needed:,} bytes that one column of "
                f"{self.n_rows:,} rows takes. {advice}"
            )
        width = min(width, most or width)
        return split_evenly(0, self.columns.size, -(-self.columns.size // width))

    def each(self, function: OfColumns, ranges: Sequence[Range]) -> Iterator[tuple[Range, Any]]:
        """Every range and what `function` makes of its columns, in order."""
        if not self.is_remote:
            for one in ranges:
                yield one, function(self._read(one))
            return
        n = self.room.n_tasks
        for first in range(0, len(ranges), n):
            wave = ranges[first : first + n]
            results = compute(self.source, [self._task(function, one) for one in wave])
            yield from zip(wave, results, strict=True)

    def kept(self, function: OfColumns, ranges: Sequence[Range]) -> list[Any]:
        """What `function` makes of every range, left on the workers, still to be asked for."""
        return persist(self.source, [self._task(function, one) for one in ranges])

    def _read(self, columns: Range) -> Block:
        engine = StreamEngine(self.source, self.encoding, columns=self.columns[slice(*columns)])
        return engine.run(WholeColumns(), "columns").finish()

    def _task(self, function: OfColumns, columns: Range) -> Any:
        """A call on one worker, to which only these columns travel."""
        dask = import_dask()
        wanted = self.columns[slice(*columns)]
        task: Any = RemotePass.of(self.source, WholeColumns(), self.encoding, wanted)
        n_parts = self.source.n_parts
        if self.source.piece(0, wanted) is None:  # any worker can read all parts
            return dask.delayed(_read_and_call, pure=False)(task, n_parts, function)
        task = dask.delayed(task, traverse=False)
        read = dask.delayed(summarise, pure=False)
        parts = [read(task, [part], self.source.piece(part, wanted)) for part in range(n_parts)]
        return dask.delayed(_join_and_call, pure=False)(parts, function)


def _read_and_call(task: RemotePass, n_parts: int, function: OfColumns) -> Any:
    return function(task.summary(range(n_parts), None).finish())


def _join_and_call(parts: Sequence[WholeColumns], function: OfColumns) -> Any:
    whole = WholeColumns()
    for part in parts:
        whole.merge(part)
    return function(whole.finish())


def memory_of(source: PartitionedTable) -> int:
    """Bytes that this process may use for a source."""
    return as_bytes(getattr(source, "memory_limit", None))


def room_of(source: PartitionedTable, is_remote: bool, memory_limit: int | None) -> Room:
    """Room of one task: of this process, or of the smallest worker, shared by its threads."""
    if memory_limit is not None:
        return Room(memory_limit, 1)
    client = _client(source) if is_remote else None
    if client is None:
        return Room(memory_of(source), 1)
    check_workers(client, repr(source))
    with lost_workers(repr(source), str, client):
        workers = client.scheduler_info(n_workers=-1)["workers"].values()
    if not workers:
        return Room(memory_of(source), 1)
    threads = [worker["nthreads"] for worker in workers]
    least = min((worker["memory_limit"] or memory_of(source)) for worker in workers)
    return Room(least // max(threads), sum(threads))


def _client(source: PartitionedTable) -> Any:
    """The client that works for a source, or None for threads."""
    if source.cluster is None:
        return current_client()
    return source.cluster if hasattr(source.cluster, "scheduler_info") else None


def persist(source: PartitionedTable, delayed: Sequence[Any]) -> list[Any]:
    """Start delayed calls whose results stay on the workers."""
    dask = import_dask()
    client = _client(source)
    if client is None:
        options = {} if source.cluster is None else {"scheduler": "threads"}
        return list(dask.persist(*delayed, **options))
    with lost_workers(repr(source), str, client):
        return list(client.persist(list(delayed), retries=RETRIES))
