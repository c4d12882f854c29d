"""Drawing prototypes: where they come from, their values and their meta-features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.meta._gabor import GaborLayer
from tamis.meta._patch_distances import Floats, Singles

META_NAMES = ("size", "mean", "deviation", "peak", "quantile_0.3", "quantile_0.7")


def pixel_deviation(images: NDArray[Any], block: int) -> float:
    """Standard deviation of all pixels, a block of images at a time; 1 if they are all equal."""
    blocks = [slice(start, start + block) for start in range(0, len(images), block)]
    low = min(float(images[some].min()) for some in blocks)
    high = max(float(images[some].max()) for some in blocks)
    if low == high:
        return 1.0
    # Shifted and scaled, no number is too large to be squared.
    middle, half = low / 2 + high / 2, high / 2 - low / 2
    sums = np.zeros(2)
    for some in blocks:
        shifted = (images[some].astype(np.float64) - middle) / half
        sums += shifted.sum(), (shifted**2).sum()
    mean, square = sums / images.size
    return float(half * np.sqrt(square - mean**2))


def draw_origins(
    sizes: NDArray[np.intp], shapes: Sequence[tuple[int, int]], n_images: int, random: Any
) -> NDArray[np.intp]:
    """Image, band, row and column of patches of the given sizes.

    All images are equally likely, then all bands that are large enough, then all their places.
    """
    origins = np.empty((sizes.size, 4), dtype=np.intp)
    origins[:, 0] = random.randint(n_images, size=sizes.size)
    chances = random.uniform(size=(3, sizes.size))
    for size in np.unique(sizes):
        chosen = sizes == size
        band_chance, row_chance, column_chance = chances[:, chosen]
        fitting = np.array([band for band, shape in enumerate(shapes) if min(shape) >= size])
        bands = fitting[(band_chance * fitting.size).astype(np.intp)]
        n_rows, n_columns = (np.array(shapes) - size + 1)[bands].T
        origins[chosen, 1] = bands
        origins[chosen, 2] = row_chance * n_rows
        origins[chosen, 3] = column_chance * n_columns
    return origins


def cut_out(
    layer: GaborLayer,
    images: NDArray[Any],
    scale: float,
    origins: NDArray[np.intp],
    sizes: NDArray[np.intp],
) -> list[Singles]:
    """The patches at the origins; only images that some patch comes from are filtered."""
    prototypes: list[Any] = [None] * len(origins)
    used = np.unique(origins[:, 0])
    for start in range(0, used.size, layer.block):
        some = used[start : start + layer.block]
        bands = layer.bands(images[some].astype(np.float64) / scale)
        for j in np.flatnonzero(np.isin(origins[:, 0], some)):
            image, band, row, column = origins[j]
            place = slice(row, row + sizes[j]), slice(column, column + sizes[j])
            prototypes[j] = bands[band][np.searchsorted(some, image)][place].copy()
    return prototypes


def describe(prototypes: Sequence[Singles]) -> Floats:
    """Meta-features of every prototype, over all places and orientations."""
    meta = np.empty((len(prototypes), len(META_NAMES)))
    for row, prototype in zip(meta, prototypes, strict=True):
        values = prototype.astype(np.float64)
        row[0], row[1], row[2], row[3] = len(values), values.mean(), values.std(), values.max()
        row[4:] = np.quantile(values, (0.3, 0.7))
    return meta
