"""RelationMatrix: products with absolute relations: kept whole, made anew, or left on workers."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas

from tamis._runtime.threads import split_evenly
from tamis.exceptions import TamisError
from tamis.passes import PartitionedTable
from tamis.passes.columns import persist
from tamis.passes.dask.client import import_dask
from tamis.passes.dask.cluster import FAN_IN, compute
from tamis.statistics.correlations import Floats, Range, absolute_products

_log = logging.getLogger("tamis")

# Absolute relations between two ranges of features, as a matrix.
Tile = Callable[[Range, Range], NDArray[Any]]
# Parts of a product, by the number of the range of features that they belong to.
Parts = dict[int, Floats]
# Shows progress over blocks: name, items, how many.
Steps = Callable[[str, Iterable[Any], int], Iterable[Any]]

BLOCK = 2048
# Up to this many multiplications (about half a second) the precision is double by default.
QUICK_PRODUCT = 3e10


@dataclass(frozen=True)
class RelationPlan:
    """How the relations are kept: in memory ("dense"), or made anew in every product ("blocks").

    `n_bytes` is their memory, `side` the number of features of a block; None means 2048.
    """

    kind: str
    dtype: str
    n_bytes: int
    n_columns: int
    side: int | None = None

    @classmethod
    def choose(cls, n_rows: int, n: int, precision: str, memory_limit: int) -> RelationPlan:
        """Dense where it fits; the precision depends on the size of the table, not on memory."""
        quick = n_rows * n * n <= QUICK_PRODUCT
        double = precision == "double" or (precision == "auto" and quick)
        size = 8 if double else 4
        dense = size * n * n <= memory_limit
        side = n if dense else min(BLOCK, n)
        kind = "dense" if dense else "blocks"
        return cls(kind, "float64" if double else "float32", size * side * side, n)

    def with_side(self, side: int) -> RelationPlan:
        """As it is, with blocks of so many features."""
        kept = self.n_columns if self.kind == "dense" else side
        return replace(self, side=side, n_bytes=np.dtype(self.dtype).itemsize * kept**2)


def block_pairs(n: int, side: int | None = None) -> list[tuple[Range, Range]]:
    """Ranges (rows, columns) that cover the lower triangle of an n x n matrix."""
    ranges = split_evenly(0, n, -(-n // (side or BLOCK)))
    return [(low, high) for i, low in enumerate(ranges) for high in ranges[: i + 1]]


def tile_pairs(name: str, plan: RelationPlan, steps: Steps) -> Iterator[tuple[Range, Range]]:
    """Go through all pairs; a callback that stops early ends the fit."""
    pairs = block_pairs(plan.n_columns, plan.side)
    done = 0
    for pair in steps(name, pairs, len(pairs)):
        yield pair
        done += 1
    if done < len(pairs):
        raise TamisError(
            f"Inf-FS: expected the relations of all columns, got {done} of {len(pairs)} blocks "
            "before a callback ended the fit. Scores of a part would be wrong, so there are none."
        )


class DenseRelations:
    """The lower triangle in memory; a product reads it once."""

    def __init__(self, tile: Tile, plan: RelationPlan, steps: Steps):
        n = plan.n_columns
        self.plan = plan
        self.matrix = np.zeros((n, n), dtype=plan.dtype, order="F")
        for rows, columns in tile_pairs("relations", plan, steps):
            self.matrix[slice(*rows), slice(*columns)] = tile(rows, columns)
        self.multiply = blas.dsymv if plan.dtype == "float64" else blas.ssymv

    def product(self, vectors: Floats) -> Floats:
        """Relations times every column of `vectors`."""
        out = np.empty_like(vectors)
        for k, vector in enumerate(vectors.T):
            out[:, k] = self.multiply(1.0, self.matrix, vector, lower=1)
        return out

    def close(self) -> None:
        """Do nothing: all of it is in memory."""


class BlockRelations:
    """Tiles made anew inside every product; each serves for its mirror image too."""

    def __init__(self, tile: Tile, plan: RelationPlan, steps: Steps, close: Callable[[], None]):
        self.tile, self.plan, self.steps, self.close = tile, plan, steps, close

    def product(self, vectors: Floats) -> Floats:
        """Relations times every column of `vectors`."""
        out = np.zeros_like(vectors)
        short = vectors.astype(self.plan.dtype)
        for rows, columns in tile_pairs("product", self.plan, self.steps):
            block = self.tile(rows, columns)
            out[slice(*rows)] += block @ short[slice(*columns)]
            if rows != columns:
                out[slice(*columns)] += block.T @ short[slice(*rows)]
            del block  # there is room for one
        return out


def make_relations(
    tile: Tile, plan: RelationPlan, steps: Steps, close: Callable[[], None] = lambda: None
) -> DenseRelations | BlockRelations:
    """Relations kept as the plan says; `close` is called when no tile is needed any more."""
    _log.info("tamis: %s", plan)
    if plan.kind == "blocks":
        return BlockRelations(tile, plan, steps, close)
    try:
        return DenseRelations(tile, plan, steps)
    finally:
        close()


class ClusterRelations:
    """Blocks multiplied, and with a "dense" plan kept, on the workers of Dask that have factors."""

    def __init__(
        self, source: PartitionedTable, factors: list[Any], ranges: list[Range],
        plan: RelationPlan, steps: Steps,
    ):  # fmt: skip
        relate = import_dask().delayed(absolute_products, pure=False)
        self.source, self.ranges, self.plan, self.steps = source, ranges, plan, steps
        self.pairs = [(a, b) for a in range(len(ranges)) for b in range(a + 1)]
        self.blocks = [relate(factors[a], factors[b]) for a, b in self.pairs]
        if plan.kind == "dense":
            self.blocks = persist(source, self.blocks)

    def product(self, vectors: Floats) -> Floats:
        """Relations times every column of `vectors`."""
        out = np.zeros_like(vectors)
        for _ in self.steps("product", range(1), 1):
            for number, part in self._parts(vectors.astype(self.plan.dtype)).items():
                out[slice(*self.ranges[number])] = part
        return out

    def close(self) -> None:
        """Do nothing: the workers forget what nobody refers to."""

    def _parts(self, vectors: NDArray[Any]) -> Parts:
        dask = import_dask()
        multiply = dask.delayed(multiply_block, pure=False)
        add = dask.delayed(add_parts, pure=False)
        pieces = [
            dask.delayed(np.ascontiguousarray(vectors[slice(*one)]), traverse=False)
            for one in self.ranges
        ]
        sums = [
            multiply(pair, block, pieces[pair[0]], pieces[pair[1]])
            for pair, block in zip(self.pairs, self.blocks, strict=True)
        ]
        while len(sums) > 1:
            sums = [add(sums[i : i + FAN_IN]) for i in range(0, len(sums), FAN_IN)]
        return dict(compute(self.source, sums)[0])


def multiply_block(
    pair: Range, block: NDArray[Any], left: NDArray[Any], right: NDArray[Any]
) -> Parts:
    """Product of a block with the vectors of its columns, and of its mirror image."""
    a, b = pair
    parts = {a: (block @ right).astype(np.float64)}
    if a != b:
        parts[b] = (block.T @ left).astype(np.float64)
    return parts


def add_parts(many: Sequence[Parts]) -> Parts:
    """Sums by block of columns; what was given stays as it is."""
    total: Parts = {}
    for parts in many:
        for number, part in parts.items():
            total[number] = total[number] + part if number in total else part
    return total


# Absolute relations of all pairs of features, with which vectors are multiplied.
RelationMatrix = DenseRelations | BlockRelations | ClusterRelations
