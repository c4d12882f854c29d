"""ClusterRelations: products with relations that stay on the workers of Dask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.graph._redundancy import Plan, Range, Steps
from tamis.passes import PartitionedTable
from tamis.passes.columns import persist
from tamis.passes.dask.client import import_dask
from tamis.passes.dask.cluster import FAN_IN, compute

Floats = NDArray[np.float64]
# Parts of a product, by the number of the block of columns they belong to.
Parts = dict[int, Floats]


class ClusterRelations:
    """Blocks are multiplied where their factors are; only vectors travel.

    Parameters
    ----------
    source : PartitionedTable
        Says which workers.
    factors : list of Delayed
        Factors of every range of columns, on the workers.
    ranges : list of (int, int)
        The ranges.
    plan : Plan
        With "dense" the relations stay on the workers, too; with "blocks" they are made anew in
        every product.
    steps : callable
        Shows progress.
    """

    def __init__(
        self,
        source: PartitionedTable,
        factors: Sequence[Any],
        ranges: Sequence[Range],
        plan: Plan,
        steps: Steps,
    ):
        relate = import_dask().delayed(relate_block, pure=False)
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

    def _parts(self, vectors: NDArray[Any]) -> Parts:
        dask = import_dask()
        multiply, add = (
            dask.delayed(multiply_block, pure=False),
            dask.delayed(add_parts, pure=False),
        )
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
        found: Parts = compute(self.source, sums)[0]
        return found


def relate_block(left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    """Absolute correlations, on a worker."""
    product = left @ right.T
    return np.abs(product, out=product)


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
