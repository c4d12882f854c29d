"""PermutedPairs: ReliefF for many orders of the target, from differences of all pairs of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.threads import run_parts, split_evenly, threads_for
from tamis.data.target import Target
from tamis.filters._distances import Columns, distance_blocks, nearest_rows
from tamis.statistics.permuted import Orders, Rotations

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]


class PermutedPairs:
    """Scores of ReliefF: differences of pairs of rows times weights that depend on the target.

    Differences and distances are found once; an order of the target decides who is near whom in
    which class. Scores of all orders are one product of matrices.

    Parameters
    ----------
    columns : Columns
        The columns that vary, scaled, without missing cells.
    outcome : Target
        The target.
    n_neighbors : int
        Hits and misses per row and class.
    n_columns : int
        Columns of the table.
    n_jobs : int or None
        Threads.
    """

    rotates = False

    def __init__(
        self,
        columns: Columns,
        outcome: Target,
        n_neighbors: int,
        n_columns: int,
        n_jobs: int | None,
    ):
        n_rows = columns.values.shape[1]
        self.outcome, self.k, self.n_jobs, self.n_rows = outcome, n_neighbors, n_jobs, n_rows
        rows = np.arange(n_rows)
        blocks = distance_blocks(columns, rows, n_rows, n_jobs, lambda name, items, total: items)
        self.distances = next(iter(blocks))[1]
        # Place of a pair of rows among all pairs, in either order.
        self.place = np.zeros((n_rows, n_rows), np.intp)
        first, second = np.triu_indices(n_rows, 1)
        self.place[first, second] = self.place[second, first] = np.arange(first.size)
        self.differences = _differences(columns, first, second, n_columns)

    def targets(self, orders: Orders | Rotations) -> Any:
        """Weight of every pair of rows in the score, ``[pair, order]``."""
        assert isinstance(orders, np.ndarray)
        weights = np.zeros((len(orders), self.differences.shape[1]), np.float32)
        for line, order in zip(weights, orders, strict=True):
            parts: Any = (None if one is None else one[order] for one in self.outcome[1:])
            line[:] = self._weights(Target(self.outcome.classes, *parts))
        return np.ascontiguousarray(weights.T)

    def _weights(self, outcome: Target) -> Floats:
        rows, n_rows = np.arange(self.n_rows), self.n_rows
        codes = np.zeros(n_rows, np.int32) if outcome.codes is None else outcome.codes
        own = np.ones(n_rows)
        if outcome.codes is not None:
            own[np.bincount(codes)[codes] == 1] = 0.0  # alone in its class
        everything = n_rows * n_rows
        row, near, share = next(
            nearest_rows(self.distances, rows, codes, self.k, everything, self.n_jobs)
        )
        apart, alike = split_by_target(row, near, share * own[row], outcome)
        weight = _share(apart) - _share(alike)
        total: Any = np.bincount(self.place[row, near], weight, self.differences.shape[1])
        return total

    def statistic(self, columns: NDArray[np.intp], targets: Any) -> Singles:
        """Score of some columns for every order."""
        out = np.empty((columns.size, targets.shape[1]), np.float32)

        def work(first: int, last: int) -> None:
            np.matmul(self.differences[columns[first:last]], targets, out=out[first:last])

        tiles = split_evenly(0, columns.size, -(-columns.size // 32))
        run_parts(work, tiles, threads_for(32 * out.size, self.n_jobs))
        return out

    def least(self, scores: Floats) -> Singles:
        """Score that reaches another; both are differences of two means in [0, 1]."""
        rounding = np.finfo(np.float32).eps * np.sqrt(self.differences.shape[1])
        return (scores - rounding).astype(np.float32)

    def scores(self, statistic: NDArray[Any]) -> Floats:
        """The statistic is the score."""
        return statistic.astype(np.float64)


def _share(weight: Floats) -> Floats:
    total = weight.sum()
    return weight / total if total > 0 else weight


def _differences(
    columns: Columns, first: NDArray[np.intp], second: NDArray[np.intp], n_columns: int
) -> Singles:
    """Difference of every pair of rows, ``[column, pair]``; 0 for columns that never vary."""
    out = np.zeros((n_columns, first.size), np.float32)
    for place, (column, values) in enumerate(zip(columns.origin, columns.values, strict=True)):
        gap = values[first] - values[second]
        out[column] = gap != 0 if place >= columns.n_continuous else np.abs(gap)
    return out


def split_by_target(
    row: NDArray[np.int64], near: NDArray[np.int64], share: Floats, outcome: Target
) -> tuple[Floats, Floats]:
    """Weight of every pair as one whose targets differ, and as one whose targets agree."""
    if outcome.codes is not None:
        own, other = outcome.codes[row], outcome.codes[near]
        prior = np.bincount(outcome.codes) / outcome.codes.size
        miss = share * prior[other] / (1.0 - prior[own])
        return np.where(own != other, miss, 0.0), np.where(own == other, share, 0.0)
    assert outcome.values is not None
    target = outcome.values / (outcome.values.max() - outcome.values.min())
    gap = np.abs(target[row] - target[near])
    return share * gap, share * (1.0 - gap)
