"""How a kernel walks a block: which tiles there are and which thread takes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.compilation import announce_compilation
from tamis._runtime.threads import run_parts, split_evenly, threads_for
from tamis.statistics.block import Block

# Columns in a tile: 8 to 16 KiB of every row are read in one go, and the tile's table of bins
# stays in the second-level cache.
TILE_COLUMNS = 1024


def walk_block(
    kernel: Callable[..., None],
    block: Block,
    arguments: tuple[Any, ...],
    lanes: NDArray[np.float64],
    n_jobs: int | None,
) -> None:
    """Add a block to `lanes` with a kernel of `tamis.statistics._kernels`.

    With one lane, threads take column tiles. With several, each lane takes its own share of the
    rows in memory order. Both give the same numbers whatever the number of threads.
    """
    threads = threads_for(block.n_rows * block.n_columns, n_jobs)
    with announce_compilation(kernel, block.X.dtype):
        if block.layout == "sparse":
            kernel(*block.stored, block.start, block.stop, *arguments, lanes[0])
            return
        dense = block.dense
        run_parts(
            lambda lane, start, stop, first, last: kernel(
                dense, start, stop, *arguments, lanes[lane], first, last
            ),
            _tiles(block, len(lanes), threads),
            threads,
        )


def _tiles(block: Block, n_lanes: int, threads: int) -> list[tuple[int, ...]]:
    """Tiles as (lane, first row, end row, first column, end column).

    They begin at multiples of `GROUP`, so that a kernel may share work within a group of columns
    and still add in the same order for any number of threads.
    """
    from tamis.statistics._kernels import GROUP

    n_groups = -(-block.n_columns // GROUP)
    n_tiles = max(-(-block.n_columns // TILE_COLUMNS), threads if n_lanes == 1 else 1)
    groups = split_evenly(0, n_groups, n_tiles)
    columns = [(a * GROUP, min(b * GROUP, block.n_columns)) for a, b in groups]
    n_lanes = 1 if block.layout == "columns" else n_lanes
    rows = split_evenly(block.start, block.stop, n_lanes)
    return [(lane, *piece, *tile) for lane, piece in enumerate(rows) for tile in columns]
