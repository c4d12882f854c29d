"""MemoryEngine: passes over a table in memory; open_table: an engine for any table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tamis.data.checks import plain_classes
from tamis.data.partitioned import PartitionedTable
from tamis.data.target import Target
from tamis.passes.engine import Floats, Levels, S, Steps, in_silence
from tamis.statistics import Block, Ranges

# A block is the unit of progress and of Ctrl-C: some 10 ms of work on data used in place.
BLOCK_BYTES = 64 * 2**20
# A block that must be cast or gathered first is a copy, so it is kept small.
COPY_BYTES = 4 * 2**20


def run_pass(
    statistic: S, blocks: Iterable[Block], *, n_jobs: int | None = 1, interruptible: bool = False
) -> S:
    """Update `statistic` with every block, in order, and return it.

    Stopped by Ctrl-C, an interruptible pass completes the block at hand first, so that the
    statistic stays that of whole blocks. For this it works beside the main thread, which costs a
    fraction of a millisecond.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.passes import MemoryEngine, run_pass
    >>> from tamis.statistics import Ranges
    >>> engine = MemoryEngine(np.arange(6.0).reshape(3, 2), block_rows=1)
    >>> run_pass(Ranges(2), engine).finish().high
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


class MemoryEngine:
    """Row blocks of a matrix in memory; the data is used in place wherever it can be.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_rows, n_columns)
        The table. Types other than float32 and float64 are cast block by block.
    target, weight : ndarray of shape (n_rows,) or None
        As in `Block`; rows with weight 0 are left out as if they were not there.
    block_rows : int or None
        Rows per block; ``None`` chooses by size.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.passes import MemoryEngine
    >>> engine = MemoryEngine(np.eye(5), block_rows=2)
    >>> [(block.start, block.stop) for block in engine]
    [(0, 2), (2, 4), (4, 5)]
    """

    def __init__(
        self,
        X: Any,
        target: NDArray[Any] | None = None,
        weight: NDArray[np.float64] | None = None,
        *,
        block_rows: int | None = None,
    ):
        self.X, self.target, self.weight = X, target, weight
        self.kept = weight > 0 if weight is not None and not (weight > 0).all() else None
        self.in_place = self.kept is None and _usable_in_place(X)
        self.block_rows = block_rows or self._rows_per_block()

    def _rows_per_block(self) -> int:
        n_rows, n_columns = self.X.shape
        row_bytes = 8 * max(1, n_columns)
        if sparse.issparse(self.X):
            row_bytes = max(1, 16 * self.X.nnz // max(1, n_rows))
        return max(1, (BLOCK_BYTES if self.in_place else COPY_BYTES) // row_bytes)

    def __len__(self) -> int:
        return -(-self.X.shape[0] // self.block_rows)

    @property
    def n_bytes(self) -> int:
        """Size of the table."""
        return int(self.X.data.nbytes if sparse.issparse(self.X) else self.X.nbytes)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.X.shape[1])

    def known_ranges(self) -> Ranges | None:
        """None: a pass must tell."""
        return None

    def run(
        self, statistic: S, name: str, *, n_jobs: int | None = 1, steps: Steps = in_silence
    ) -> S:
        """Update `statistic` with all blocks; see :class:`Engine`."""
        blocks = steps(name, self, len(self))
        return run_pass(statistic, blocks, n_jobs=n_jobs, interruptible=len(self) > 1)

    def __iter__(self) -> Iterator[Block]:
        for start in range(0, self.X.shape[0], self.block_rows):
            stop = min(start + self.block_rows, self.X.shape[0])
            if self.in_place:
                yield Block(self.X, start, stop, self.target, self.weight)
            else:
                yield self._copied(start, stop)

    def _copied(self, start: int, stop: int) -> Block:
        rows: Any = slice(start, stop)
        if self.kept is not None:
            rows = start + np.flatnonzero(self.kept[rows])
        target = None if self.target is None else self.target[rows]
        weight = None if self.weight is None else self.weight[rows]
        return Block.of(self.X[rows], target, weight)


def _usable_in_place(X: Any) -> bool:
    if X.dtype not in (np.float32, np.float64):
        return False
    if sparse.issparse(X):
        return bool(X.format == "csr")
    return bool(X.flags.c_contiguous or X.flags.f_contiguous)


class Opened(NamedTuple):
    """An engine, and what is known of the target before the first pass.

    `classes` are None without class labels: the engine then takes `centre` off a regression target,
    or makes `n_codes` codes of it, or there is no target.
    """

    engine: Any
    n_rows: int
    total: float
    classes: Any = None
    class_weight: Floats | None = None
    centre: float = 0.0
    n_codes: int = 0

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.engine.n_columns)

    @property
    def task(self) -> str:
        """Return "classification" or "regression"; meaningless without a target."""
        return "regression" if self.classes is None else "classification"

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 for a regression target."""
        return 0 if self.classes is None else int(self.classes.size)


def open_table(
    selector: Any, X: Any, y: Any, weight: Any, task: str | None, levels: Levels | None = None
) -> Opened:
    """Engine of a checked table with its target as statistics want it, wherever its rows are.

    `task` None leaves the target alone. `levels` makes codes of a regression target.
    """
    who = type(selector).__name__
    if isinstance(X, PartitionedTable):
        from tamis.passes.opening import open_partitioned

        about = selector._about()
        return open_partitioned(X, task, who, about, levels, selector._needs_ranges)
    n_rows = X.shape[0]
    total = float(n_rows if weight is None else weight.sum())
    if task is None:
        return Opened(MemoryEngine(X, None, weight), n_rows, total)
    target: Any = plain_classes(y, task, weight, n_rows) or Target.of(y, task, weight, n_rows, who)
    classes, codes, values = target
    if classes is not None:
        per_class = np.bincount(codes, weight, classes.size).astype(np.float64)
        engine = MemoryEngine(X, codes, weight)
        return Opened(engine, n_rows, total, classes, per_class, n_codes=classes.size)
    if levels is not None:
        codes = levels(values, np.ones(n_rows) if weight is None else weight)
        return Opened(MemoryEngine(X, codes, weight), n_rows, total, n_codes=int(codes.max()) + 1)
    centre = float(np.average(values, weights=weight))
    return Opened(MemoryEngine(X, values - centre, weight), n_rows, total, centre=centre)
