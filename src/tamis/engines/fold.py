"""Fold a statistic over the blocks of an engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable
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
    after_block: Callable[[], bool] = lambda: False,
) -> S:
    """Update `statistic` with every block, in order.

    Parameters
    ----------
    statistic : object with ``update``
        Changed in place and returned.
    blocks : iterable of Block
        An engine.
    n_jobs : int or None, default=1
        Threads inside a block.
    after_block : callable, default=never
        Called after every block; a true answer ends the walk early.

    Returns
    -------
    statistic : object
        The statistic of the blocks walked.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.engines import MemoryEngine, fold
    >>> from tamis.statistics import Ranges
    >>> engine = MemoryEngine(np.arange(6.0).reshape(3, 2), block_rows=1)
    >>> fold(Ranges(2), engine).finish().high
    array([4., 5.])
    """
    for block in blocks:
        statistic.update(block, n_jobs)
        if after_block():
            break
    return statistic
