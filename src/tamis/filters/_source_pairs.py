"""How much columns of a table that is not in memory say about its target and each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tamis._columns import constant_of
from tamis.exceptions import InputError
from tamis.filters._known import PAIRS, Known
from tamis.filters._uncertainty import TINY, with_f
from tamis.passes.columns import memory_of
from tamis.passes.engine import Opened
from tamis.statistics import (
    Block,
    ClassMoments,
    CoMoments,
    CrossProducts,
    Cuts,
    PairCounts,
    Ranges,
    Stateful,
    WithRanges,
)
from tamis.statistics.pair_counts import PairCountsResult

Floats = NDArray[np.float64]
Columns = NDArray[np.intp]
# A relation from bits shared and the entropies of both sides.
Measure = Callable[[Floats, Floats, Floats], Floats]

# Columns that are compared with all others in one walk.
MOST_LINEAR, MOST_CODED = 64, 16
# Share of the memory for what a walk adds up, and for rows that wait to be asked for.
SHARE = 8


class PairRows:
    """Relations of one column with all others, found for many columns in one walk.

    Each row is asked for once. A walk finds, beside the row that is wanted, those of the columns
    that are likely to be wanted next.

    Parameters
    ----------
    walk : callable
        Finds the rows of some columns, from those columns.
    cost : ndarray of shape (n_columns,)
        Bytes that a column takes in a walk.
    most : int
        Columns per walk.
    memory : int
        Bytes for a walk, and for rows that wait.
    known : Known
        Where the search is kept before every walk.
    """

    def __init__(
        self,
        walk: Callable[[Columns], Floats],
        cost: Floats,
        most: int,
        memory: int,
        known: Known,
    ):
        self.walk, self.cost, self.most, self.memory = walk, cost, most, memory
        self.known, self.rows = known, known.rows(cost.size)

    def row(self, column: int, promising: Callable[[], Columns]) -> Floats:
        """Relations of `column`; `promising` are the columns left, the most likely ones first."""
        if column not in self.rows:
            self._find(column, promising())
        return self.rows.pop(column)

    def _find(self, column: int, promising: Columns) -> None:
        batch = self.known.batch(column)
        if batch is None:
            batch = self._choose(column, [int(j) for j in promising if j != column])
        self.known.keep(batch, self.rows, self.cost.size)
        found = self.walk(batch)
        self.rows.update({int(j): row.copy() for j, row in zip(batch, found, strict=True)})

    def _choose(self, column: int, likely: list[int]) -> Columns:
        """Columns for the next walk; of the rows that wait, those without room are dropped."""
        unknown = [j for j in likely if j not in self.rows]
        batch = np.array([column, *unknown[: self.most - 1]])
        batch = batch[: max(1, int((np.cumsum(self.cost[batch]) <= self.memory).sum()))]
        room = max(1, self.memory // (8 * self.cost.size))
        kept = [j for j in likely if j in self.rows][: max(0, room - batch.size)]
        self.rows = {j: self.rows[j] for j in kept}
        return batch


@dataclass
class Scaled(Stateful):
    """A statistic of columns times a factor, for numbers whose squares would underflow."""

    state_names: ClassVar[tuple[str, ...]] = ("statistic",)

    statistic: Any
    factor: Floats

    def update(self, block: Block, n_jobs: int | None = 1) -> Scaled:
        """Take in the rows of a block."""
        X, start, stop = block.dense_rows()
        target = None if block.target is None else block.target[block.start : block.stop]
        scaled = Block.of(X[start:stop] * self.factor, target, block.weight_slice)
        self.statistic.update(scaled, n_jobs)
        return self

    def merge(self, other: Scaled) -> Scaled:
        """Take in what another object has seen."""
        self.statistic.merge(other.statistic)
        return self

    def finish(self) -> Any:
        """Result of the statistic."""
        return self.statistic.finish()


class _Pairs:
    """What both kinds of relations share: an engine for the columns of interest, and walks."""

    def __init__(self, selector: Any, opened: Opened):
        self.selector, self.opened = selector, opened
        self.memory = memory_of(opened.engine.source) // SHARE
        self.known = Known(opened.engine)

    def _walk(self, name: str, statistic: Any, columns: Columns) -> Any:
        """Walk over some columns, with the checkpoint of the fit."""
        engine = self.opened.engine.over(columns)
        return self.selector._run_pass(name, statistic, engine).finish()


class LinearPairs(_Pairs):
    """As `LinearColumns`, for a source: relevance from moments, correlations from products.

    Parameters
    ----------
    selector : BaseSelector
        Runs passes and reports progress.
    opened : Opened
        The table, with classes or a centred numeric target.
    """

    def __init__(self, selector: Any, opened: Opened):
        super().__init__(selector, opened)
        gathered = selector._run_pass("moments", self._moments(), opened.engine)
        ranges = gathered.ranges.finish()
        self.constant = constant_of(selector, ranges)
        self.columns = np.flatnonzero(~self.constant)
        peak = np.maximum(-ranges.low, ranges.high)
        tiny = ~self.constant & (peak < TINY)
        self.factor = np.where(tiny, 1.0 / np.maximum(peak, 1e-300), 1.0)
        if tiny.any():
            scaled = Scaled(self._moments(), self.factor)
            gathered = selector._run_pass("tiny", scaled, opened.engine).statistic
        self.moments = gathered.other
        self.rows = PairRows(
            self._correlations, np.full(self.columns.size, 8.0 * self.columns.size),
            MOST_LINEAR, self.memory, self.known,
        )  # fmt: skip

    def _moments(self) -> WithRanges:
        n = self.opened.n_columns
        if self.opened.classes is not None:
            return WithRanges(Ranges(n), ClassMoments(n, self.opened.n_classes))
        return WithRanges(Ranges(n), CoMoments(n))

    def with_target(self) -> Floats:
        """F statistic of the columns that vary; finds their means and deviations, too."""
        if self.opened.classes is not None:
            return self._between_classes()
        return self._along_line()

    def _between_classes(self) -> Floats:
        result = self.moments.finish()
        compared = result.compare()
        n_groups = (result.weight > 0).sum(axis=0)
        spread = compared.between + compared.within
        largest = result.weight.argmax(axis=0)
        # A class mean less its gap to the overall mean is the overall mean.
        self.mean = np.take_along_axis(result.mean - compared.gap, largest[None], axis=0)[0]
        self.spread = spread
        share = np.divide(compared.between, spread, out=np.zeros_like(spread), where=spread > 0)
        return with_f(share, compared.total, n_groups)[1][self.columns]

    def _along_line(self) -> Floats:
        sums: CoMoments = self.moments
        weight = sums.columns.weight
        self.mean, self.spread = sums.columns.mean, sums.columns.spread
        whole = sums.target_spread + weight * sums.target_mean**2
        usable = sums.target_spread > 1e-12 * np.maximum(whole, 1e-300)
        # Roots first: the product of two small sums may be 0.
        scale = np.sqrt(self.spread) * np.sqrt(sums.target_spread)
        slope = np.divide(sums.product, scale, out=np.zeros_like(scale), where=usable & (scale > 0))
        return with_f(slope**2, weight, np.full(weight.size, 2))[1][self.columns]

    def relations(self, newest: int, left: Columns, likely: Callable[[], Columns]) -> Floats:
        """Absolute correlation of the columns in `left` with one, counted among those that vary."""
        return self.rows.row(newest, likely)[left]

    def _correlations(self, batch: Columns) -> Floats:
        mean, spread = self.mean[self.columns], self.spread[self.columns]
        statistic: Any = CrossProducts(batch, mean, 1.0 / np.sqrt(spread))
        factor = self.factor[self.columns]
        if (factor != 1.0).any():
            statistic = Scaled(statistic, factor)
        return np.abs(self._walk(PAIRS, statistic, self.columns))


class CodedPairs(_Pairs):
    """As `CodedColumns`, for a source: what joint counts of the levels of columns say.

    Parameters
    ----------
    selector : BaseSelector
        Runs passes and reports progress.
    opened : Opened
        The table, with a target of codes.
    columns : ndarray of int
        The columns of interest; from here on they are counted among themselves.
    cuts : Cuts
        Of these columns.
    measure : callable
        Makes a relation of shared bits and the entropies of both sides.
    """

    def __init__(
        self, selector: Any, opened: Opened, columns: Columns, cuts: Cuts, measure: Measure
    ):
        super().__init__(selector, opened)
        self.columns, self.cuts, self.measure = columns, cuts, measure
        self.left = np.arange(columns.size)
        cost = 8.0 * cuts.n_levels * cuts.n_levels.sum()
        self.rows = PairRows(self._relations, cost, MOST_CODED, self.memory, self.known)

    def with_target(self) -> Floats:
        """Relation of every column with the target."""
        nobody = np.empty(0, dtype=np.intp)
        n_codes = self.opened.n_codes
        result = self._walk("relevance", PairCounts(self.cuts, nobody, n_codes), self.columns)
        return self.measure(*_bits(result, self.cuts, 0, n_codes))

    def relations(self, newest: int, left: Columns, likely: Callable[[], Columns]) -> Floats:
        """Relation of the columns in `left` with one; `likely` are those that come next."""
        self.left = left
        return self.rows.row(newest, likely)[left]

    def _relations(self, batch: Columns) -> Floats:
        """Relations of a batch with the columns left, from one walk over these; else NaN."""
        inside = np.union1d(batch, self.left)
        cuts, places = self.cuts.take(inside), np.searchsorted(inside, batch)
        levels = cuts.n_levels[places]
        self._check_room(8 * int(levels.sum()) * int(cuts.n_levels.sum()))
        result = self._walk(PAIRS, PairCounts(cuts, places), self.columns[inside])
        rows = np.full((batch.size, self.columns.size), np.nan)
        for row, first, n in zip(rows, result.first_slot.tolist(), levels.tolist(), strict=True):
            row[inside] = self.measure(*_bits(result, cuts, first, n))
        return rows

    def _check_room(self, needed: int) -> None:
        if needed > SHARE * self.memory:
            raise InputError(
                f"{type(self.selector).__name__}: expected joint counts that fit the memory of "
                f"{SHARE * self.memory:,} bytes, got {needed:,} bytes for one column. Use fewer "
                "bins, or allow more memory."
            )


def _bits(result: PairCountsResult, cuts: Cuts, first_slot: int, one_levels: int) -> Floats:
    """Bits shared with one of the batch, its entropy and those of the columns."""
    from tamis.statistics import _code_kernels as kernels

    out = np.empty((3, result.first_level.size))
    kernels.counted_information(
        result.counts, result.first_level, cuts.n_levels, first_slot, one_levels, out
    )
    return out
