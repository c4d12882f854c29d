"""HalfMoments: moments of many half samples at once, by products of matrices."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._base import BlockSelector, Scores
from tamis._runtime.threads import run_parts, split_evenly, threads_for
from tamis.certainty._null import blas_threads
from tamis.cutoff.fit_data import FitData
from tamis.data.target import Target
from tamis.statistics import ClassMoments, CoMoments, Moments, Ranges, WithRanges
from tamis.statistics.permuted import complete

Floats = NDArray[np.float64]
Pair = tuple[NDArray[np.intp], NDArray[np.intp]]
# Numbers that the sums of all half samples at hand may be, and cells that are centred in one go.
MOST_SUMS, TILE_CELLS = 2**22, 2**18
# Where less than this share of the squares is left around the mean, sums have lost digits.
CANCELLED = 1e-3


class HalfMoments:
    """Scores on half samples of a selector that needs moments of the columns only.

    Sums of values and squares over all half samples are a product of their indicators with the
    table. Values are deviations from the mean of their class, so that nothing cancels.

    Parameters
    ----------
    data : FitData
        The selector, and a table in memory without missing values.
    draw : callable
        Gives the two half samples of a pair, by its number.
    n_pairs : int
        How many pairs there are.
    n_jobs : int or None
        Threads of the products.
    """

    def __init__(
        self, data: FitData, draw: Callable[[int], Pair], n_pairs: int, n_jobs: int | None
    ):
        self.X, self.draw, self.n_pairs, self.lock = data.X, draw, n_pairs, Lock()
        self.n_jobs = n_jobs
        self.first, self.found = 0, list[list[Scores]]()
        self.y, self.codes, self.n_classes = None, np.zeros(len(self.X), np.intp), 1
        if data.selector._supervised:
            who = type(data.selector).__name__
            target = Target.of(data.target, data.selector.task_, None, len(self.X), who)
            if target.values is None:
                assert target.codes is not None
                self.codes = target.codes.astype(np.intp)
                self.n_classes = int(self.codes.max()) + 1
            else:
                self.y = target.values
        self.centers = np.array(
            [self.X[self.codes == k].mean(axis=0) for k in range(self.n_classes)]
        )

    @staticmethod
    def serves(data: FitData) -> bool:
        """Whether moments are all that the scores of the selector depend on."""
        selector = data.selector
        return (
            isinstance(selector, BlockSelector)
            and type(selector).__module__.startswith("tamis.")  # others may score otherwise
            and selector._passes == BlockSelector._passes
            and type(selector)._statistic is BlockSelector._statistic
            and getattr(selector, "kind", None) != "spearman"
            and complete(data.X, data.sample_weight)
        )

    def scores(self, number: int, selector: Any) -> list[Scores]:
        """Scores and constant columns on both halves of a pair."""
        size = max(1, MOST_SUMS // (4 * self.n_classes * self.X.shape[1]))
        with self.lock:
            if not self.first <= number < self.first + len(self.found):
                self.first = number
                pairs = [self.draw(k) for k in range(number, min(number + size, self.n_pairs))]
                self.found = self._score(pairs, selector)
            return self.found[number - self.first]

    def _score(self, pairs: list[Pair], selector: Any) -> list[list[Scores]]:
        halves = [rows for pair in pairs for rows in pair]
        members = np.zeros((len(halves), len(self.X)))
        for line, rows in zip(members, halves, strict=True):
            line[rows] = 1.0
        sums = self._sums(members)
        selector = copy(selector)
        found = [
            self._finish(rows, line, [one[:, h] for one in sums], selector)
            for h, (rows, line) in enumerate(zip(halves, members, strict=True))
        ]
        return [found[k : k + 2] for k in range(0, len(found), 2)]

    def _sums(self, members: Floats) -> list[Floats]:
        """Sums of deviations, of their squares and of products, ``[class, half, column]``."""
        n_columns = self.X.shape[1]
        shape = self.n_classes, len(members), n_columns
        sums = [np.empty(shape) for _ in range(2 if self.y is None else 3)]
        rows = [np.flatnonzero(self.codes == k) for k in range(self.n_classes)]
        inside = [np.ascontiguousarray(members[:, own]) for own in rows]

        def work(a: int, b: int) -> None:
            for k, own in enumerate(rows):
                values = self.X[own, a:b] - self.centers[k, a:b]
                sums[0][k, :, a:b] = inside[k] @ values
                sums[1][k, :, a:b] = inside[k] @ np.square(values)
                if self.y is not None:
                    sums[2][k, :, a:b] = inside[k] @ (values * (self.y - self.y.mean())[:, None])

        tiles = split_evenly(0, n_columns, -(-self.X.size // TILE_CELLS))
        # Threads of the BLAS would wait for each other on a busy machine, and ignore `n_jobs`.
        with blas_threads().limit(limits=1, user_api="blas"):
            run_parts(work, tiles, threads_for(len(members) * self.X.size, self.n_jobs))
        return sums

    def _finish(
        self, rows: NDArray[np.intp], line: Floats, sums: list[Floats], selector: Any
    ) -> Scores:
        """Scores on one half sample, from its sums ``[class, column]``."""
        weight = np.bincount(self.codes, line, self.n_classes)[:, None]
        gap = sums[0] / weight
        mean, spread = self.centers + gap, np.maximum(sums[1] - sums[0] * gap, 0.0)
        constant = self._sum_again(rows, sums[1], mean, spread)
        n_columns = mean.shape[1]
        statistic: Any
        if self.n_classes > 1:
            statistic = filled(ClassMoments(n_columns, self.n_classes), weight, mean, spread)
            statistic.class_weight[:] = weight[:, 0]
        elif self.y is None:
            statistic = filled(Moments(n_columns), weight[0], mean[0], spread[0])
        else:
            statistic = CoMoments(n_columns)
            filled(statistic.columns, weight[0], mean[0], spread[0])
            own, center = self.y[rows], self.y[rows].mean()
            statistic.target_mean[:] = center
            statistic.target_spread[:] = ((own - center) ** 2).sum()
            statistic.product[:] = sums[2][0] - sums[0][0] * (center - self.y.mean())
        return selector._scores(WithRanges(Ranges(n_columns), statistic), constant)

    def _sum_again(
        self, rows: NDArray[np.intp], squares: Floats, mean: Floats, spread: Floats
    ) -> NDArray[np.bool_]:
        """Put exact moments where digits were lost; which columns do not vary on these rows."""
        constant = np.zeros(mean.shape[1], dtype=bool)
        doubtful = np.flatnonzero((spread <= CANCELLED * squares).any(axis=0))
        values, codes = self.X[np.ix_(rows, doubtful)], self.codes[rows]
        constant[doubtful] = (values == values[0]).all(axis=0)
        for k in range(self.n_classes if doubtful.size else 0):
            own = values[codes == k]
            gaps = own - own[0]
            mean[k, doubtful] = own[0] + gaps.mean(axis=0)
            spread[k, doubtful] = ((gaps - gaps.mean(axis=0)) ** 2).sum(axis=0)
        return constant


def filled(moments: Any, weight: Any, mean: Floats, spread: Floats) -> Any:
    """Moments with these values."""
    moments.weight[:], moments.mean[:], moments.spread[:] = weight, mean, spread
    return moments
