"""StreamEngine: walks a source block by block; reading goes on while a block is worked on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from queue import Empty, SimpleQueue
from threading import Event, Semaphore, Thread
from typing import Any, NamedTuple

from tamis._runtime.buffers import recycled
from tamis._runtime.checkpoint import Checkpoint
from tamis.data.partitioned import PartitionedTable, RawBlock, Wanted
from tamis.data.target_blocks import Encoding
from tamis.passes.fold import Statistic, fold
from tamis.passes.located import checked_weight, located
from tamis.statistics import Ranges
from tamis.statistics.block import Block

# Seconds between looks at whether the reader is still there.
PATIENCE = 0.1


class Item(NamedTuple):
    """A block as it was read, where it is from, and whether it is the last of its part."""

    part: int
    raw: RawBlock | None
    error: BaseException | None = None


def read_ahead(source: PartitionedTable, first: int, columns: Wanted) -> Iterator[Item]:
    """Blocks of all parts from `first` on, read by another thread; None ends a part.

    While a block is worked on the next one is read, and no more than that: two are in memory.
    """
    ready: SimpleQueue[Item] = SimpleQueue()
    wanted = Semaphore(1)  # whoever takes a block wants the next
    unwanted = Event()

    def read() -> None:
        with recycled():
            read_parts()

    def read_parts() -> None:
        part = first
        try:
            for part in range(first, source.n_parts):
                blocks = source.blocks(part, columns)
                while True:
                    wanted.acquire()
                    if unwanted.is_set():
                        return
                    raw = next(blocks, None)
                    ready.put(Item(part, raw))
                    if raw is None:  # nobody has to work on the end of a part
                        wanted.release()
                        break
                    del raw
        except BaseException as error:
            ready.put(Item(part, None, error))

    reader = Thread(target=read, name="tamis-read", daemon=True)
    reader.start()
    try:
        ended = first
        while ended < source.n_parts:
            item = _next(ready, reader)
            if item.error is not None:
                raise item.error
            if item.raw is None:
                ended += 1
            else:
                wanted.release()
            yield item
            del item
    finally:
        unwanted.set()
        wanted.release()
        reader.join()


def _next(ready: SimpleQueue[Item], reader: Thread) -> Item:
    while True:
        try:
            return ready.get(timeout=PATIENCE)
        except Empty:
            if not reader.is_alive() and ready.empty():
                raise RuntimeError("the reading thread ended without a word") from None


class StreamEngine:
    """Row blocks of a source, with the target encoded; the data is read once per walk.

    Parameters
    ----------
    source : PartitionedTable
        Where the rows are.
    encoding : Encoding
        What becomes of the target.
    columns : ndarray of int or None
        The columns to read; None means all.
    checkpoint : Checkpoint or None
        Where the statistics of unfinished walks are kept.
    """

    def __init__(
        self,
        source: PartitionedTable,
        encoding: Encoding,
        *,
        columns: Wanted = None,
        checkpoint: Checkpoint | None = None,
    ):
        self.source, self.encoding = source, encoding
        self.columns, self.checkpoint = columns, checkpoint
        self.n_columns = source.n_columns if columns is None else len(columns)

    @property
    def n_bytes(self) -> int:
        """Size of the table, as far as it is known."""
        return (self.source.n_rows or 0) * self.n_columns * self.source.dtype.itemsize

    def __len__(self) -> int:
        return self.source.n_parts

    def known_ranges(self) -> Ranges | None:
        """Ranges of the columns where the files say them."""
        return self.source.known_ranges() if self.columns is None else None

    def fold(
        self, statistic: Any, name: str, *, n_jobs: int | None, steps: Callable[..., Any]
    ) -> Any:
        """Update `statistic` with all blocks; a walk that was stopped goes on from its last part.

        Parameters
        ----------
        statistic : Statistic
            That has seen nothing; changed in place and returned.
        name : str
            Of the walk, for progress and checkpoint.
        n_jobs : int or None
            Threads inside a block.
        steps : callable
            Shows progress: ``steps(name, items, total)``.
        """
        first = 0
        if self.checkpoint is not None:
            first = self.checkpoint.resume(name, statistic)
        parts = self._parts(first, name, statistic)
        for blocks in steps(name, parts, len(self)):
            fold(statistic, blocks, n_jobs=n_jobs, interruptible=True)
        return statistic

    def _parts(self, first: int, name: str, statistic: Statistic) -> Iterator[Iterator[Block]]:
        """An iterator of blocks per part; after each, what is known may be stored."""
        items = read_ahead(self.source, first, self.columns)
        try:
            for part in range(first, self.source.n_parts):
                yield self._blocks(items, part)
                if self.checkpoint is not None:
                    self.checkpoint.keep(name, part + 1, self.source.n_parts, statistic)
        finally:
            items.close()  # type: ignore[attr-defined]

    def _blocks(self, items: Iterator[Item], part: int) -> Iterator[Block]:
        n_before = 0
        for item in items:
            if item.raw is None:
                return
            yield self._block(item.raw, part, n_before)
            n_before += item.raw.n_rows

    def _block(self, raw: RawBlock, part: int, n_before: int) -> Block:
        with located(self.source, part, n_before):
            weight = checked_weight(raw, self.encoding.who)
            return self.encoding.block(raw, weight)
