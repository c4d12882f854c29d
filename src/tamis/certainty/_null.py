"""Scores of permuted targets at once, where the selector can, and what is counted of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._ranking import Ranking
from tamis._runtime.threads import split_evenly
from tamis.cutoff.fit_data import FitData
from tamis.statistics.permuted import PermutedScores

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
# Numbers in a block of permuted scores.
BLOCK_CELLS = 2**17


def permuted_scores(data: FitData) -> PermutedScores | None:
    """Scores of many orders at once, if the selector can find them for these data."""
    find = getattr(data.selector, "_permuted", None)
    return None if find is None else find(data.X, data.target, data.sample_weight)


class StepDown:
    """Counts for Westfall and Young's maxT: of every feature alone, and of the best of a tail.

    The features come worst first, so that the best of a feature and all worse ones is a running
    maximum.
    """

    def __init__(self, ranking: Ranking, least: NDArray[Any]):
        # Constant features are no hypotheses; of equal scores, the later one is the worse.
        self.columns = ranking.useful[::-1]
        self.least = np.ascontiguousarray(least[self.columns])
        self.adjusted = np.zeros(self.columns.size, np.int64)
        self.single = np.zeros(self.columns.size, np.int64)
        self.n_columns = ranking.n_columns
        self.maxima: list[NDArray[Any]] = []

    def add(self, blocks: Iterator[tuple[int, NDArray[Any]]]) -> None:
        """Take in the permuted scores of all features, ``[feature, order]`` in blocks."""
        from tamis.certainty._permutation_kernels import count_step_down

        best: Any = None
        for first, block in blocks:
            if best is None:
                best = np.full(block.shape[1], -np.inf, block.dtype)
            part = slice(first, first + len(block))
            count_step_down(block, self.least[part], best, self.adjusted[part], self.single[part])
        self.maxima.append(best)

    @property
    def n_orders(self) -> int:
        """Permutations taken in."""
        return sum(one.size for one in self.maxima)

    @property
    def wants_more(self) -> bool:
        """Every permutation counts."""
        return True

    def take(self, scores: Floats) -> None:
        """Take in the scores of one refit."""
        self.add(iter([(0, scores[self.columns, None])]))

    def state(self) -> dict[str, NDArray[Any]]:
        """What a checkpoint keeps."""
        maxima = np.concatenate([np.empty(0), *self.maxima])
        return {"adjusted": self.adjusted, "single": self.single, "maxima": maxima}

    def resume(self, state: dict[str, NDArray[Any]]) -> None:
        """Go on from the content of a checkpoint."""
        self.adjusted[:], self.single[:] = state["adjusted"], state["single"]
        self.maxima = [state["maxima"]]

    def p_values(self) -> tuple[Floats, Floats]:
        """Adjusted and unadjusted p-values of all features; 1 for constant ones."""
        adjusted, single = np.ones(self.n_columns), np.ones(self.n_columns)
        total = 1.0 + self.n_orders
        best_first = (1.0 + self.adjusted[::-1]) / total
        adjusted[self.columns[::-1]] = np.maximum.accumulate(best_first)
        single[self.columns] = (1.0 + self.single) / total
        return adjusted, single


def score_blocks(
    permuted: PermutedScores, columns: NDArray[np.intp], targets: Any, n_orders: int
) -> Iterator[tuple[int, NDArray[Any]]]:
    """Permuted scores of the features, some at a time, each with the place of the first."""
    width = max(8, BLOCK_CELLS // max(n_orders, 1))
    # Threads of ours go through the columns, each with one thread of the BLAS.
    with blas_threads().limit(limits=1, user_api="blas"):
        for first, last in split_evenly(0, columns.size, -(-columns.size // width)):
            yield first, permuted.statistic(columns[first:last], targets)


@cache
def blas_threads() -> Any:
    """What limits the threads of the BLAS, for as long as threads of ours call it."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
