"""PairStatistics of a table larger than memory, in files or on the workers of Dask."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tamis._columns import constant_of
from tamis.exceptions import InputError, TamisError
from tamis.filters.pairs import Columns, Floats, Measure, PairStatistics, S
from tamis.passes.columns import ColumnBlocks, memory_of
from tamis.passes.memory import Opened
from tamis.statistics import (
    Bins,
    Block,
    ClassMoments,
    CoMoments,
    CrossProducts,
    Cuts,
    FewValues,
    PairCounts,
    Ranges,
    Stateful,
    WithRanges,
)
from tamis.statistics.codes import CutFinder
from tamis.statistics.correlations import TINY, with_f

Rows = dict[int, Floats]

# Names in the checkpoint: of cuts, of a search, and of the pass that it waits for.
CUTS, SEARCH, PAIRS = "cuts", "search", "pairs"
# Columns that are compared with all others in one pass.
MOST_LINEAR, MOST_CODED = 64, 16
# Share of the memory for what a pass adds up, and for rows that wait to be asked for.
SHARE = 8
# What a cell takes while the cuts of its column are found: value, copy, order, code.
CELL_BYTES = 32
# Columns that are read at a time: more would not make reading faster.
MOST_COLUMNS = 4096


class _SourcePairs(PairStatistics):
    """Passes over some columns, and a checkpoint, for both kinds of relations.

    A pass finds, beside the row of relations that is wanted, those of at most `most` features
    likely to be wanted next, as the memory allows: `cost` is what each of them takes in a pass.
    """

    cost: Floats
    most: int
    rows: Rows

    def __init__(self, selector: Any, opened: Opened):
        self.selector, self.opened, self.n_rows = selector, opened, opened.n_rows
        self.memory = memory_of(opened.engine.source) // SHARE
        self.kept = KeptSearch(opened.engine)

    def _row(
        self, column: int, promising: Callable[[], Columns], find: Callable[[Columns], Floats]
    ) -> Floats:
        """Relations of a feature; `promising` are the features left, the most likely ones first."""
        if column not in self.rows:
            batch = self.kept.batch(column)
            if batch is None:
                batch = self._choose(column, [int(j) for j in promising() if j != column])
            self.kept.keep(batch, self.rows, self.cost.size)
            found = zip(batch, find(batch), strict=True)
            self.rows.update({int(j): row.copy() for j, row in found})
        return self.rows.pop(column)

    def _choose(self, column: int, likely: list[int]) -> Columns:
        """Features for the next pass; of the rows that wait, those without room are dropped."""
        unknown = [j for j in likely if j not in self.rows]
        batch = np.array([column, *unknown[: self.most - 1]])
        batch = batch[: max(1, int((np.cumsum(self.cost[batch]) <= self.memory).sum()))]
        room = max(1, self.memory // (8 * self.cost.size))
        kept = [j for j in likely if j in self.rows][: max(0, room - batch.size)]
        self.rows = {j: self.rows[j] for j in kept}
        return batch

    def resume(self, search: S) -> S:
        """The search as the checkpoint has it."""
        return self.kept.follow(search, self.columns.size)

    def _pass(self, name: str, statistic: Any, columns: Columns) -> Any:
        """Result of a pass over some columns, with the checkpoint of the fit."""
        engine = self.opened.engine.over(columns)
        return self.selector._run_pass(name, statistic, engine).finish()


class LinearPairs(_SourcePairs):
    """F statistics from moments, correlations from products of centred columns."""

    def __init__(self, selector: Any, opened: Opened):
        super().__init__(selector, opened)
        gathered = selector._run_pass("moments", self._moments(), opened.engine)
        ranges = gathered.ranges.finish()
        self.constant = constant_of(selector, ranges)
        selector._check_varies(self.constant, self.n_rows)
        self.columns = np.flatnonzero(~self.constant)
        peak = np.maximum(-ranges.low, ranges.high)
        tiny = ~self.constant & (peak < TINY)
        self.factor = np.where(tiny, 1.0 / np.maximum(peak, 1e-300), 1.0)
        if tiny.any():
            scaled = Scaled(self._moments(), self.factor)
            gathered = selector._run_pass("tiny", scaled, opened.engine).statistic
        self.moments = gathered.other
        self.cost, self.most = np.full(self.columns.size, 8.0 * self.columns.size), MOST_LINEAR
        self.rows = self.kept.rows(self.columns.size)

    def _moments(self) -> WithRanges:
        n, n_classes = self.opened.n_columns, self.opened.n_classes
        return WithRanges(Ranges(n), ClassMoments(n, n_classes) if n_classes else CoMoments(n))

    def with_target(self) -> Floats:
        """F statistic of the columns that vary; finds their means and deviations, too."""
        return self._along_line() if self.opened.classes is None else self._between_classes()

    def _between_classes(self) -> Floats:
        result = self.moments.finish()
        compared = result.compare()
        n_groups = (result.weight > 0).sum(axis=0)
        largest = result.weight.argmax(axis=0)
        # A class mean less its gap to the overall mean is the overall mean.
        self.mean = np.take_along_axis(result.mean - compared.gap, largest[None], axis=0)[0]
        self.spread = spread = compared.between + compared.within
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
        """Absolute correlation of one feature with those in `left`."""
        return self._row(newest, likely, self._correlations)[left]

    def _correlations(self, batch: Columns) -> Floats:
        mean, spread = self.mean[self.columns], self.spread[self.columns]
        statistic: Any = CrossProducts(batch, mean, 1.0 / np.sqrt(spread))
        factor = self.factor[self.columns]
        if (factor != 1.0).any():
            statistic = Scaled(statistic, factor)
        return np.abs(self._pass(PAIRS, statistic, self.columns))


class CodedPairs(_SourcePairs):
    """What joint counts of the levels of columns say; `measure` makes a relation of it."""

    def __init__(self, selector: Any, opened: Opened, measure: Measure):
        super().__init__(selector, opened)
        self.measure = measure
        cuts, self.constant = find_cuts(selector, opened)
        selector._check_varies(self.constant, self.n_rows)
        self.n_levels = cuts.n_levels
        self.columns = np.flatnonzero(~self.constant)
        # Columns of one level share nothing with anything, and are not read again. From here on
        # the others are numbered among themselves.
        self.has_levels = self.n_levels[self.columns] > 1
        self.place = np.cumsum(self.has_levels) - 1
        self.read = self.columns[self.has_levels]
        self.cuts = cuts.take(self.read)
        self.left = np.arange(self.read.size)
        self.cost = 8.0 * self.cuts.n_levels * self.cuts.n_levels.sum()
        self.most, self.rows = MOST_CODED, self.kept.rows(self.read.size)

    def with_target(self) -> Floats:
        """Relation of every feature with the target."""
        found, n_codes = np.zeros(self.columns.size), self.opened.n_codes
        if self.read.size:
            counts = PairCounts(self.cuts, np.empty(0, dtype=np.intp), n_codes)
            result = self._pass("relevance", counts, self.read)
            found[self.has_levels] = self.measure(*result.information(self.cuts, 0, n_codes))
        return found

    def relations(self, newest: int, left: Columns, likely: Callable[[], Columns]) -> Floats:
        """Relation of one feature with those in `left`."""
        found, shared = np.zeros(left.size), self.has_levels[left]
        if self.has_levels[newest]:
            self.left = self.place[left[shared]]

            def places() -> Columns:
                columns = likely()
                return self.place[columns[self.has_levels[columns]]]

            row = self._row(int(self.place[newest]), places, self._relations)
            found[shared] = row[self.left]
        return found

    def _relations(self, batch: Columns) -> Floats:
        """Relations of a batch with the columns left, from one pass over these; else NaN."""
        inside = np.union1d(batch, self.left)
        cuts, places = self.cuts.take(inside), np.searchsorted(inside, batch)
        levels = cuts.n_levels[places]
        needed = 8 * int(levels.sum()) * int(cuts.n_levels.sum())
        if needed > SHARE * self.memory:
            raise InputError(
                f"{type(self.selector).__name__}: expected joint counts that fit the memory of "
                f"{SHARE * self.memory:,} bytes, got {needed:,} bytes for one column. Use fewer "
                "bins, or allow more memory."
            )
        result = self._pass(PAIRS, PairCounts(cuts, places), self.read[inside])
        rows = np.full((batch.size, self.read.size), np.nan)
        for row, first, n in zip(rows, result.first_slot.tolist(), levels.tolist(), strict=True):
            row[inside] = self.measure(*result.information(cuts, first, n))
        return rows


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


def find_cuts(selector: Any, opened: Opened) -> tuple[Cuts, NDArray[np.bool_]]:
    """Cuts of every column by the strategy of a selector, and which columns never vary."""
    if selector.strategy == "uniform":
        return _equal_widths(selector, opened)
    ranges = selector._find_ranges(opened.engine).finish()
    constant = constant_of(selector, ranges)
    found = _of_whole_columns(selector, opened, ~constant)
    cuts = [np.empty(0)] * constant.size
    for column, own in zip(np.flatnonzero(~constant), found, strict=True):
        cuts[column] = own
    return Cuts.of(cuts), constant


def _equal_widths(selector: Any, opened: Opened) -> tuple[Cuts, NDArray[np.bool_]]:
    """Bins between the least and the largest value; columns of few values keep them."""
    n, n_bins = opened.n_columns, selector.n_bins
    gathered = WithRanges(Ranges(n), FewValues(n, n_bins))
    selector._run_pass("values", gathered, opened.engine)
    ranges = gathered.ranges.finish()
    constant = constant_of(selector, ranges)
    values, n_values = gathered.other.finish()
    equal = Bins.between(ranges.low, ranges.high, n_bins).cuts()
    cuts = [equal[j] if n < 0 else values[j, 1 : max(n, 1)] for j, n in enumerate(n_values)]
    return Cuts.of(cuts), constant


def _of_whole_columns(selector: Any, opened: Opened, varies: NDArray[np.bool_]) -> list[Floats]:
    """Cuts of the columns that vary, from all of their rows."""
    kept = KeptSearch(opened.engine)
    cuts = kept.cuts()
    wanted = np.flatnonzero(varies)
    columns = ColumnBlocks(opened.engine, wanted[len(cuts) :], opened.n_rows)
    if not columns.columns.size:
        return cuts
    who, strategy = type(selector).__name__, selector.strategy
    advice = "Use strategy='uniform', which needs no whole columns, or allow more memory."
    ranges = columns.ranges(CELL_BYTES, MOST_COLUMNS, f"{who} with strategy={strategy!r}", advice)
    finder = CutFinder(selector.n_bins, strategy, 1 if columns.is_remote else selector.n_jobs)
    for _, found in selector.steps("cuts", columns.each(finder, ranges), len(ranges)):
        cuts += found
        kept.keep_cuts(cuts, is_all=len(cuts) == wanted.size)
    if len(cuts) < wanted.size:
        raise TamisError(
            f"{who}: expected the cuts of all {wanted.size} columns, got {len(cuts)} "
            "before a callback ended the fit. A part would be wrong, so there are no scores."
        )
    return cuts


class KeptSearch:
    """Cuts, and a search as it is before every pass, in the checkpoint of an engine, if any."""

    def __init__(self, engine: Any):
        self.checkpoint, self.n_parts = engine.checkpoint, engine.source.n_parts
        self.search: Any = None
        self.stored = self._recall(SEARCH)

    def _recall(self, name: str) -> dict[str, Any]:
        return {} if self.checkpoint is None else self.checkpoint.recall(name)

    def cuts(self) -> list[Floats]:
        """Cuts of the columns that are known, which are the first ones."""
        found = self._recall(CUTS)
        if not found:
            return []
        values, sizes = (self._array(found, name, 1) for name in ("values", "sizes"))
        if sizes.dtype.kind != "i" or (sizes < 0).any() or sizes.sum() != values.size:
            raise self._refused("cuts that are no cuts")
        return [part.copy() for part in np.split(values, np.cumsum(sizes)[:-1])]

    def keep_cuts(self, cuts: list[Floats], *, is_all: bool) -> None:
        """Keep the cuts of the first columns, if some seconds have passed or there are no more."""
        if self.checkpoint is not None and (is_all or self.checkpoint.is_due):
            sizes = np.array([part.size for part in cuts])
            results = {"values": np.concatenate(cuts), "sizes": sizes}
            self.checkpoint.remember(CUTS, self.n_parts, results)

    def follow(self, search: S, n_columns: int) -> S:
        """The search where it was before its last pass; from now on it is kept before every one.

        Lists and integers in its attributes are columns, and change after the last pass of a step.
        """
        if found := self.stored.get("search"):
            self._check_search(vars(search), found, n_columns)
            vars(search).update(copy.deepcopy(found))
        self.search = search
        return search

    def rows(self, n_columns: int) -> Rows:
        """Rows of so many columns that wait to be asked for; the batch is checked, too."""
        if not self.stored:
            return {}
        columns, rows = self._array(self.stored, "columns", 1), self._array(self.stored, "rows", 2)
        batch = self._array(self.stored, "batch", 1)
        fits = rows.dtype == np.float64 and rows.shape == (columns.size, n_columns)
        if not (fits and batch.size and _are_columns(columns, n_columns)):
            raise self._refused("rows of other columns")
        if not _are_columns(batch, n_columns):
            raise self._refused("a batch of other columns")
        return dict(zip(columns.tolist(), rows, strict=True))

    def batch(self, column: int) -> Columns | None:
        """The batch that the last pass was for, if it was for this column; else None."""
        batch: Columns | None = self.stored.get("batch")
        return None if batch is None or batch[0] != column else batch

    def keep(self, batch: Columns, rows: Rows, n_columns: int) -> None:
        """Keep the search before a pass for a batch, and the rows that wait besides."""
        if self.checkpoint is None or self.search is None:
            return
        if self.batch(int(batch[0])) is None:
            results = {
                "search": copy.deepcopy(vars(self.search)),
                "columns": np.array(list(rows), dtype=np.int64),
                "rows": np.array(list(rows.values())).reshape(len(rows), n_columns),
                "batch": batch,
            }
            self.checkpoint.remember(SEARCH, self.n_parts, results, instead_of=PAIRS)
        self.stored = {}

    def _array(self, stored: dict[str, Any], name: str, n_dimensions: int) -> NDArray[Any]:
        found = stored.get(name)
        if not isinstance(found, np.ndarray) or found.ndim != n_dimensions:
            raise self._refused(f"{name} that are no array")
        return found

    def _check_search(self, empty: dict[str, Any], found: Any, n_columns: int) -> None:
        if not isinstance(found, dict) or set(found) != set(empty):
            raise self._refused("another search")
        for name, value in empty.items():
            new = found[name]
            is_like = type(new) is type(value)
            if is_like and isinstance(value, np.ndarray) and value.dtype.kind == "f":
                is_like = (new.shape, new.dtype) == (value.shape, value.dtype)
            elif is_like:
                is_like = _are_columns(new, n_columns)
            if not is_like:
                raise self._refused(f"{name} of another search")

    def _refused(self, reason: str) -> Any:
        return self.checkpoint.refused(reason)


def _are_columns(values: Any, n_columns: int) -> bool:
    """Whether these are different columns out of so many."""
    if isinstance(values, np.ndarray):
        if values.ndim != 1 or values.dtype.kind != "i":
            return False
        values = values.tolist()
    is_whole = all(type(j) is int and 0 <= j < n_columns for j in values)
    return is_whole and len(set(values)) == len(values)
