"""AND/OR patterns drawn at random and measured on packed bits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.compilation import announce_compilation
from tamis._runtime.threads import effective_jobs, run_parts, split_evenly, threads_for
from tamis.meta.images._and_or_set import MOST_INPUTS, AndOrSet, Integers
from tamis.meta.search.dimensions import Integer, Real

Words = NDArray[np.uint64]

# Features of a part: it goes through all images, so many features make the most of the cache.
PART = 512
# Packed cells are done so much faster that a thread needs more of them to be worth waking.
PACKED = 8

# Bytes.
CACHE_LINE = 64


@dataclass(frozen=True, eq=False, repr=False)
class PackedImages:
    """Images as bits; made once by ``AndOrFeatures.pack`` and measured many times.

    `pixels`, (n_blocks, n_padded_pixels, words of a block), has a bit for each image; `padding` are
    rows and columns of background below and to the right.
    """

    pixels: Words
    n_images: int
    image_shape: tuple[int, int]
    padding: int

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

    n_images = binary.shape[0]
    height, width = image_shape
    n_blocks = -(-n_images // (64 * BLOCK))
    stride = width + padding
    pixels = aligned_zeros((n_blocks, (height + padding) * stride, BLOCK))

    def pack(first: int, last: int) -> None:
        pack_pixels(binary, first, last, width, stride, pixels)

    in_parts(pack, pack_pixels, n_blocks * BLOCK, binary.size, n_jobs)
    return PackedImages(pixels, n_images, image_shape, padding)


def aligned_zeros(shape: tuple[int, ...]) -> Words:
    """Words that start with a line of the cache: vectors across two lines take a fifth longer."""
    n_bytes = 8 * int(np.prod(shape))
    raw = np.zeros(n_bytes + CACHE_LINE, dtype=np.uint8)
    start = -raw.ctypes.data % CACHE_LINE
    return raw[start : start + n_bytes].view(np.uint64).reshape(shape)


def measure_words(
    images: PackedImages,
    inputs: NDArray[np.uint64],
    flip: Words,
    n_inputs: NDArray[np.int64],
    shift: NDArray[np.int64],
    n_jobs: int | None,
) -> Words:
    """Words of each feature, (n_features, n_words); bits beyond the last image are 0."""
    from tamis.meta.images._and_or_kernels import measure_features

    n_blocks, n_padded, block = images.pixels.shape
    pixels = images.pixels.reshape(n_blocks, n_padded * block)
    stride, n_images = images.image_shape[1] + images.padding, images.n_images
    out = np.empty((len(shift), n_blocks, block), dtype=np.uint64)

    def measure(first: int, last: int) -> None:
        measure_features(pixels, inputs, flip, n_inputs, shift, stride, n_images, first, last, out)

    in_parts(measure, measure_features, len(shift), n_images * len(shift) // PACKED, n_jobs)
    words = out.reshape(len(shift), n_blocks * block)[:, : -(-n_images // 64)]
    return np.ascontiguousarray(words)  # one layout for the kernels that follow


def unpack(words: Words, n_images: int, n_jobs: int | None) -> NDArray[np.uint8]:
    """Bits of every row as bytes, (n_images, n_rows) with contiguous columns."""
    from tamis.meta.images._and_or_kernels import unpack_bits

    out = np.empty((len(words), 8 * words.shape[1]), dtype=np.uint64)

    def work(first: int, last: int) -> None:
        unpack_bits(words, first, last, out)

    in_parts(work, unpack_bits, len(words), words.size * 64 // PACKED, n_jobs)
    return out.view(np.uint8)[:, :n_images].T


def count_ones(words: Words, masks: Words, n_jobs: int | None) -> NDArray[np.int64]:
    """Bits that each row has in common with each mask, (n_masks, n_rows)."""
    from tamis.meta.images._and_or_kernels import count_bits

    out = np.empty((len(masks), len(words)), dtype=np.int64)

    def work(first: int, last: int) -> None:
        count_bits(words, masks, first, last, out)

    in_parts(work, count_bits, len(words), words.size * len(masks), n_jobs)
    return out


def class_masks(codes: NDArray[Any], n_classes: int) -> Words:
    """Words with a bit for every row of each class, (n_classes, n_words)."""
    n_words = -(-len(codes) // 64)
    bits = np.zeros((n_classes, n_words * 64), dtype=np.uint64)
    bits[codes, np.arange(len(codes))] = 1
    weights = np.uint64(1) << np.arange(64, dtype=np.uint64)
    words = (bits.reshape(n_classes, n_words, 64) * weights).sum(axis=2, dtype=np.uint64)
    return np.asarray(words)


def in_parts(
    function: Callable[[int, int], None], compiled: Any, n: int, n_cells: int, n_jobs: int | None
) -> None:
    """Call the function for pieces of ``range(n)``, on threads if there is enough to do."""
    with announce_compilation(compiled):
        n_parts = max(-(-n // PART), min(n, effective_jobs(n_jobs)))
        run_parts(function, split_evenly(0, n, n_parts) if n else [], threads_for(n_cells, n_jobs))


Floats = NDArray[np.float64]

# How far the scatter of a drawn feature may be from the one asked for.
SCATTER_TOLERANCE = 0.15

# Cells of a table that take as long as one random shape, to judge whether threads are worth it.
CELLS_PER_SHAPE = 20_000


@dataclass(frozen=True)
class Wanted:
    """What features to draw: values, or dimensions to draw a value for each feature from.

    ``None`` for a row or a column means anywhere.
    """

    num_inputs: int | Integer
    percent_pos: int | Integer
    shift: int | Integer
    scatter: float | Real
    row: int | Integer | None
    column: int | Integer | None


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
        return whole_numbers(shift, rng, n_features)
    assert isinstance(shift, Integer)
    chosen, left = [], float(budget or 0.0)
    mean_cost = cost_of(np.arange(shift.low, shift.high + 1)).mean()
    # A feature above the rest of the budget is drawn again, until none is affordable.
    while left >= cost_of(shift.low):
        drawn = whole_numbers(shift, rng, int(left / mean_cost) + 8)
        total = np.cumsum(cost_of(drawn))
        n = int(np.searchsorted(total, left, side="right"))
        chosen.append(drawn[:n])
        left -= total[n - 1] if n else 0.0
    return np.concatenate([np.zeros(0, dtype=np.int64), *chosen])


def draw_set(
    wanted: Wanted,
    shift: Integers,
    rng: np.random.Generator,
    *,
    image_shape: tuple[int, int],
    window: int,
    n_jobs: int | None,
) -> AndOrSet:
    """One feature for each shift; shape, place and signs are random."""
    n, (height, width) = len(shift), image_shape
    n_inputs = whole_numbers(wanted.num_inputs, rng, n)
    percent = whole_numbers(wanted.percent_pos, rng, n)
    scatter = numbers(wanted.scatter, rng, n)
    rows, columns = _shapes(n_inputs, scatter, rng, image_shape, n_jobs)
    used = np.arange(MOST_INPUTS) < n_inputs[:, None]
    rows += _places(rows, used, height, wanted.row, window, rng)[:, None]
    columns += _places(columns, used, width, wanted.column, window, rng)[:, None]
    n_positive = np.floor(percent * n_inputs / 100 + 0.5)
    lots = np.where(used, rng.random(used.shape), 2.0)
    positive = lots.argsort(axis=1).argsort(axis=1) < n_positive[:, None]
    return AndOrSet.of(rows, columns, positive, n_inputs, shift)


def whole_numbers(value: int | Integer, rng: np.random.Generator, n: int) -> Integers:
    """The number n times, or n numbers drawn from the dimension."""
    if isinstance(value, Integer):
        return rng.integers(value.low, value.high, size=n, endpoint=True, dtype=np.int64)
    return np.full(n, value, dtype=np.int64)


def numbers(value: float | Real, rng: np.random.Generator, n: int) -> Floats:
    """The number n times, or n numbers drawn from the dimension."""
    if isinstance(value, Real):
        return value.low + (value.high - value.low) * rng.random(n)
    return np.full(n, value, dtype=np.float64)


def _shapes(
    n_inputs: Integers,
    scatter: Floats,
    rng: np.random.Generator,
    image_shape: tuple[int, int],
    n_jobs: int | None,
) -> tuple[Integers, Integers]:
    """Pixels of each feature, somewhere; every feature has a seed, whatever thread draws it."""
    from tamis.meta.images._and_or_kernels import draw_shapes

    n, (height, width) = len(n_inputs), image_shape
    seeds = rng.integers(0, 2**64, size=n, dtype=np.uint64)
    rows = np.zeros((n, MOST_INPUTS), dtype=np.int64)
    columns = np.zeros((n, MOST_INPUTS), dtype=np.int64)

    def draw(first: int, last: int) -> None:
        draw_shapes(
            seeds, n_inputs, scatter, SCATTER_TOLERANCE, height, width, first, last, rows, columns
        )

    in_parts(draw, draw_shapes, n, n * CELLS_PER_SHAPE, n_jobs)
    return rows, columns


def _places(
    values: Integers,
    used: NDArray[np.bool_],
    size: int,
    location: int | Integer | None,
    window: int,
    rng: np.random.Generator,
) -> Integers:
    """How far to move each feature along one axis: to a random place inside of the image.

    With a location, the centre of gravity goes to one of the `window` places around it, as far as
    the border allows.
    """
    first = -np.where(used, values, values.max(initial=0)).min(axis=1)
    last = size - 1 - np.where(used, values, values.min(initial=0)).max(axis=1)
    if location is not None:
        centre = np.where(used, values, 0).sum(axis=1) / used.sum(axis=1)
        around = whole_numbers(location, rng, len(values)) - window / 2 - centre
        nearest = np.ceil(around).astype(np.int64)
        first, last = np.clip(nearest, first, last), np.clip(nearest + window - 1, first, last)
    return np.asarray(rng.integers(first, last, endpoint=True))


def fill(values: Mapping[str, Any], dimensions: Mapping[str, Any]) -> Wanted:
    """Values where they are known, else the dimension; any row and column if not known."""
    known = {name: values.get(name, dimensions[name]) for name in dimensions}
    for name in ("row", "column"):
        known[name] = values.get(name)
    return Wanted(**known)
