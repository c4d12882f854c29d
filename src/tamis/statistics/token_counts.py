"""TokenCounts: how close the cells of every column lie to their own class."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from tamis._runtime.threads import run_kernel
from tamis.statistics.block import Block, Floats
from tamis.statistics.class_moments import ClassMomentsResult
from tamis.statistics.histogram import ROUNDING, sum_block
from tamis.statistics.state import Stateful


class TokenCountsResult(NamedTuple):
    """Finished counts: ``table[column, slot]``; the last slot holds cells without a token."""

    table: Floats

    @property
    def counts(self) -> Floats:
        """Weight per column and token."""
        return self.table[:, :-1]

    @property
    def missing(self) -> Floats:
        """Weight of the cells without a token, per column."""
        return self.table[:, -1]


class TokenCounts(Stateful):
    """Sum of the weights per column and token of closeness to the own class.

    The closeness of a cell lies in [0, 1], which is cut into `n_tokens` equal intervals. With the
    squared distances d to the class means, it is ``(1 / d_own) / sum(1 / d)`` or, as complement,
    ``1 - d_own / sum(d)``; for two classes that is the same number. A value on a border counts
    above it. A cell has no token if it is missing, if its class has no mean in the column, or if
    no other class has one.

    Parameters
    ----------
    moments : ClassMomentsResult
        Means and variances of the classes, from a first pass.
    n_tokens : int, default=6
        Number of intervals.
    closeness : {"inverse", "complement"}, default="inverse"
        Share of the inverse distances, or one minus the share of the distances.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.statistics import Block, ClassMoments, TokenCounts
    >>> block = Block.of(np.array([[0.0], [2.0], [9.0]]), target=np.array([0, 0, 1], np.int32))
    >>> moments = ClassMoments(1, n_classes=2).update(block).finish()
    >>> TokenCounts(moments, n_tokens=4).update(block).finish().counts
    array([[0., 0., 0., 3.]])
    """

    state_names: ClassVar[tuple[str, ...]] = ("table", "weight_seen", "sparse_rows", "stored")

    def __init__(self, moments: ClassMomentsResult, n_tokens: int = 6, closeness: str = "inverse"):
        known = moments.weight > 0
        self.centers = np.where(known & (known.sum(axis=0) > 1), moments.mean, np.nan)
        self.unit = _units(moments)
        self.n_tokens = n_tokens
        self.complement = closeness == "complement"
        self.table = np.zeros((known.shape[1], n_tokens + 1))
        self.weight_seen = 0.0
        # Of sparse blocks: weight of the rows per class, and of their stored cells.
        self.sparse_rows = np.zeros(known.shape[0])
        self.stored: Floats | None = None

    def update(self, block: Block, n_jobs: int | None = 1) -> TokenCounts:
        """Take in the rows of a block."""
        from tamis.statistics import _token_kernels as kernels

        self.weight_seen += float(block.weight_slice.sum())
        arguments: tuple[Any, ...] = (block.target, block.weights, *self._setup)
        if block.layout == "sparse":
            self.sparse_rows += np.bincount(
                block.target_slice, block.weight_slice, self.sparse_rows.size
            )
            if self.stored is None:
                self.stored = np.zeros(self.centers.shape)
            arguments = (*arguments, self.stored)
        kernel = getattr(kernels, f"tokens_{block.layout}")
        sum_block(kernel, block, arguments, self.table[None], n_jobs)
        return self

    @property
    def _setup(self) -> tuple[Floats, Floats, int, bool]:
        return self.centers, self.unit, self.n_tokens, self.complement

    @property
    def _late_shape(self) -> tuple[int, ...]:
        return self.centers.shape

    def merge(self, other: TokenCounts) -> TokenCounts:
        """Take in what another object has seen with the same moments and tokens."""
        self.table += other.table
        self.weight_seen += other.weight_seen
        self.sparse_rows += other.sparse_rows
        if other.stored is not None:
            self.stored = other.stored + (0.0 if self.stored is None else self.stored)
        return self

    def finish(self) -> TokenCountsResult:
        """Count all rows seen; zeros that sparse blocks do not store are filled in."""
        from tamis.statistics import _token_kernels as kernels

        table = self.table.copy()
        if self.stored is None:
            return TokenCountsResult(table)
        rows = self.sparse_rows[:, None]
        zeros = rows - self.stored
        zeros[zeros < ROUNDING * rows] = 0.0  # rounding of the sums is not a row
        slots = np.empty(self.centers.shape, dtype=np.int64)
        run_kernel(kernels.zero_slots, kernels.zero_slots, [(*self._setup, slots)], 1)
        columns = np.arange(table.shape[0])
        for k in range(self.sparse_rows.size):
            table[columns, slots[k]] += zeros[k]
        return TokenCountsResult(table)


def _units(moments: ClassMomentsResult) -> Floats:
    """One over the size of a column's values: closeness does not depend on it, overflow does."""
    seen = moments.weight > 0
    size = np.where(seen, np.abs(moments.mean), 0.0).max(axis=0, initial=0.0)
    size += np.sqrt(np.where(seen, moments.variance, 0.0).max(axis=0, initial=0.0))
    with np.errstate(over="ignore", divide="ignore"):
        unit = 1.0 / size
    return np.where(np.isfinite(unit), unit, 0.0)
