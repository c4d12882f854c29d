"""AND/OR patterns drawn at random and measured on packed bits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.threads import effective_jobs, run_kernel, split_evenly, threads_for
from tamis.meta.images._and_or_set import MOST_INPUTS, AndOrSet, Integers
from tamis.meta.search.dimensions import Integer, Real

Words = NDArray[np.uint64]

# Features of a part: it goes through all images, so many features make the most of the cache.
PART = 512
# Packed cells are done so much faster that a thread needs more of them to be worth waking.
PACKED = 8
# Bytes.
CACHE_LINE = 64
# How far the scatter of a drawn feature may be from the one asked for.
SCATTER_TOLERANCE = 0.15
# Cells of a table that take as long as one random shape, to judge whether threads are worth it.
CELLS_PER_SHAPE = 20_000


@dataclass(frozen=True, eq=False, repr=False)
class PackedImages:
    """Images as bits; made once by ``AndOrFeatures.pack`` and measured many times."""

    pixels: Words  # (n_blocks, n_padded_pixels, words of a block)
    n_images: int
    image_shape: tuple[int, int]
    padding: int  # rows and columns of background below and to the right

    def __len__(self) -> int:
        return self.n_images

    def __repr__(self) -> str:
        height, width = self.image_shape
        return f"PackedImages({self.n_images} images of {height} x {width} pixels)"


def pack_images(
    binary: NDArray[Any], image_shape: tuple[int, int], padding: int, n_jobs: int | None
) -> PackedImages:
    """Pack (n_images, n_pixels) of 0 and 1 into words."""
    from tamis.meta.images._and_or_kernels import BLOCK, pack_pixels

    height, width = image_shape
    n_blocks = -(-len(binary) // (64 * BLOCK))
    stride = width + padding
    shape = n_blocks, (height + padding) * stride, BLOCK
    # Words that start with a line of the cache: vectors across two lines take a fifth longer.
    raw = np.zeros(8 * math.prod(shape) + CACHE_LINE, dtype=np.uint8)
    start = -raw.ctypes.data % CACHE_LINE
    pixels = raw[start : start + 8 * math.prod(shape)].view(np.uint64).reshape(shape)
    in_parts(pack_pixels, n_blocks * BLOCK, binary.size, n_jobs, binary, width, stride, pixels)
    return PackedImages(pixels, len(binary), image_shape, padding)


def measure_words(images: PackedImages, features: AndOrSet, n_jobs: int | None) -> Words:
    """Words of each feature, (n_features, n_words); bits beyond the last image are 0."""
    from tamis.meta.images._and_or_kernels import measure_features

    n_blocks, n_padded, block = images.pixels.shape
    pixels = images.pixels.reshape(n_blocks, n_padded * block)
    stride, n_images, n = images.image_shape[1] + images.padding, len(images), len(features)
    # The last input stands in for those that are not there.
    place = np.minimum(np.arange(MOST_INPUTS), features.n_inputs[:, None] - 1)
    inputs = np.take_along_axis(features.rows * stride + features.columns, place, axis=1)
    positive = np.take_along_axis(features.positive, place, axis=1)
    flip = np.where(positive, np.uint64(0), ~np.uint64(0))
    out = np.empty((n, n_blocks, block), dtype=np.uint64)
    in_parts(
        measure_features, n, n_images * n // PACKED, n_jobs, pixels, inputs.astype(np.uint64), flip,
        features.n_inputs, features.shift, stride, n_images, out,
    )  # fmt: skip
    words = out.reshape(n, n_blocks * block)[:, : -(-n_images // 64)]
    return np.ascontiguousarray(words)  # one layout for the kernels that follow


def count_ones(words: Words, codes: NDArray[Any], n_classes: int, n_jobs: int | None) -> Integers:
    """Bits that each row has in each class of images, (n_classes, n_rows)."""
    from tamis.meta.images._and_or_kernels import count_bits

    members = np.zeros((n_classes, 64 * words.shape[1]), dtype=bool)
    members[codes, np.arange(len(codes))] = True
    masks = np.packbits(members, axis=1, bitorder="little").view(np.uint64)
    out = np.empty((n_classes, len(words)), dtype=np.int64)
    in_parts(count_bits, len(words), words.size * n_classes, n_jobs, words, masks, out)
    return out


def in_parts(kernel: Any, n: int, n_cells: int, n_jobs: int | None, *arguments: Any) -> None:
    """Call the kernel for pieces of ``range(n)``, on threads if there is enough to do."""
    n_parts = max(-(-n // PART), min(n, effective_jobs(n_jobs)))
    parts = split_evenly(0, n, n_parts) if n else []
    threads = threads_for(n_cells, n_jobs)
    run_kernel(kernel, lambda first, last: kernel(first, last, *arguments), parts, threads)


def cost_of(shift: Any) -> Any:
    """Cost of features: 0.5 (1 + a^2), where a is the side of the square of shifts."""
    return 0.5 * (1.0 + np.asarray(shift, dtype=np.float64) ** 2)


def shifts_for(
    shift: int | Integer, rng: np.random.Generator, n_features: int | None, budget: float | None
) -> Integers:
    """Shifts of so many features, or of as many as the budget pays for."""
    if n_features is None and isinstance(shift, int):
        n_features = int((budget or 0.0) // float(cost_of(shift)))
    if n_features is not None:
        return drawn(shift, rng, n_features)
    assert isinstance(shift, Integer)
    chosen, left = [], float(budget or 0.0)
    mean_cost = cost_of(np.arange(shift.low, shift.high + 1)).mean()
    # A feature above the rest of the budget is drawn again, until none is affordable.
    while left >= cost_of(shift.low):
        more = drawn(shift, rng, int(left / mean_cost) + 8)
        total = np.cumsum(cost_of(more))
        n = int(np.searchsorted(total, left, side="right"))
        chosen.append(more[:n])
        left -= total[n - 1] if n else 0.0
    return np.concatenate([np.zeros(0, dtype=np.int64), *chosen])


def draw_set(
    wanted: Mapping[str, Any],
    shift: Integers,
    rng: np.random.Generator,
    image_shape: tuple[int, int],
    window: int,
    n_jobs: int | None,
) -> AndOrSet:
    """One feature for each shift, with the wanted values, or values of the wanted dimensions."""
    from tamis.meta.images._and_or_kernels import draw_shapes

    n, (height, width) = len(shift), image_shape
    n_inputs = drawn(wanted["num_inputs"], rng, n)
    percent = drawn(wanted["percent_pos"], rng, n)
    scatter = drawn(wanted["scatter"], rng, n).astype(np.float64)
    # Every feature has a seed, whatever thread draws it.
    seeds = rng.integers(0, 2**64, size=n, dtype=np.uint64)
    rows, columns = np.zeros((2, n, MOST_INPUTS), dtype=np.int64)
    in_parts(
        draw_shapes, n, n * CELLS_PER_SHAPE, n_jobs, seeds, n_inputs, scatter, SCATTER_TOLERANCE,
        height, width, rows, columns,
    )  # fmt: skip
    used = np.arange(MOST_INPUTS) < n_inputs[:, None]
    rows += _places(rows, used, height, wanted["row"], window, rng)[:, None]
    columns += _places(columns, used, width, wanted["column"], window, rng)[:, None]
    n_positive = np.floor(percent * n_inputs / 100 + 0.5)
    lots = np.where(used, rng.random(used.shape), 2.0)
    positive = lots.argsort(axis=1).argsort(axis=1) < n_positive[:, None]
    return AndOrSet.of(np.stack([rows, columns, positive], axis=2), n_inputs, shift)


def drawn(value: Any, rng: np.random.Generator, n: int) -> NDArray[Any]:
    """The number n times, or n numbers drawn from the dimension."""
    if isinstance(value, Integer):
        return rng.integers(value.low, value.high, size=n, endpoint=True, dtype=np.int64)
    if isinstance(value, Real):
        return np.asarray(value.low + (value.high - value.low) * rng.random(n))
    return np.full(n, value)


def _places(
    values: Integers,
    used: NDArray[np.bool_],
    size: int,
    location: int | Integer | None,
    window: int,
    rng: np.random.Generator,
) -> Integers:
    """How far to move each feature along one axis: into the image, or to near a location."""
    first = -np.where(used, values, values.max(initial=0)).min(axis=1)
    last = size - 1 - np.where(used, values, values.min(initial=0)).max(axis=1)
    if location is not None:
        centre = np.where(used, values, 0).sum(axis=1) / used.sum(axis=1)
        around = drawn(location, rng, len(values)) - window / 2 - centre
        nearest = np.ceil(around).astype(np.int64)
        first, last = np.clip(nearest, first, last), np.clip(nearest + window - 1, first, last)
    return np.asarray(rng.integers(first, last, endpoint=True))
