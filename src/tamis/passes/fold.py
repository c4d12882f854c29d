"""Fold a statistic over the blocks of an engine."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol, TypeVar

from tamis.statistics.block import Block


class Statistic(Protocol):
    """What every object of `tamis.statistics` offers."""

    def update(self, block: Block, n_jobs: int | None = 1) -> Any:
        """Take in the rows of a block."""

    def merge(self, other: Any) -> Any:
        """Take in what another object has seen."""

    def finish(self) -> Any:
        """Result for all rows seen."""


S = TypeVar("S", bound=Statistic)


def fold(
    statistic: S,
    blocks: Iterable[Block],
    *,
    n_jobs: int | None = 1,
    interruptible: bool = False,
) -> S:
    """Update `statistic` with every block, in order.

    Stopped by Ctrl-C, an interruptible fold completes the block at hand first, so that the
    statistic stays that of whole blocks.

    Parameters
    ----------
    statistic : object with ``update``
        Changed in place and returned.
    blocks : iterable of Block
        An engine.
    n_jobs : int or None, default=1
        Threads inside a block.
    interruptible : bool, default=False
        Work beside the main thread, which is the one that Ctrl-C interrupts; this costs a
        fraction of a millisecond.

    Returns
    -------
    statistic : object
        The statistic of the blocks walked.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.passes import MemoryEngine, fold
    >>> from tamis.statistics import Ranges
    >>> engine = MemoryEngine(np.arange(6.0).reshape(3, 2), block_rows=1)
    >>> fold(Ranges(2), engine).finish().high
    array([4., 5.])
    """
    if not interruptible:
        for block in blocks:
            statistic.update(block, n_jobs)
        return statistic
    with ThreadPoolExecutor(1) as worker:
        worker.submit(int).result()  # a pool that is stopped while its thread starts forgets it
        for block in blocks:
            worker.submit(statistic.update, block, n_jobs).result()
    return statistic
