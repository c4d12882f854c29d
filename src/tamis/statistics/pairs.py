"""Sums over a batch of columns paired with all columns, and the levels that are counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tamis._runtime.threads import run_kernel, run_parts, split_evenly, threads_for
from tamis.statistics.block import Block, Floats
from tamis.statistics.state import Stateful

# Rows and cells that are centred at a time.
TILE_ROWS, TILE_CELLS = 4096, 2**19
# Columns whose counts a thread works on at a time, so that they stay in the cache.
TILE_COLUMNS = 32


class CrossProducts(Stateful):
    """Weighted sums of products of a batch of columns with all columns; missing cells count as 0.

    A column is taken as ``(x - centre) * scale``. With its mean and the reciprocal of the root of
    its sum of squares, the products are correlations, with missing cells at the mean.

    Parameters
    ----------
    batch : ndarray of int
        The columns that all columns are multiplied with.
    centre, scale : ndarray of shape (n_columns,)
        Taken off every column, and then multiplied by.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.statistics import Block, CrossProducts
    >>> block = Block.of(np.array([[1.0, 5.0], [3.0, np.nan], [5.0, 9.0]]))
    >>> products = CrossProducts(np.array([0]), np.array([3.0, 7.0]), np.ones(2))
    >>> products.update(block).finish()
    array([[8., 8.]])
    """

    state_names: ClassVar[tuple[str, ...]] = ("products",)

    def __init__(self, batch: NDArray[np.intp], centre: Floats, scale: Floats):
        self.batch, self.centre, self.scale = batch, centre, scale
        self.products = np.zeros((batch.size, centre.size))

    def update(self, block: Block, n_jobs: int | None = 1) -> CrossProducts:
        """Take in the rows of a block."""
        X, start, stop = block.dense_rows()
        weight = block.weight_slice
        for a in range(start, stop, TILE_ROWS):
            b = min(a + TILE_ROWS, stop)
            left = self._centred(X[a:b], self.batch) * weight[a - start : b - start, None]
            self._multiply(left.T, X[a:b], n_jobs)
        return self

    def _multiply(self, left: Floats, X: NDArray[Any], n_jobs: int | None) -> None:
        n_rows, n_columns = X.shape

        def tile(first: int, last: int) -> None:
            self.products[:, first:last] += left @ self._centred(X, slice(first, last))

        n_tiles = -(-n_columns * n_rows // TILE_CELLS)
        threads = threads_for(4 * n_rows * n_columns, n_jobs)
        run_parts(tile, split_evenly(0, n_columns, n_tiles), threads)

    def _centred(self, X: NDArray[Any], columns: Any) -> Floats:
        # Subtracting from float64 gives float64, whatever the type of the table.
        values = X[:, columns] - self.centre[columns]
        values *= self.scale[columns]
        values[np.isnan(values)] = 0.0
        return values

    def merge(self, other: CrossProducts) -> CrossProducts:
        """Take in what another object has seen of the same columns."""
        self.products += other.products
        return self

    def finish(self) -> Floats:
        """Sums of products, ``[batch, column]``."""
        return self.products


class FewValuesResult(NamedTuple):
    """Values of every column, ascending, in the first `n_values` places; -1 stands for too many."""

    values: Floats
    n_values: NDArray[np.int64]


class FewValues(Stateful):
    """Distinct values of every column, as long as they are few; NaN is passed over.

    Parameters
    ----------
    n_columns : int
        Number of columns of every block.
    most : int
        A column with more values is not followed any further.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.statistics import Block, FewValues
    >>> block = Block.of(np.array([[3.0, 1.0], [1.0, 2.0], [3.0, 3.0]]))
    >>> result = FewValues(2, most=2).update(block).finish()
    >>> result.n_values, result.values[0]
    (array([ 2, -1]), array([1., 3.]))
    """

    state_names: ClassVar[tuple[str, ...]] = ("values", "count")

    def __init__(self, n_columns: int, most: int):
        self.values = np.zeros((n_columns, most))
        self.count = np.zeros(n_columns, dtype=np.int64)

    def update(self, block: Block, n_jobs: int | None = 1) -> FewValues:
        """Take in the rows of a block."""
        from tamis.statistics import _code_kernels as kernels

        columns = np.flatnonzero(self.count <= self.values.shape[1])
        if not columns.size or not block.n_rows:
            return self
        X, start, stop = block.dense_rows()
        threads = threads_for(block.n_rows * columns.size, n_jobs)
        parts = [
            (X, start, stop, columns, *piece, self.values, self.count)
            for piece in split_evenly(0, columns.size, threads)
        ]
        run_kernel(kernels.few_values, kernels.few_values, parts, threads, X.dtype)
        return self

    def merge(self, other: FewValues) -> FewValues:
        """Take in what another object has seen."""
        most = self.values.shape[1]
        too_many = other.count > most
        known = np.where(too_many, 0, other.count)[:, None] > np.arange(most)
        self.update(Block.of(np.ascontiguousarray(np.where(known, other.values, np.nan).T)))
        self.count[too_many] = most + 1
        return self

    def _check_state(self) -> None:
        most = self.values.shape[1] + 1  # one more stands for too many
        if self.count.size and not 0 <= self.count.min() <= self.count.max() <= most:
            raise ValueError("FewValues.count out of range")

    def finish(self) -> FewValuesResult:
        """Values of all rows seen."""
        too_many = self.count > self.values.shape[1]
        return FewValuesResult(self.values.copy(), np.where(too_many, -1, self.count))


class Cuts(NamedTuple):
    """Where the values of every column are cut into levels; a value on a cut is above it.

    Parameters
    ----------
    values : ndarray of float64
        The cuts of all columns, one column after the other, each ascending.
    first : ndarray of int64 of shape (n_columns + 1,)
        Where the cuts of a column begin.

    Examples
    --------
    >>> from tamis.statistics import Cuts
    >>> cuts = Cuts.of([[0.5, 1.5], [], [7.0]])
    >>> cuts.n_levels, cuts.take([2]).values
    (array([3, 1, 2]), array([7.]))
    """

    values: Floats
    first: NDArray[np.int64]

    @classmethod
    def of(cls, columns: Sequence[ArrayLike]) -> Cuts:
        """Cuts of columns, each given on its own."""
        sizes = [len(np.atleast_1d(cuts)) for cuts in columns]
        first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return cls(np.concatenate([np.empty(0), *map(np.asarray, columns)]), first)

    @property
    def n_levels(self) -> NDArray[np.int64]:
        """Levels of every column, one more than its cuts."""
        return np.diff(self.first) + 1

    def column(self, j: int) -> Floats:
        """Cuts of one column."""
        return self.values[self.first[j] : self.first[j + 1]]

    def take(self, columns: ArrayLike) -> Cuts:
        """Cuts of some columns, in the order given."""
        return Cuts.of([self.column(j) for j in np.asarray(columns)])


class PairCountsResult(NamedTuple):
    """Weights by level: rows are the levels of all columns, columns those of target and batch.

    Column j begins at row ``first_level[j]``; the target's columns come first, if it is counted,
    those of the k-th of the batch begin at ``first_slot[k]``.
    """

    counts: Floats
    first_level: NDArray[np.int64]
    first_slot: NDArray[np.int64]

    def information(self, cuts: Cuts, first_slot: int, n_levels: int) -> Floats:
        """Bits shared with the one of so many levels at a slot, its entropy, the columns' own."""
        from tamis.statistics import _code_kernels as kernels

        out = np.empty((3, self.first_level.size))
        kernels.counted_information(
            self.counts, self.first_level, cuts.n_levels, first_slot, n_levels, out
        )
        return out


