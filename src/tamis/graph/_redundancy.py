"""Products with the matrix of absolute relations, kept whole or made anew block by block."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas

from tamis._runtime.threads import split_evenly
from tamis.exceptions import TamisError

_log = logging.getLogger("tamis")

Range = tuple[int, int]
# Absolute relations between two ranges of columns, as a matrix.
BlockOf = Callable[[Range, Range], NDArray[Any]]
# Wraps the blocks that are walked, to show progress: name, items, how many.
Steps = Callable[[str, Iterable[Any], int], Iterable[Any]]

BLOCK = 2048
# Up to this many multiplications (about half a second) the precision is double by default.
QUICK_PRODUCT = 3e10


@dataclass(frozen=True)
class Plan:
    """How the relations are kept.

    Parameters
    ----------
    kind : {"dense", "blocks"}
        All of them in memory, or made anew in every product.
    dtype : str
        "float64" or "float32".
    n_bytes : int
        Memory for the relations.
    n_columns : int
        Size of the graph.
    side : int or None
        Columns of a block; None means 2048.
    """

    kind: str
    dtype: str
    n_bytes: int
    n_columns: int
    side: int | None = None

    @classmethod
    def choose(cls, n_rows: int, n: int, precision: str, memory_limit: int) -> Plan:
        """Dense where it fits; by default in double precision where that is quick and fits."""
        quick = n_rows * n * n <= QUICK_PRODUCT and 8 * n * n <= memory_limit
        double = precision == "double" or (precision == "auto" and quick)
        size = 8 if double else 4
        dense = size * n * n <= memory_limit
        side = n if dense else min(BLOCK, n)
        kind = "dense" if dense else "blocks"
        return cls(kind, "float64" if double else "float32", size * side * side, n)


def block_pairs(n: int, side: int | None = None) -> list[tuple[Range, Range]]:
    """Ranges (rows, columns) that cover the lower triangle of an n x n matrix."""
    ranges = split_evenly(0, n, -(-n // (side or BLOCK)))
    return [(low, high) for i, low in enumerate(ranges) for high in ranges[: i + 1]]


def walk_pairs(name: str, plan: Plan, steps: Steps) -> Iterator[tuple[Range, Range]]:
    """Go through all pairs; a callback that ends the walk early ends the fit."""
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

    def __init__(self, block_of: BlockOf, plan: Plan, steps: Steps):
        n = plan.n_columns
        self.matrix = np.zeros((n, n), dtype=plan.dtype, order="F")
        for rows, columns in walk_pairs("relations", plan, steps):
            self.matrix[slice(*rows), slice(*columns)] = block_of(rows, columns)
        self.multiply = blas.dsymv if plan.dtype == "float64" else blas.ssymv

    def product(self, vectors: NDArray[np.float64]) -> NDArray[np.float64]:
        """Relations times every column of `vectors`."""
        out = np.empty_like(vectors)
        for k, vector in enumerate(vectors.T):
            out[:, k] = self.multiply(1.0, self.matrix, vector, lower=1)
        return out


class BlockRelations:
    """Blocks made anew inside every product; each serves for its mirror image too."""

    def __init__(self, block_of: BlockOf, plan: Plan, steps: Steps):
        self.block_of, self.plan, self.steps = block_of, plan, steps

    def product(self, vectors: NDArray[np.float64]) -> NDArray[np.float64]:
        """Relations times every column of `vectors`."""
        out = np.zeros_like(vectors)
        short = vectors.astype(self.plan.dtype)
        for rows, columns in walk_pairs("product", self.plan, self.steps):
            block = self.block_of(rows, columns)
            out[slice(*rows)] += block @ short[slice(*columns)]
            if rows != columns:
                out[slice(*columns)] += block.T @ short[slice(*rows)]
        return out


def make_relations(block_of: BlockOf, plan: Plan, steps: Steps) -> DenseRelations | BlockRelations:
    """Relations kept as the plan says."""
    _log.info("tamis: %s", plan)
    return (DenseRelations if plan.kind == "dense" else BlockRelations)(block_of, plan, steps)
