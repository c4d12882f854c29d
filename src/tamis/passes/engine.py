"""Engine: what passes over the rows of a table and shows them, block by block, to a statistic."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from tamis.statistics import Block, Ranges

Floats = NDArray[np.float64]
# Codes of the values of a regression target, from the values and their weights.
Levels = Callable[[Floats, Floats], NDArray[np.int32]]
# Reports progress: ``steps(name, items, total)`` yields the items, and may end early.
Steps = Callable[[str, Iterable[Any], int], Iterable[Any]]


class Statistic(Protocol):
    """What every object of `tamis.statistics` offers."""

    def update(self, block: Block, n_jobs: int | None = 1) -> Any:
        """Take in the rows of a block."""

    def merge(self, other: Any) -> Any:
        """Take in what another object has seen."""

    def finish(self) -> Any:
        """Result for all rows seen."""


S = TypeVar("S", bound=Statistic)


def in_silence(name: str, items: Iterable[Any], total: int) -> Iterable[Any]:
    """Steps that are reported to nobody."""
    return items


class Engine(Protocol):
    """What a table offers to those who need statistics of it, wherever its rows are.

    In memory (`MemoryEngine`), in files (`StreamEngine`) or on the workers of Dask
    (`ClusterEngine`); any object with these members will do.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.passes import Engine, MemoryEngine
    >>> from tamis.statistics import Moments
    >>> def means(engine: Engine):
    ...     return engine.run(Moments(engine.n_columns), "means").finish().mean
    >>> means(MemoryEngine(np.array([[1.0, 4.0], [3.0, 8.0]])))
    array([2., 6.])
    """

    @property
    def n_columns(self) -> int:
        """Number of columns."""

    @property
    def n_bytes(self) -> int:
        """Size of the table, by which a statistic decides how much memory is little."""

    def known_ranges(self) -> Ranges | None:
        """Ranges of the columns, where they are known without a pass."""

    def run(
        self, statistic: S, name: str, *, n_jobs: int | None = 1, steps: Steps = in_silence
    ) -> S:
        """Pass over all rows once.

        Parameters
        ----------
        statistic : Statistic
            That has seen nothing; updated in place and returned.
        name : str
            Name of the pass, for progress and checkpoints.
        n_jobs : int or None, default=1
            Threads inside a block.
        steps : callable
            Reports progress: ``steps(name, items, total)``.
        """
