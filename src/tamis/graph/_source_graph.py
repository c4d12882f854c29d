"""SourceGraph: the graph of the columns of a table that is not in memory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tamis._columns import constant_of
from tamis.exceptions import TamisError
from tamis.graph import _redundancy
from tamis.graph._cluster_relations import ClusterRelations
from tamis.graph._factor_file import FactorFile
from tamis.graph._feature_graph import FACTORS, FeatureGraph, GraphSettings, deviations_of
from tamis.graph._redundancy import DenseRelations, Plan, make_relations
from tamis.passes import PartitionedTable
from tamis.passes.columns import ColumnBlocks, memory_of
from tamis.passes.opening import check_in_memory
from tamis.statistics import Block, Moments, Ranges, Stateful

# What a cell takes while its column is turned into a factor: value, copy, sorting key, factor.
CELL_BYTES = 32
# Of the memory: a part for factors that are kept, one for the matrix, one for work.
PARTS = 3
# Vectors that one walk takes: one for each of about seven products, and some to work with.
WALK_VECTORS = 16
# Blocks of columns per side that a cluster has at least, so that there are products for everybody.
LEAST_BLOCKS = 8


@dataclass
class ColumnFacts(Stateful):
    """What one walk learns of the columns: ranges, and moments."""

    state_names: ClassVar[tuple[str, ...]] = ("ranges", "moments")

    ranges: Ranges
    moments: Moments

    def update(self, block: Block, n_jobs: int | None = 1) -> ColumnFacts:
        """Take in the rows of a block."""
        self.ranges.update(block, n_jobs)
        with np.errstate(over="ignore", invalid="ignore"):  # the ranges tell what is wrong
            self.moments.update(block, n_jobs)
        return self

    def merge(self, other: ColumnFacts) -> ColumnFacts:
        """Take in what another object has seen."""
        self.ranges.merge(other.ranges)
        with np.errstate(over="ignore", invalid="ignore"):
            self.moments.merge(other.moments)
        return self

    def finish(self) -> ColumnFacts:
        """The object itself: its parts are finished one by one."""
        return self


@dataclass(frozen=True)
class FactorMaker:
    """Makes factors of columns that are there with all rows; it can be sent to a worker."""

    relation: str
    dtype: str
    n_jobs: int | None

    def __call__(self, block: Block) -> NDArray[Any]:
        """Vectors of length one, one per column."""
        make = FACTORS[self.relation]
        vectors: NDArray[Any] = make(block.X, block.weights, self.dtype, self.n_jobs).vectors
        return vectors


class SourceGraph(FeatureGraph):
    """As `FeatureGraph`, for a source: relations are made of blocks of whole columns.

    Parameters
    ----------
    selector : BaseSelector
        Runs passes and reports progress.
    source : PartitionedTable
        The table.
    settings : GraphSettings
        Relation, precision, memory and threads.
    """

    def __init__(self, selector: Any, source: PartitionedTable, settings: GraphSettings):
        if callable(settings.relation) or settings.relation not in FACTORS:
            setting = f"relation={settings.relation!r}"
            check_in_memory(source, settings.who, setting, "relation='spearman'")
        self.settings, self.source, self.steps = settings, source, selector.steps
        engine = selector._open_table(source, None, None, None).engine
        n_columns = source.n_columns
        facts = selector._run_pass(
            "moments", ColumnFacts(Ranges(n_columns), Moments(n_columns)), engine
        )
        self.varies = ~constant_of(selector, facts.ranges.finish())
        self.n_rows = facts.ranges.n_rows
        self.deviation = deviations_of(facts.moments.finish(), self.varies)
        self.order = np.argsort(self.deviation, kind="stable")
        self.stored: FactorFile | None = None
        if self.varies.any():
            columns = np.flatnonzero(self.varies)
            self._relate(ColumnBlocks(engine, columns, self.n_rows, settings.memory_limit))

    def _relate(self, columns: ColumnBlocks) -> None:
        """Plan and relations, here or on the workers."""
        room, n = columns.room, columns.columns.size
        memory = room.n_bytes * room.n_tasks // PARTS
        self.plan = Plan.choose(self.n_rows, n, self.settings.precision, memory)
        if columns.is_remote:
            self.relations: Any = self._remote_relations(columns)
            return
        size = np.dtype(self.plan.dtype).itemsize
        self._set_side(min(largest_side(self.n_rows, size, memory), _redundancy.BLOCK, n))
        try:
            block_of = self._local_factors(columns, n * self.n_rows * size <= memory)
            self.relations = make_relations(block_of, self.plan, self.steps)
        except BaseException:
            self.close()
            raise
        if isinstance(self.relations, DenseRelations):
            self.close()  # the factors were needed once

    def _set_side(self, side: int) -> None:
        kept = self.plan.n_columns if self.plan.kind == "dense" else side
        n_bytes = np.dtype(self.plan.dtype).itemsize * kept**2
        self.plan = replace(self.plan, side=side, n_bytes=n_bytes)

    def _ranges(self, columns: ColumnBlocks, most: int) -> list[tuple[int, int]]:
        advice = "Allow more memory, or use a sample of the rows."
        return columns.ranges(CELL_BYTES, most, self.settings.who, advice)

    def _local_factors(self, columns: ColumnBlocks, kept: bool) -> Any:
        """Function that gives the relations of two ranges, from factors in memory or in a file."""
        n = columns.columns.size
        ranges = self._ranges(columns, n)
        maker = FactorMaker(str(self.settings.relation), self.plan.dtype, self.settings.n_jobs)
        factors = FactorFile(n, self.n_rows, self.plan.dtype, in_memory=kept)
        self.stored = factors
        done = 0
        for (first, last), vectors in self.steps(
            "factors", columns.each(maker, ranges), len(ranges)
        ):
            factors.put(first, vectors)
            done = last
        if done < n:
            raise TamisError(
                f"{self.settings.who}: expected all columns, got {done} of {n} before a callback "
                "ended the fit. Scores of a part would be wrong, so there are none."
            )
        return factors.block

    def _remote_relations(self, columns: ColumnBlocks) -> ClusterRelations:
        n = columns.columns.size
        most = min(_redundancy.BLOCK, max(1, -(-n // LEAST_BLOCKS)))
        ranges = self._ranges(columns, most)
        self._set_side(max(last - first for first, last in ranges))
        maker = FactorMaker(str(self.settings.relation), self.plan.dtype, 1)
        factors = columns.kept(maker, ranges)
        return ClusterRelations(columns.source, factors, ranges, self.plan, self.steps)

    def n_rounds(self, n_alphas: int) -> int:
        """How many rounds of walks there are if as many go side by side as have room."""
        # Walks are in this process, whoever makes the products.
        limit = self.settings.memory_limit or memory_of(self.source)
        at_a_time = limit // PARTS // (8 * WALK_VECTORS * self.deviation.size)
        return -(-n_alphas // max(1, at_a_time))

    def close(self) -> None:
        """Remove the file of factors, if there is one."""
        if self.stored is not None:
            self.stored.close()
            self.stored = None


def largest_side(n_rows: int, size: int, memory: int) -> int:
    """Columns of a block such that two slices of factors and their product fit the memory."""
    return max(1, int(np.sqrt(n_rows**2 + memory / size) - n_rows))
