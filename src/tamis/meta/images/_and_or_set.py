"""Sets of AND/OR patterns: layout, checks, random draws, and values on packed bits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tamis._runtime.threads import effective_jobs, run_kernel, split_evenly, threads_for
from tamis.exceptions import InputError
from tamis.meta.search.dimensions import Integer, Real

Integers = NDArray[np.int64]
Words = NDArray[np.uint64]

MOST_INPUTS = 8
# Features that `repr` writes out.
SHOWN = 2
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
class AndOrSet:
    """Features made of pixels: AND of the inputs, OR over ``shift * shift`` shifted copies.

    Sets compare by value, can be stored as JSON with `to_dict`, and give sets again for an index,
    a mask or a slice. The inputs of a feature are kept sorted by row, then by column.

    Attributes
    ----------
    rows, columns : ndarray of int of shape (n_features, 8)
        Pixels of the inputs; 0 beyond the number of inputs.
    positive : ndarray of bool of shape (n_features, 8)
        False where the pixel is negated, and beyond the number of inputs.
    n_inputs : ndarray of int of shape (n_features,)
        Number of inputs, 1 to 8.
    shift : ndarray of int of shape (n_features,)
        Side of the square of shifts, 1 for none.
    """

    rows: Integers
    columns: Integers
    positive: NDArray[np.bool_]
    n_inputs: Integers
    shift: Integers

    @classmethod
    def of(cls, table: Integers, n_inputs: Integers, shift: Integers) -> AndOrSet:
        """Make a set of row, column and sign of inputs in any order, (n_features, 8, 3)."""
        used = np.arange(MOST_INPUTS) < n_inputs[:, None]
        order = np.lexsort((table[..., 1], table[..., 0], ~used), axis=1)
        ordered = np.take_along_axis(table, order[..., None], axis=1)
        rows, columns, signs = np.moveaxis(np.where(used[..., None], ordered, 0), 2, 0).copy()
        return cls._frozen(rows, columns, signs == 1, n_inputs.copy(), shift.copy())

    @classmethod
    def from_inputs(cls, inputs: Iterable[Any], shift: ArrayLike = 1) -> AndOrSet:
        """Make a set by hand, see :meth:`tamis.meta.AndOrFeatures.features`."""
        lists = [_check_feature(feature) for feature in inputs]
        table = np.zeros((len(lists), MOST_INPUTS, 3), dtype=np.int64)
        for row, feature in zip(table, lists, strict=True):
            row[: len(feature)] = feature
        n_inputs = np.array([len(feature) for feature in lists], dtype=np.int64)
        shifts = _check_shifts(shift, len(lists))
        return cls.of(table, n_inputs, shifts)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> AndOrSet:
        """Make the set again of what `to_dict` gave."""
        if not isinstance(record, Mapping) or set(record) != {"inputs", "shift"}:
            raise InputError(
                f"AndOrSet.from_dict: expected a dict with 'inputs' and 'shift', got {record!r}."
            )
        return cls.from_inputs(record["inputs"], record["shift"])

    def to_dict(self) -> dict[str, Any]:
        """Lists of ints for JSON: ``[row, column, 1 or 0]`` of every input, and ``"shift"``."""
        table = np.stack([self.rows, self.columns, self.positive.astype(np.int64)], axis=2)
        inputs = [part[:n].tolist() for part, n in zip(table, self.n_inputs, strict=True)]
        return {"inputs": inputs, "shift": self.shift.tolist()}

    @property
    def used(self) -> NDArray[np.bool_]:
        """Which places of `rows`, `columns` and `positive` hold an input."""
        return np.arange(MOST_INPUTS) < self.n_inputs[:, None]

    def centre(self) -> NDArray[np.float64]:
        """Row and column of the centre of gravity of each feature, (n_features, 2)."""
        n = self.n_inputs.astype(np.float64)
        return np.column_stack([self.rows.sum(axis=1) / n, self.columns.sum(axis=1) / n])

    def scatter(self) -> NDArray[np.float64]:
        """Mean distance of the inputs of each feature from their centre of gravity."""
        centre = self.centre()
        distance = np.hypot(self.rows - centre[:, :1], self.columns - centre[:, 1:])
        return np.asarray(np.where(self.used, distance, 0.0).sum(axis=1) / self.n_inputs)

    def __len__(self) -> int:
        return len(self.shift)

    def __getitem__(self, chosen: Any) -> AndOrSet:
        if isinstance(chosen, int | np.integer) and not isinstance(chosen, bool):
            if not -len(self) <= chosen < len(self):
                raise IndexError(f"AndOrSet: no feature {chosen} in a set of {len(self)}.")
            chosen = [int(chosen)]
        if not isinstance(chosen, slice):
            chosen = _check_chosen(chosen, len(self))
        return self._frozen(*(part[chosen].copy() for part in self._arrays()))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AndOrSet):
            return NotImplemented
        pairs = zip(self._arrays(), other._arrays(), strict=True)
        return all(np.array_equal(mine, theirs) for mine, theirs in pairs)

    def __hash__(self) -> int:
        return hash(tuple(part.tobytes() for part in self._arrays()))

    def __reduce__(self) -> tuple[Any, ...]:
        return AndOrSet._frozen, self._arrays()

    def __repr__(self) -> str:
        count = f"{len(self)} feature{'' if len(self) == 1 else 's'}"
        if not len(self):
            return f"AndOrSet({count})"
        shown = [self._formula(number) for number in range(min(len(self), SHOWN))]
        more = ", ..." if len(self) > SHOWN else ""
        return f"AndOrSet({count}: {', '.join(shown)}{more})"

    def _formula(self, number: int) -> str:
        parts = zip(self.rows[number], self.columns[number], self.positive[number], strict=True)
        signed = [f"{'' if sign else 'not '}({row}, {column})" for row, column, sign in parts]
        text = " and ".join(signed[: self.n_inputs[number]])
        shift = self.shift[number]
        return text if shift == 1 else f"[{text}] shifted {shift} x {shift}"

    def _arrays(self) -> tuple[NDArray[Any], ...]:
        return self.rows, self.columns, self.positive, self.n_inputs, self.shift

    @classmethod
    def _frozen(cls, *arrays: NDArray[Any]) -> AndOrSet:
        for part in arrays:
            part.flags.writeable = False
        return cls(*arrays)


def _check_feature(items: Iterable[Any]) -> list[tuple[int, int, int]]:
    feature = []
    for item in items:
        values = list(item) if isinstance(item, Iterable) and not isinstance(item, str) else []
        whole = [v for v in values if isinstance(v, int | np.integer | np.bool_)]
        if len(whole) != len(values) or len(values) not in (2, 3):
            raise InputError(
                f"AndOrSet: expected (row, column) or (row, column, positive) in whole numbers for "
                f"an input, got {item!r}."
            )
        row, column, sign = [*map(int, values), 1][:3]
        if row < 0 or column < 0 or sign not in (0, 1):
            raise InputError(
                "AndOrSet: expected row and column >= 0, and 1 or 0 for a negated pixel, got "
                f"{item!r}."
            )
        feature.append((row, column, sign))
    if not 1 <= len(feature) <= MOST_INPUTS:
        raise InputError(
            f"AndOrSet: expected 1 to {MOST_INPUTS} inputs for a feature, got {len(feature)}."
        )
    if len({(row, column) for row, column, _ in feature}) < len(feature):
        raise InputError(f"AndOrSet: expected different pixels in a feature, got {feature}.")
    return feature


def _check_shifts(shift: ArrayLike, n: int) -> Integers:
    shifts = np.asarray(shift)
    if n == 0 and shifts.size == 0:
        return np.zeros(0, dtype=np.int64)
    if shifts.dtype.kind not in "iu" or shifts.shape not in ((), (n,)) or (shifts < 1).any():
        raise InputError(
            f"AndOrSet: shift must be an int of at least 1, or {n} of them, got {shift!r}."
        )
    return np.broadcast_to(shifts.astype(np.int64), (n,)).copy()


def _check_chosen(chosen: Any, n: int) -> NDArray[Any]:
    array = np.asarray(chosen)
    if array.size == 0 and array.dtype.kind != "b":
        array = array.astype(np.int64)
    if array.ndim != 1 or array.dtype.kind not in "biu":
        raise InputError(
            f"AndOrSet: expected a mask or a list of indices, got {type(chosen).__name__} with "
            f"shape {array.shape} and dtype {array.dtype}."
        )
    if array.dtype.kind == "b" and len(array) != n:
        raise InputError(f"AndOrSet: expected a mask of {n} bools, got {len(array)}.")
    if array.dtype.kind != "b" and array.size and not (-n <= array.min() and array.max() < n):
        raise InputError(
            f"AndOrSet: expected indices below {n}, got {array.min()} to {array.max()}."
        )
    return array


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
