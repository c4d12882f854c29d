"""The graph of a table larger than memory: relations of blocks of whole columns."""

from __future__ import annotations

import errno
import io
import tempfile
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._columns import constant_of
from tamis.data.partitioned import check_in_memory
from tamis.exceptions import InputError, TamisError
from tamis.graph import relation_matrix
from tamis.graph.feature_graph import FeatureGraph, GraphSettings, deviations_of
from tamis.graph.relation_matrix import (
    ClusterRelations,
    RelationMatrix,
    RelationPlan,
    Steps,
    make_relations,
)
from tamis.graph.relations import FACTORS
from tamis.passes import PartitionedTable
from tamis.passes.columns import ColumnBlocks, memory_of
from tamis.passes.memory import open_table
from tamis.statistics import Block, Moments, Ranges, WithRanges
from tamis.statistics.correlations import Range, absolute_products

# What a cell takes while its column is turned into a factor: value, copy, sorting key, factor.
CELL_BYTES = 32
# Of the memory: a part for factors that are kept, one for the matrix, one for work.
PARTS = 3
# Blocks of columns per side that a cluster has at least, so that there are products for everybody.
LEAST_BLOCKS = 8


def source_graph(selector: Any, source: PartitionedTable, settings: GraphSettings) -> FeatureGraph:
    """Graph of a source, after one pass for deviations and one over whole columns."""
    if callable(settings.relation) or settings.relation not in FACTORS:
        setting = f"relation={settings.relation!r}"
        check_in_memory(source, settings.who, setting, "relation='spearman'")
    engine = open_table(selector, source, None, None, None).engine
    facts = selector._run_pass(
        "moments", WithRanges(Ranges(source.n_columns), Moments(source.n_columns)), engine
    )
    varies = ~constant_of(selector, facts.ranges.finish())
    n_rows = facts.ranges.n_rows
    relations = None
    if varies.any():
        columns = ColumnBlocks(engine, np.flatnonzero(varies), n_rows, settings.memory_limit)
        make = _remote_relations if columns.is_remote else _local_relations
        relations = make(columns, settings, selector.steps)
    # Walks are in this process, whoever makes the products.
    room = (settings.memory_limit or memory_of(source)) // PARTS
    deviation = deviations_of(*(values[varies] for values in facts.other.finish()))
    return FeatureGraph(varies, n_rows, deviation, relations, room)


def _local_relations(
    columns: ColumnBlocks, settings: GraphSettings, steps: Steps
) -> RelationMatrix:
    """Relations of factors in memory, or in a file."""
    n, n_rows, memory = columns.columns.size, columns.n_rows, _memory(columns)
    plan = RelationPlan.choose(n_rows, n, settings.precision, memory)
    size = np.dtype(plan.dtype).itemsize
    # Two slices of factors and their product fit half of the memory; the other half is for copies
    # that BLAS makes, and for what the allocator holds back.
    side = max(1, int(np.sqrt(n_rows**2 + memory // 2 / size) - n_rows))
    side = min(side, relation_matrix.BLOCK, n)
    ranges = _ranges(columns, n, settings)
    factors = FactorFile(n_rows, plan.dtype, in_memory=n * n_rows * size <= memory)
    make = partial(make_factors, settings.relation, plan.dtype, settings.n_jobs)
    done = 0
    try:
        for (first, last), vectors in steps("factors", columns.each(make, ranges), len(ranges)):
            factors.put(first, vectors)
            done = last
        if done < n:
            raise TamisError(
                f"{settings.who}: expected all columns, got {done} of {n} before a "
                "callback ended the fit. Scores of a part would be wrong, so there are none."
            )
        return make_relations(factors.block, plan.with_side(side), steps, factors.close)
    except BaseException:
        factors.close()
        raise


def _remote_relations(
    columns: ColumnBlocks, settings: GraphSettings, steps: Steps
) -> RelationMatrix:
    """Relations whose factors stay on the workers."""
    n = columns.columns.size
    plan = RelationPlan.choose(columns.n_rows, n, settings.precision, _memory(columns))
    ranges = _ranges(columns, min(relation_matrix.BLOCK, max(1, -(-n // LEAST_BLOCKS))), settings)
    side = max(last - first for first, last in ranges)
    factors = columns.kept(partial(make_factors, settings.relation, plan.dtype, 1), ranges)
    return ClusterRelations(columns.source, factors, ranges, plan.with_side(side), steps)


def _memory(columns: ColumnBlocks) -> int:
    return columns.room.n_bytes * columns.room.n_tasks // PARTS


def _ranges(columns: ColumnBlocks, most: int, settings: GraphSettings) -> list[Range]:
    advice = "Allow more memory, or use a sample of the rows."
    return columns.ranges(CELL_BYTES, most, settings.who, advice)


def make_factors(relation: Any, dtype: str, n_jobs: int | None, block: Block) -> NDArray[Any]:
    """Vectors of length one, one per column of a block with all rows; here or on a worker."""
    vectors: NDArray[Any] = FACTORS[relation](block.X, block.weights, dtype, n_jobs).vectors
    return vectors


class FactorFile:
    """One vector per column, written and read by ranges; gone when the process is.

    It is read with plain reads: pages of a map would count as memory in use.
    """

    def __init__(self, n_rows: int, dtype: str, *, in_memory: bool):
        self.n_rows, self.dtype = n_rows, np.dtype(dtype)
        self.row_bytes = n_rows * self.dtype.itemsize
        self.file: Any = io.BytesIO()
        if not in_memory:
            self.file = tempfile.TemporaryFile(prefix="tamis-", buffering=0)  # noqa: SIM115
        self._last: tuple[Range, NDArray[Any]] | None = None

    def put(self, first: int, vectors: NDArray[Any]) -> None:
        """Store the vectors of columns from `first` on."""
        self.file.seek(first * self.row_bytes)
        left = np.ascontiguousarray(vectors, self.dtype).data.cast("B")
        try:
            while left:
                left = left[self.file.write(left) :]
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            raise InputError(
                f"InfFS: expected room for a temporary file in {tempfile.gettempdir()!r}, got a "
                "full disk. Set TMPDIR to another folder, or raise memory_limit."
            ) from error

    def take(self, columns: Range) -> NDArray[Any]:
        """Vectors of a range of columns."""
        first, last = columns
        vectors = np.empty((last - first, self.n_rows), self.dtype)
        left = vectors.data.cast("B")
        self.file.seek(first * self.row_bytes)
        while left:
            n_read = self.file.readinto(left)
            if not n_read:
                raise OSError("the temporary file of InfFS ended too early")
            left = left[n_read:]
        return vectors

    def block(self, rows: Range, columns: Range) -> NDArray[Any]:
        """Absolute correlations between two ranges of columns."""
        # Pairs come with the same rows many times in a row.
        if self._last is None or self._last[0] != rows:
            self._last = None
            self._last = rows, self.take(rows)
        left = self._last[1]
        return absolute_products(left, left if rows == columns else self.take(columns))

    def close(self) -> None:
        """Remove the file."""
        self._last = None
        self.file.close()
