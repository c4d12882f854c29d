"""Distances between all rows, block by block within a limit of memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.threads import effective_jobs, run_kernel, split_evenly, threads_for

Floats = NDArray[np.float64]

# Columns that are scaled, or looked through for missing cells, at a time.
WIDTH = 256


class Columns(NamedTuple):
    """A table turned round: one row per column, scaled to [0, 1]; the discrete ones come last."""

    values: Floats
    origin: NDArray[np.intp]
    n_continuous: int
    holes: bool


def scale_to_unit(values: Floats) -> bool:
    """Bring every row to [0, 1] in place; returns whether something is missing."""
    holes = False
    for first in range(0, values.shape[0], WIDTH):
        part = values[first : first + WIDTH]
        low = np.fmin.reduce(part, axis=1, keepdims=True)
        high = np.fmax.reduce(part, axis=1, keepdims=True)
        part -= low
        part /= high - low
        holes = holes or bool(np.isnan(part.sum()))
    return holes


def distance_blocks(
    columns: Columns, rows: NDArray[np.intp], height: int, n_jobs: int | None, steps: Any
) -> Iterator[tuple[NDArray[np.intp], Floats]]:
    """At most `height` rows at a time, and their distances to all; inf without a shared column."""
    n_rows, n_threads = columns.values.shape[1], effective_jobs(n_jobs)
    ranges = _ranges(n_rows)
    if rows.size == n_rows and height >= n_rows:
        out = np.full((n_rows, n_rows), np.inf)  # for a callback that ends the loop early
        tiles = [(a, b, b != a) for i, a in enumerate(ranges) for b in ranges[: i + 1]]
        size = max(64, -(-len(tiles) // 50))
        groups = [tiles[first : first + size] for first in range(0, len(tiles), size)]
        for group in steps("rows", groups, len(groups)):
            _fill_tiles(columns.values, columns, group, out, n_threads)
        yield rows, _per_observed(columns.values, columns, out)
        return
    for first in steps("rows", range(0, rows.size, height), -(-rows.size // height)):
        part = rows[first : first + height]
        sample, out = columns.values[:, part], np.empty((part.size, n_rows))
        tiles = [(a, b, False) for a in _ranges(part.size) for b in ranges]
        _fill_tiles(sample, columns, tiles, out, n_threads)
        yield part, _per_observed(sample, columns, out)


def _ranges(n_rows: int) -> list[tuple[int, int]]:
    from tamis.filters._relief_kernels import TILE

    return [(first, min(first + TILE, n_rows)) for first in range(0, n_rows, TILE)]


def _fill_tiles(
    sample: Floats, columns: Columns, tiles: list[Any], out: Floats, n_threads: int
) -> None:
    from tamis.filters import _relief_kernels as kernels

    settings = sample, columns.values, columns.n_continuous, columns.holes
    parts = [(*settings, *tile, out) for tile in tiles]
    run_kernel(kernels.distance_tile, kernels.distance_tile, parts, n_threads)


def _per_observed(sample: Floats, columns: Columns, sums: Floats) -> Floats:
    """Divide by the number of columns that both rows have, where some are missing."""
    if not columns.holes:
        return sums
    counts = np.zeros(sums.shape)
    for first in range(0, sample.shape[0], WIDTH):
        here = (~np.isnan(sample[first : first + WIDTH])).astype(np.float32)
        there = (~np.isnan(columns.values[first : first + WIDTH])).astype(np.float32)
        counts += here.T @ there
    np.divide(sums, counts, out=sums, where=counts > 0)
    sums[counts == 0] = np.inf
    return sums


def nearest_rows(
    distances: Floats,
    rows: NDArray[np.intp],
    codes: NDArray[np.int32],
    k: int,
    most_pairs: int,
    n_jobs: int | None,
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], Floats]]:
    """Pairs of a row and one of its k nearest in any class, with a weight; in order of the rows.

    The weights of a row sum to 1 in every class. At most `most_pairs` come at a time, or one row.
    """
    from tamis.filters import _relief_kernels as kernels

    n_classes = int(codes.max()) + 1
    k = min(k, codes.size)
    limit, count = np.empty((rows.size, n_classes)), np.empty(rows.size, np.int64)
    weight = np.zeros((rows.size, n_classes, 2))
    n_threads = threads_for(distances.size, n_jobs)

    def find(first: int, last: int) -> None:
        kernels.find_limits(distances, rows, first, last, codes, n_classes, k, limit, weight, count)

    run_kernel(kernels.find_limits, find, split_evenly(0, rows.size, 4 * n_threads), n_threads)
    end = np.cumsum(count)
    first = 0
    while first < rows.size:
        before = end[first] - count[first]
        last = max(first + 1, int(np.searchsorted(end, before + most_pairs, side="right")))
        begin = end - count - before
        near = np.empty(int(end[last - 1] - before), np.int64)
        share = np.empty(near.size)
        kernels.write_pairs(distances, rows, first, last, codes, limit, weight, begin, near, share)
        yield np.repeat(rows[first:last], count[first:last]), near, share
        first = last


def add_differences(
    columns: Columns,
    pairs: tuple[NDArray[np.int64], NDArray[np.int64], Floats, Floats],
    row_weight: Floats | None,
    sums: Floats,
    n_jobs: int | None,
) -> None:
    """Add the differences of the pairs to `sums`; with `row_weight`, of means taken row by row."""
    from tamis.filters import _relief_kernels as kernels

    values, holes = columns.values, columns.holes
    n_threads = threads_for(values.shape[0] * pairs[0].size, n_jobs)
    kernel: Any = kernels.add_differences if row_weight is None else kernels.add_by_row

    def work(discrete: bool, first: int, last: int) -> None:
        if row_weight is None:
            kernel(values, discrete, holes, first, last, *pairs, sums)
        else:
            kernel(values, discrete, first, last, *pairs, row_weight, sums)

    bounds = [(False, 0, columns.n_continuous), (True, columns.n_continuous, values.shape[0])]
    parts = [
        (discrete, *part)
        for discrete, start, stop in bounds
        for part in split_evenly(start, stop, 4 * n_threads)
    ]
    run_kernel(kernel, work, parts, n_threads)
