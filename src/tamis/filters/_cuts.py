"""Cuts of the columns of a table that is not in memory, as the codes in memory would have them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis import _columns
from tamis._runtime.compilation import announce_compilation
from tamis.exceptions import TamisError
from tamis.filters._known import Known
from tamis.passes.columns import ColumnBlocks
from tamis.passes.engine import Opened
from tamis.statistics import Bins, Block, Cuts, FewValues, Ranges, WithRanges
from tamis.statistics.codes import code_columns
from tamis.statistics.few_values import FewValuesResult

Floats = NDArray[np.float64]

# What a cell takes while the cuts of its column are found: value, copy, order, code.
CELL_BYTES = 32
# Columns that are read at a time: more would not make reading faster.
MOST_COLUMNS = 4096


def find_cuts(selector: Any, opened: Opened) -> tuple[Cuts, NDArray[np.bool_]]:
    """Cuts of every column by the strategy of a selector, and which columns never vary."""
    if selector.strategy == "uniform":
        return _equal_widths(selector, opened)
    ranges = selector._find_ranges(opened.engine).finish()
    constant = _columns.constant_of(selector, ranges)
    cuts: list[Floats] = [np.empty(0)] * constant.size
    for column, found in zip(
        np.flatnonzero(~constant), _of_whole_columns(selector, opened, ~constant), strict=True
    ):
        cuts[column] = found
    return Cuts.of(cuts), constant


def _equal_widths(selector: Any, opened: Opened) -> tuple[Cuts, NDArray[np.bool_]]:
    """Bins between the least and the largest value; columns of few values keep them."""
    n, n_bins = opened.n_columns, selector.n_bins
    gathered = WithRanges(Ranges(n), FewValues(n, n_bins))
    selector._run_pass("values", gathered, opened.engine)
    ranges = gathered.ranges.finish()
    constant = _columns.constant_of(selector, ranges)
    few: FewValuesResult = gathered.other.finish()
    equal = Bins.between(ranges.low, ranges.high, n_bins).cuts()
    return Cuts.of(
        [
            equal[j] if count < 0 else few.values[j, 1 : max(count, 1)]
            for j, count in enumerate(few.n_values)
        ]
    ), constant


def _of_whole_columns(selector: Any, opened: Opened, varies: NDArray[np.bool_]) -> list[Floats]:
    """Cuts of the columns that vary, from all of their rows."""
    known = Known(opened.engine)
    cuts = known.cuts()
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
        known.keep_cuts(cuts, is_all=len(cuts) == wanted.size)
    if len(cuts) < wanted.size:
        raise TamisError(
            f"{who}: expected the cuts of all {wanted.size} columns, got {len(cuts)} "
            "before a callback ended the fit. A part would be wrong, so there are no scores."
        )
    return cuts


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
        with announce_compilation(kernels.least_of_levels, block.X.dtype):
            kernels.least_of_levels(block.X.T, codes.table, least)
        return [
            values[1:n].copy() for values, n in zip(least, codes.n_levels.tolist(), strict=True)
        ]