class PairCounts(Stateful):
    """Weight of the rows in which two columns have two levels, for a batch against all columns.

    A row takes part in a pair if both cells are known. Columns of one level are not counted.

    Parameters
    ----------
    cuts : Cuts
        Of every column of the blocks.
    batch : ndarray of int
        The columns that all columns are paired with.
    n_codes : int, default=0
        Number of codes of the target; with 0 the target is not looked at.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.statistics import Block, Cuts, PairCounts
    >>> block = Block.of(np.array([[0.0, 5.0], [1.0, 5.0], [1.0, 7.0]]))
    >>> cuts = Cuts.of([[0.5], [6.0]])
    >>> PairCounts(cuts, np.array([0])).update(block).finish().counts[2:]
    array([[1., 1.],
           [0., 1.]])
    """

    state_names: ClassVar[tuple[str, ...]] = ("counts",)

    def __init__(self, cuts: Cuts, batch: NDArray[np.intp], n_codes: int = 0):
        self.cuts, self.batch, self.n_codes = cuts, batch.astype(np.int64), n_codes
        sizes = np.concatenate([[n_codes], cuts.n_levels[batch]])
        self.slots = np.cumsum(sizes).astype(np.int64)
        # Made with the first rows, so that it need not be sent to workers.
        self.counts: Floats | None = None

    @property
    def _late_shape(self) -> tuple[int, int]:
        return int(self.cuts.n_levels.sum()), int(self.slots[-1])

    def update(self, block: Block, n_jobs: int | None = 1) -> PairCounts:
        """Take in the rows of a block."""
        from tamis.statistics import _code_kernels as kernels

        if self.counts is None:
            self.counts = np.zeros(self._late_shape)
        X, start, stop = block.dense_rows()
        weight = block.weights if X is block.X else block.weight_slice
        # Slots of every row: that of the target, and those of the batch.
        lead = int(self.n_codes > 0)
        ones = np.empty((block.n_rows, lead + self.batch.size), dtype=np.int64)
        if lead:
            ones[:, 0] = block.target_slice
        kernels.code_ones(X, start, stop, *self.cuts, self.batch, self.slots[:-1], ones[:, lead:])
        arguments = (X, start, stop, weight, *self.cuts, ones)
        tiles = split_evenly(0, block.n_columns, -(-block.n_columns // TILE_COLUMNS))
        parts = [(*arguments, *tile, self.counts) for tile in tiles]
        threads = threads_for(block.n_rows * block.n_columns * ones.shape[1], n_jobs)
        run_kernel(kernels.count_pairs, kernels.count_pairs, parts, threads, X.dtype)
        return self

    def merge(self, other: PairCounts) -> PairCounts:
        """Take in what another object has seen of the same columns."""
        if other.counts is not None:
            self.counts = other.counts.copy() if self.counts is None else self.counts + other.counts
        return self

    def finish(self) -> PairCountsResult:
        """Counts of all rows seen."""
        counts = np.zeros(self._late_shape) if self.counts is None else self.counts
        first_level = self.cuts.first[:-1] + np.arange(self.cuts.first.size - 1)
        return PairCountsResult(counts, first_level, self.slots[:-1])
