"""PermutedGains, PermutedCuts: scores by bins of the columns, for many orders of the target."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.threads import run_kernel, split_evenly, threads_for
from tamis.statistics.block import Block
from tamis.statistics.histogram import Bins
from tamis.statistics.permuted import Floats, Orders, Rotations

# Codes of slots are bytes.
MOST_BINS = 255
# Columns per task; the result does not depend on it.
TASK_COLUMNS = 32
# Bits of a word.
WORD = 64
# Scores are known to this much of themselves and of their scale.
ROUNDING = 1e-11


class PermutedBins:
    """Base: slots of the cells, found once, and scores that are their own statistic.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns)
        The table, without missing values.
    bins : Bins
        Where the bins of the columns lie.
    n_jobs : int or None, default=None
        Threads.
    """

    rotates = False

    def __init__(self, X: NDArray[Any], bins: Bins, n_jobs: int | None = None):
        from tamis.statistics._bit_kernels import slots_of

        X = bins.placed(Block.of(X), n_jobs).X
        self.n_rows, self.n_columns, self.n_bins = *X.shape, bins.n_bins
        self.n_jobs = n_jobs
        self.slots = np.empty((self.n_columns, self.n_rows), np.uint8)

        def work(first: int, last: int) -> None:
            slots_of(X, tuple(bins), first, last, self.slots)

        self._over(self.n_columns, slots_of, work, f"{X.dtype}{X.flags.c_contiguous}")

    def least(self, scores: Floats) -> Floats:
        """Score that counts as reaching another; rounding must not decide."""
        return scores - ROUNDING * (1.0 + np.abs(scores))

    def scores(self, statistic: Floats) -> Floats:
        """The statistic is the score; rounding may leave it a little below 0 or above 1."""
        return np.maximum(statistic, 0.0)

    def _over(
        self, n_columns: int, kernel: Any, work: Any, dtype: Any = "", n_orders: int = 1
    ) -> None:
        """Run a kernel over columns, on threads."""
        tasks = split_evenly(0, n_columns, -(-n_columns // TASK_COLUMNS))
        threads = threads_for(max(self.n_rows, 16 * n_orders) * n_columns, self.n_jobs)
        run_kernel(kernel, work, tasks, threads, dtype)


class PermutedGains(PermutedBins):
    """Gain in entropy of classes by bins (``cumulative=False``) or by the best cut between bins.

    Rows of bins and of classes are bits of words, so that joint counts are numbers of bits that two
    words share.

    Parameters
    ----------
    X, bins, n_jobs
        As for :class:`PermutedBins`.
    codes : ndarray of int of shape (n_rows,)
        Class of every row.
    cumulative : bool
        Whether a score is that of the best cut, or of all bins together.
    unit : float
        What the gain, in nats, is divided by.
    costs : ndarray of shape (n_columns,) or None, default=None
        What the scores of the columns are divided by.

    Notes
    -----
    Memory: ``n_bins + 8`` bits per cell of the table, and as many as ``n_classes`` bits per row
    for every order at hand.
    """

    def __init__(
        self,
        X: NDArray[Any],
        bins: Bins,
        codes: NDArray[Any],
        *,
        cumulative: bool,
        unit: float,
        costs: Floats | None = None,
        n_jobs: int | None = None,
    ):
        from tamis.statistics._bit_kernels import pack_slots

        super().__init__(X, bins, n_jobs)
        sizes = np.bincount(codes)
        order = np.argsort(sizes, kind="stable")  # the rows of the largest class are the rest
        place = np.empty_like(order)
        place[order] = np.arange(order.size)
        # Few bytes stay in the cache while rows are looked up in random order.
        self.codes = place[codes].astype(np.uint8 if order.size <= 255 else np.int32)
        self.cumulative, self.costs = cumulative, costs
        self.class_sizes = sizes[order]
        self._tabulate(unit * self.n_rows)
        shape = (self.n_columns, self.n_bins)
        masks = np.empty((*shape, -(-self.n_rows // WORD)), np.uint64)
        self.bits = masks, np.empty(shape, np.int64), np.empty(self.n_columns, np.int64)

        def work(first: int, last: int) -> None:
            pack_slots(self.slots, self.n_bins, cumulative, first, last, *self.bits)

        self._over(self.n_columns, pack_slots, work)
        del self.slots

    def _tabulate(self, unit: float) -> None:
        """Values of counts in a mask, one table per class, and of its size; they sum to a score."""
        n = np.arange(self.n_rows + 1.0)
        n[1:] *= np.log(n[1:])
        n /= unit
        whole, per_class = n[-1], n[self.class_sizes].sum()
        self.tables = np.tile(n, (self.class_sizes.size, 1))
        self.constants = -n
        if self.cumulative:
            for table, size in zip(self.tables, self.class_sizes, strict=True):
                table[: size + 1] += n[size::-1]
            self.constants = whole - per_class - n - n[::-1]
            self.offset = 0.0
        else:
            self.offset = whole - per_class

    def _joint_table(self) -> Floats:
        """Value of a mask of two classes by its size and its rows of the first."""
        size = np.arange(self.n_rows + 1)[:, None]
        count = np.arange(self.n_rows + 1)
        other = np.clip(size - count, 0, self.n_rows)  # others than these never happen
        return self.constants[size] + self.tables[0][count] + self.tables[1][other]

    def targets(self, orders: Orders | Rotations) -> Any:
        """Rows of the classes as bits, for every order, and the number of orders."""
        from tamis.statistics._bit_kernels import LANES, pack_classes

        assert isinstance(orders, np.ndarray)
        n_parts, n_words = -(-len(orders) // LANES), -(-self.n_rows // WORD)
        out = np.zeros((n_parts, self.class_sizes.size - 1, n_words, LANES), np.uint64)

        def work(first: int, last: int) -> None:
            pack_classes(self.codes, orders, first, last, out)

        threads = threads_for(orders.size, self.n_jobs)
        run_kernel(pack_classes, work, split_evenly(0, n_parts, threads), threads)
        return out, len(orders)

    def statistic(self, columns: NDArray[np.intp], targets: Any) -> Floats:
        """Score of some columns for every order."""
        from tamis.statistics import _bit_kernels as kernels

        members, n_orders = targets
        out = np.empty((columns.size, n_orders))
        kernel: Any = kernels.permuted_gains
        how: tuple[Any, ...] = (self.constants, members, self.tables)
        if self.n_rows <= WORD and self.class_sizes.size == 2:
            kernel, how = kernels.permuted_short_gains, (members, self._joint_table())

        def work(first: int, last: int) -> None:
            kernel(columns, self.bits, *how, not self.cumulative, first, last, out)

        self._over(columns.size, kernel, work, n_orders=n_orders)
        if not self.cumulative:
            out += self.offset
        if self.costs is not None:
            out /= self.costs[columns, None]
        return out


class PermutedCuts(PermutedBins):
    """Share of the variance of a numeric target that the best cut between two bins explains.

    Parameters
    ----------
    X, bins, n_jobs
        As for :class:`PermutedBins`.
    vector : ndarray of shape (n_rows,)
        The target, with mean 0 and squares that sum to 1.
    """

    def __init__(self, X: NDArray[Any], bins: Bins, vector: Floats, *, n_jobs: int | None = None):
        super().__init__(X, bins, n_jobs)
        self.vector = vector

    def targets(self, orders: Orders | Rotations) -> Any:
        """The target in every order, ``[part, row, order]``, and the number of orders."""
        from tamis.statistics._bit_kernels import SUM_LANES

        assert isinstance(orders, np.ndarray)
        n_parts = -(-len(orders) // SUM_LANES)
        out = np.zeros((n_parts, self.n_rows, SUM_LANES))
        for part in range(n_parts):
            some = orders[part * SUM_LANES : (part + 1) * SUM_LANES]
            out[part, :, : len(some)] = self.vector[some.T]
        return out, len(orders)

    def statistic(self, columns: NDArray[np.intp], targets: Any) -> Floats:
        """Score of some columns for every order."""
        from tamis.statistics._bit_kernels import permuted_cuts

        vectors, n_orders = targets
        out = np.empty((columns.size, n_orders))

        def work(first: int, last: int) -> None:
            permuted_cuts(columns, self.slots, self.n_bins, vectors, first, last, out)

        self._over(columns.size, permuted_cuts, work, n_orders=n_orders)
        return out
