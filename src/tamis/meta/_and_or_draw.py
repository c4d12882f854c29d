"""Random AND/OR features with given properties."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.meta._and_or_set import MOST_INPUTS, AndOrSet, Integers
from tamis.meta._bits import in_parts
from tamis.meta.dimensions import Integer, Real

Floats = NDArray[np.float64]

# How far the scatter of a drawn feature may be from the one asked for.
SCATTER_TOLERANCE = 0.15

# Cells of a table that take as long as one random shape, to judge whether threads are worth it.
CELLS_PER_SHAPE = 20_000


@dataclass(frozen=True)
class Wanted:
    """What features to draw: numbers, or dimensions to draw each feature's own number from.

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
    # A feature too dear for what is left is drawn again, until nothing can be paid for.
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
    from tamis.meta._and_or_kernels import draw_shapes

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
