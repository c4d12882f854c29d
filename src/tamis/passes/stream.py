"""StreamEngine: passes over a table in files, block by block; the next block is read meanwhile."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.checkpoint import Checkpoint
from tamis._runtime.memory import reuse_buffers
from tamis.data.partitioned import PartitionedTable, RawBlock, Wanted, checked_weight
from tamis.data.target_blocks import Encoding
from tamis.exceptions import InputError
from tamis.passes.engine import S, Statistic, Steps, in_silence
from tamis.passes.memory import run_pass
from tamis.statistics import Block, Ranges


class Item(NamedTuple):
    """A block as it was read, and how many rows of its part come before; None ends a part."""

    part: int
    n_before: int
    raw: RawBlock | None


def read_ahead(source: PartitionedTable, first: int, columns: Wanted) -> Iterator[Item]:
    """Blocks of all parts from `first` on, read by another thread.

    While a block is worked on the next one is read, and no more than that: two are in memory.
    """
    items = _items(source, first, columns)
    with ThreadPoolExecutor(1, "tamis-read", reuse_buffers) as reader:
        try:
            coming = reader.submit(next, items, None)
            while (item := coming.result()) is not None:
                coming = reader.submit(next, items, None)
                yield item
                del item
        finally:
            reader.submit(items.close)


def _items(source: PartitionedTable, first: int, columns: Wanted) -> Generator[Item]:
    for part in range(first, source.n_parts):
        n_before = 0
        for raw in source.blocks(part, columns):
            held = [Item(part, n_before, raw)]
            n_before += raw.n_rows
            del raw  # or two blocks would be in memory while the next one is read
            yield held.pop()
        yield Item(part, n_before, None)


@contextmanager
def located(source: PartitionedTable, part: int, n_before: int) -> Iterator[None]:
    """Add the place to messages about a block; `n_before` rows of the part come before it."""
    try:
        yield
    except InputError as error:
        place = source.where(part)
        after = f", counted from its row {n_before}" if n_before else ""
        raise type(error)(f"{error} (In {place}{after}.)") from error


def weight_of(raw: RawBlock, who: str) -> NDArray[np.float64] | None:
    """Weights of a block, checked; None if it has none."""
    return None if raw.weight is None else checked_weight(raw.weight, who)


class StreamEngine:
    """Row blocks of a source, read by this process once per pass.

    `encoding` says what becomes of the target and `columns` what is read (None: all). `checkpoint`
    keeps the statistics of unfinished passes; `ranges` are those of all columns, where known.
    """

    def __init__(
        self,
        source: PartitionedTable,
        encoding: Encoding,
        *,
        columns: Wanted = None,
        checkpoint: Checkpoint | None = None,
        ranges: Ranges | None = None,
    ):
        self.source, self.encoding = source, encoding
        self.columns, self.checkpoint, self.ranges = columns, checkpoint, ranges
        self.n_columns = source.n_columns if columns is None else len(columns)

    def over(self, columns: Wanted) -> Self:
        """The same engine for some columns only, with the same checkpoint."""
        wanted = None if columns is None or len(columns) == self.n_columns else columns
        return type(self)(self.source, self.encoding, columns=wanted, checkpoint=self.checkpoint)

    def known_ranges(self) -> Ranges | None:
        """Ranges of the columns where the files, or a first pass, say them."""
        if self.columns is not None:
            return None
        known = None if self.encoding.leave_out_missing else self.source.known_ranges()
        return self.ranges or known

    @property
    def n_bytes(self) -> int:
        """Size of the table, as far as it is known."""
        return (self.source.n_rows or 0) * self.n_columns * self.source.dtype.itemsize

    def __len__(self) -> int:
        return self.source.n_parts

    def run(
        self, statistic: S, name: str, *, n_jobs: int | None = 1, steps: Steps = in_silence
    ) -> S:
        """Update `statistic` with all blocks; an interrupted pass resumes after its last part."""
        first = 0
        if self.checkpoint is not None:
            first = self.checkpoint.resume(name, statistic, self.source.n_parts)
        parts = self._parts(first, name, statistic)
        for blocks in steps(name, parts, len(self)):
            run_pass(statistic, blocks, n_jobs=n_jobs, interruptible=True)
        return statistic

    def _parts(self, first: int, name: str, statistic: Statistic) -> Iterator[Iterator[Block]]:
        """An iterator of blocks per part; after each, what is known may be stored."""
        items = read_ahead(self.source, first, self.columns)
        try:
            for part in range(first, self.source.n_parts):
                yield self._blocks(items)
                if self.checkpoint is not None:
                    self.checkpoint.keep(name, part + 1, self.source.n_parts, statistic)
        finally:
            items.close()  # type: ignore[attr-defined]

    def _blocks(self, items: Iterator[Item]) -> Iterator[Block]:
        for item in items:
            if item.raw is None:
                return
            yield self._block(item.raw, item.part, item.n_before)

    def _block(self, raw: RawBlock, part: int, n_before: int) -> Block:
        with located(self.source, part, n_before):
            return self.encoding.block(raw, weight_of(raw, self.encoding.who))
