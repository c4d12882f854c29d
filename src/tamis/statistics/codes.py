"""Codes: the columns of a table as small whole numbers, and what their joint counts say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tamis._runtime.threads import run_kernel, run_parts, split_evenly, threads_for
from tamis._validation import Choice, Number
from tamis.statistics.block import Block, Floats
from tamis.statistics.histogram import Bins

MISSING = 255
STRATEGIES = ("uniform", "quantile", "mdl")
STRATEGY = Choice(STRATEGIES)
N_BINS = Number(int, low=2, high=254)
# Columns coded at a time by one thread.
TILE = 64
# Up to this total weight, x log(x) of whole numbers is looked up.
LARGEST_TABLE = 2**20


class Codes(NamedTuple):
    """Level of every cell, one row per column, and levels per column; 255 is a missing cell."""

    table: NDArray[np.uint8]
    n_levels: NDArray[np.int64]

    def column(self, j: int) -> tuple[NDArray[np.int64], int]:
        """Levels of one column, -1 where missing, and how many there are."""
        row = self.table[j].astype(np.int64)
        row[row == MISSING] = -1
        return row, int(self.n_levels[j])


def code_columns(
    X: Any,
    *,
    n_bins: int,
    strategy: str,
    classes: NDArray[Any] | None = None,
    weight: Floats | None = None,
    n_jobs: int | None = None,
) -> Codes:
    """Put the values of every column of a table, finite or NaN, into few levels.

    Strategies are "uniform", equal widths; "quantile", equal weights, with equal values together;
    and "mdl", cuts that tell the `classes` apart (Fayyad and Irani 1993). With the first two, a
    column of at most `n_bins` distinct values keeps them as its levels. Every row should carry
    weight.
    """
    from tamis.statistics import _code_kernels as kernels

    n_rows, n_columns = X.shape
    weight = np.ones(n_rows) if weight is None else weight
    codes = Codes(np.empty((n_columns, n_rows), np.uint8), np.empty(n_columns, np.int64))
    if sparse.issparse(X):
        X = X.tocsc()
    kernel: Any = getattr(kernels, f"code_{strategy}")
    settings: tuple[Any, ...] = (weight, n_bins)
    if strategy == "mdl":
        assert classes is not None
        logs = x_log_x_table(weight)
        settings = (weight, classes.astype(np.int64), int(classes.max()) + 1, logs)

    def tile(first: int, last: int) -> None:
        part = X[:, first:last]
        dense = part.toarray() if sparse.issparse(part) else part
        values = np.ascontiguousarray(dense.T, dtype=np.float64)
        if strategy == "uniform":
            # fmin and fmax pass over NaN; a column of nothing else keeps NaN silently.
            low, high = np.fmin.reduce(values, axis=1), np.fmax.reduce(values, axis=1)
            how: tuple[Any, ...] = (tuple(Bins.between(low, high, n_bins)),)
        else:
            how = (np.argsort(values, axis=1), *settings)
        kernel(values, *how, codes.table[first:last], codes.n_levels[first:last])

    tiles = split_evenly(0, n_columns, -(-n_columns // TILE))
    run_kernel(kernel, tile, tiles[:1], 1)  # compile once, not once per thread
    run_parts(tile, tiles[1:], threads_for(n_rows * n_columns * 8, n_jobs))
    return codes


def x_log_x_table(weight: Floats) -> Floats:
    """``n log2(n)`` for all sums of weights, if they are whole and few; else nothing."""
    total = float(weight.sum())
    if total > LARGEST_TABLE or not bool((weight == np.floor(weight)).all()):
        return np.empty(0)
    n = np.arange(int(total) + 1, dtype=np.float64)
    n[1:] *= np.log2(n[1:])
    return n


def rows_with_weight(X: Any, target: Any, weight: Floats | None) -> tuple[Any, Any, Floats]:
    """Table, target and weights without the rows of weight 0; weights of 1 if none are given."""
    if weight is None:
        return X, target, np.ones(X.shape[0])
    kept = weight > 0
    return (X, target, weight) if kept.all() else (X[kept], target[kept], weight[kept])


class CodedColumns:
    """Columns as codes, and what joint counts say about pairs, in the rows that both know."""

    def __init__(self, codes: Codes, weight: Floats, n_jobs: int | None):
        self.codes, self.weight, self.n_jobs = codes, weight, n_jobs
        self.logs = x_log_x_table(weight)

    def pairs(self, one: NDArray[Any], n_levels: int, columns: NDArray[Any] | None) -> Floats:
        """Bits shared with `one` (-1: missing), and both entropies; 0 for columns of one level."""
        from tamis.statistics import _code_kernels as kernels

        table, levels = self.codes
        chosen = np.arange(table.shape[0]) if columns is None else columns.astype(np.int64)
        out = np.empty((3, chosen.size))
        arguments = (table, levels, one.astype(np.int64), n_levels, self.weight, self.logs, chosen)
        threads = threads_for(2 * chosen.size * table.shape[1], self.n_jobs)
        parts = [(*arguments, a, b, out) for a, b in split_evenly(0, chosen.size, threads)]
        run_kernel(kernels.joint_information, kernels.joint_information, parts, threads)
        return out


def symmetrical(shared: Floats, left: Floats, right: Floats) -> Floats:
    """Symmetrical uncertainty from bits shared and the entropies of both sides."""
    both = left + right
    share = np.divide(2.0 * shared, both, out=np.zeros_like(both), where=both > 0)
    return np.minimum(share, 1.0)


@dataclass(frozen=True)
class CutFinder:
    """Finds the cuts of columns that are there with all rows; it can be sent to a worker."""

    n_bins: int
    strategy: str
    n_jobs: int | None

    def __call__(self, block: Block) -> list[Floats]:
        """Cuts of every column: the least value of each level but the first."""
        from tamis.statistics import _code_kernels as kernels

        codes = code_columns(
            block.X, n_bins=self.n_bins, strategy=self.strategy, classes=block.target,
            weight=block.weights, n_jobs=self.n_jobs,
        )  # fmt: skip
        least = np.full((block.n_columns, int(codes.n_levels.max())), np.inf)
        parts = [(block.X.T, codes.table, least)]
        run_kernel(kernels.least_of_levels, kernels.least_of_levels, parts, 1, block.X.dtype)
        return [
            values[1:n].copy() for values, n in zip(least, codes.n_levels.tolist(), strict=True)
        ]
