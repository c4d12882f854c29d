"""PairStatistics: how much features say about the target and about each other.

A greedy search asks one object for both, whether the rows are in memory (here), in files or on the
workers of Dask (:mod:`tamis.filters._source_pairs`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tamis._base import Scores
from tamis.data.target import Target
from tamis.exceptions import InputError
from tamis.passes import PartitionedTable
from tamis.passes.memory import open_table
from tamis.statistics.codes import CodedColumns, code_columns, rows_with_weight
from tamis.statistics.correlations import LinearColumns

Floats = NDArray[np.float64]
Columns = NDArray[np.intp]
# A relation from bits shared and the entropies of both sides.
Measure = Callable[[Floats, Floats, Floats], Floats]
S = TypeVar("S")

# Values that differ by less are equal: other orders of summation must not decide.
TIE = 1e-12


class PairStatistics:
    """Relations with the target and among features, which are numbered among those that vary."""

    # Which features never vary, the others, and the rows of the table.
    constant: NDArray[np.bool_]
    columns: Columns
    n_rows: int

    def with_target(self) -> Floats:
        """Relation of every feature with the target; must be asked for first."""
        raise NotImplementedError

    def relations(self, newest: int, left: Columns, likely: Callable[[], Columns]) -> Floats:
        """Relation of one feature, asked for once, with those in `left`, the only ones from now on.

        `likely` gives those that may be asked for next, the most likely ones first.
        """
        raise NotImplementedError

    def resume(self, search: S) -> S:
        """The search as a checkpoint has it; its attributes change at the end of a step only."""
        return search


def pair_statistics(
    selector: Any, X: Any, y: Any, weight: Floats | None, task: str, measure: Measure | None = None
) -> Any:
    """F statistics and correlations; with `measure`, relations by joint counts of levels."""
    if isinstance(X, PartitionedTable):
        from tamis.filters._source_pairs import CodedPairs, LinearPairs

        levels = None if measure is None else lambda *numbers: level_numbers(selector, *numbers)[0]
        opened = open_table(selector, X, None, None, task, levels)
        selector._note_target(opened)
        if measure is None:
            return LinearPairs(selector, opened)
        return CodedPairs(selector, opened, measure)
    target = Target.of(y, task, weight, X.shape[0], type(selector).__name__)
    selector._note_target(target)
    if measure is None:
        return LinearMemory(selector, X, target, weight)
    return CodedMemory(selector, X, target, weight, measure)


def shared_bits(shared: Floats, left: Floats, right: Floats) -> Floats:
    """Mutual information in bits."""
    return shared


def level_numbers(selector: Any, values: Floats, weight: Floats) -> tuple[NDArray[np.int32], int]:
    """Levels of a regression target, made like those of the features, and how many there are."""
    _check_strategy(selector)
    settings = {"n_bins": selector.n_bins, "strategy": selector.strategy, "weight": weight}
    levels, n_levels = code_columns(values[:, None], **settings).column(0)
    return levels.astype(np.int32), n_levels


def _check_strategy(selector: Any) -> None:
    """Raise if the strategy needs class labels, which are not there."""
    if selector.strategy == "mdl":
        raise InputError(
            f"{type(selector).__name__}: expected class labels for strategy='mdl', got a "
            "regression target. Use strategy='quantile', or turn the target into classes."
        )


class _MemoryPairs(PairStatistics):
    """The features of a table in memory that vary, in rows that carry weight."""

    def __init__(self, selector: Any, X: Any, target: Target, weight: Floats | None):
        self.selector, self.n_rows = selector, X.shape[0]
        self.constant = selector._find_constant(X, weight)
        self.columns = np.flatnonzero(~self.constant)
        X = X if self.columns.size == X.shape[1] else X[:, self.columns]
        y = target.codes if target.is_classes else target.values
        self.X, y, self.weight = rows_with_weight(X, y, weight)
        self.target = target._replace(**{"codes" if target.is_classes else "values": y})


class LinearMemory(_MemoryPairs):
    """Correlations of features in memory."""

    def explained(self) -> tuple[Floats, Floats]:
        """Share of variance that goes with the target, and the F statistic."""
        self.linear = LinearColumns(self.X, self.weight, self.selector.n_jobs)
        if self.target.codes is not None:
            return self.linear.between_classes(self.target.codes, self.target.n_classes)
        assert self.target.values is not None
        return self.linear.along_line(self.target.values)

    def with_target(self) -> Floats:
        """F statistic of every feature."""
        return self.explained()[1]

    def relations(self, newest: int, left: Columns, likely: Any = None) -> Floats:
        """Absolute correlation of one feature with those in `left`."""
        return self.linear.correlations(newest)[left]


class CodedMemory(_MemoryPairs):
    """Relations of features in memory by joint counts of their levels."""

    def __init__(
        self, selector: Any, X: Any, target: Target, weight: Floats | None, measure: Measure
    ):
        if target.values is not None:
            _check_strategy(selector)
        super().__init__(selector, X, target, weight)
        self.measure = measure
        self.n_levels = np.ones(self.constant.size, dtype=np.int64)

    def with_target(self) -> Floats:
        """Relation of every feature with the target."""
        settings, target = self.selector, self.target
        codes = code_columns(
            self.X, n_bins=settings.n_bins, strategy=settings.strategy, classes=target.codes,
            weight=self.weight, n_jobs=settings.n_jobs,
        )  # fmt: skip
        self.n_levels[self.columns] = codes.n_levels
        self.coded = CodedColumns(codes, self.weight, settings.n_jobs)
        if target.codes is not None:
            return self.measure(*self.coded.pairs(target.codes, target.n_classes, None))
        assert target.values is not None
        levels = level_numbers(settings, target.values, self.weight)
        return self.measure(*self.coded.pairs(*levels, None))

    def relations(self, newest: int, left: Columns, likely: Any = None) -> Floats:
        """Relation of one feature with those in `left`."""
        return self.measure(*self.coded.pairs(*self.coded.codes.column(newest), left))


def order_as_scores(
    order: NDArray[np.intp], criterion: Floats, constant: NDArray[np.bool_]
) -> Scores:
    """Scores that count down the order; behind it the others by criterion; 0 if constant."""
    scores = np.zeros(constant.size)
    varying = constant.size - int(constant.sum())
    scores[order] = np.arange(varying, varying - order.size, -1)
    rest = ~constant
    rest[order] = False
    # The place of the last of those that tie, so that nobody is lifted over a better column.
    values = rounded(criterion[rest])
    scores[rest] = np.searchsorted(np.sort(values), values, side="left") + 1
    return scores, constant


def rounded(values: Floats) -> Floats:
    """Values to 40 binary digits, so that those equal up to rounding are equal."""
    mantissa, exponent = np.frexp(np.where(np.abs(values) < TIE, 0.0, values))
    return np.ldexp(np.round(mantissa * 2.0**40), exponent - 40)
