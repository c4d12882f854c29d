"""Images as local maxima of Gabor responses, and patches of these: drawing and distances."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from scipy import fft

from tamis.data.frames import is_frame
from tamis.exceptions import InputError

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Bands = list[Singles]
# A stretch of places: a band and its rows of places from the first up to the second.
Piece = tuple[int, int, int]

META_NAMES = ("size", "mean", "deviation", "peak", "quantile_0.3", "quantile_0.7")
# Bytes of patches laid out for one product; its result takes no more.
PATCH_BYTES = 4 * 2**20
# Prototypes of one product.
PROTOTYPES_AT_ONCE = 256
# Complex numbers that filtering one block of images may hold, in bytes.
BLOCK_BYTES = 8 * 2**20
MOST_IMAGES = 64
# Squared norm of pixels under a filter (in units of their variance) that counts as black: what the
# Fourier transform leaves of nothing is far below.
FAINTEST = 1e-9
MOST_SCALES, LARGEST_STRIDE = 16, 4


def as_lines(X: Any) -> tuple[Any, tuple[int, ...] | None]:
    """Images as lines of pixels, and their rows and columns if `X` tells them."""
    if is_frame(X) or hasattr(X, "tocsr"):
        return X, None
    X = np.asarray(X)
    if X.ndim > 3:
        raise InputError(
            "PatchPrototypes: expected images of shape (n_images, n_pixels) or (n_images, rows, "
            f"columns), got shape {X.shape}. Turn colours into grey, for example with "
            "X.mean(axis=-1)."
        )
    return (X, None) if X.ndim < 3 else (X.reshape(len(X), -1), X.shape[1:])


def shape_of(n_pixels: int, given: Any, wanted: Any) -> tuple[int, int]:
    """Rows and columns of an image: as they came, as they are wanted, or square."""
    side = math.isqrt(n_pixels)
    if given is None and wanted is None and side * side != n_pixels:
        raise InputError(
            f"PatchPrototypes: expected square images, got {n_pixels} pixels. Pass "
            "image_shape=(rows, columns), or images of shape (n_images, rows, columns)."
        )
    rows, columns = given or (wanted if wanted is not None else (side, side))
    expected = (rows, columns) if wanted is None else tuple(wanted)
    if (rows, columns) != expected or rows * columns != n_pixels:
        came = f"{n_pixels} pixels" if given is None else f"{rows} x {columns}"
        raise InputError(
            f"PatchPrototypes: expected images of {expected[0]} x {expected[1]} pixels, got {came}."
        )
    return int(rows), int(columns)


def gabor_filters(size: int, n_orientations: int) -> Floats:
    """Gabor filters of one size, of shape (n_orientations, size, size)."""
    # Table 1 of Serre et al. (2007) within 2 %. Filters live on a disc, so that no orientation sees
    # more of the image, and have zero mean, so that a flat image gives nothing.
    sigma = 0.0036 * size**2 + 0.35 * size + 0.18
    wavelength = sigma / 0.8
    y, x = np.mgrid[:size, :size] - (size - 1) / 2
    disc = disc_of(size)
    filters = np.zeros((n_orientations, size, size))
    for k in range(n_orientations):
        angle = math.pi * k / n_orientations
        along = x * math.cos(angle) + y * math.sin(angle)
        across = y * math.cos(angle) - x * math.sin(angle)
        wave = np.exp(-(along**2 + (0.3 * across) ** 2) / (2 * sigma**2))
        wave *= np.cos(2 * math.pi * along / wavelength)
        wave = np.where(disc, wave - wave[disc].mean(), 0.0)
        filters[k] = wave / np.linalg.norm(wave)
    return filters


def disc_of(size: int) -> NDArray[np.bool_]:
    """Pixels of a square that a filter looks at."""
    y, x = np.mgrid[:size, :size] - (size - 1) / 2
    return np.hypot(x, y) <= size / 2


def default_filter_size(side: int) -> int:
    """Size of the smallest filter: 7 as published, 5 for small images."""
    return 7 if side >= 64 else 5


def default_n_scales(side: int, smallest: int) -> int:
    """Even number of scales whose filters stay within two thirds of the image; at most 16."""
    n_fitting = (2 * side // 3 - smallest) // 2 + 1
    return min(max(n_fitting // 2 * 2, 2), MOST_SCALES)


def default_pool_size(side: int, largest_patch: int) -> int:
    """Places of the first maximum: 8 as published, less where large patches would not fit."""
    return 2 * min(max(side // (2 * largest_patch), 1), LARGEST_STRIDE)


@dataclass
class GaborLayer:
    """From images to bands: filters, absolute value, maximum over places and two scales."""

    image_shape: tuple[int, int]
    n_orientations: int
    filter_sizes: tuple[int, ...]
    pool_sizes: tuple[int, ...]
    normalize: bool = False

    @property
    def shapes(self) -> list[tuple[int, int]]:
        height, width = self.image_shape
        strides = [stride_of(pool) for pool in self.pool_sizes]
        return [(-(-height // stride), -(-width // stride)) for stride in strides]

    @property
    def block(self) -> int:
        """Images to filter at a time; depends on nothing but the sizes."""
        height, width = self._transform_shape
        held = 16 * height * (width // 2 + 1) * (2 * self.n_orientations + 1)
        return min(max(BLOCK_BYTES // held, 1), MOST_IMAGES)

    def bands(self, images: Floats) -> Bands:
        """Bands of shape (n_images, rows, columns, n_orientations) of float64 images."""
        margin = self._margin
        padding = ((0, 0), (margin, margin), (margin, margin))
        # Mirrored at the border: any constant would put an edge around every image.
        padded = np.pad(images, padding, mode="symmetric")
        spectrum = fft.rfft2(padded, self._transform_shape)[:, None]
        energy = fft.rfft2(padded**2, self._transform_shape)[:, None] if self.normalize else None
        found = []
        for band, pool in enumerate(self.pool_sizes):
            pair = self.filter_sizes[2 * band : 2 * band + 2]
            first, second = (self._responses(spectrum, energy, size) for size in pair)
            np.maximum(first, second, out=first)
            maxima = local_maxima(first, pool).astype(np.float32)
            found.append(np.ascontiguousarray(np.moveaxis(maxima, 1, -1)))
        return found

    def _responses(self, spectrum: Any, energy: Any, size: int) -> Floats:
        """Absolute responses to one size, of shape (n_images, n_orientations, rows, columns)."""
        waves, window = self._spectra[size] if self._keeps_spectra else self._transform(size)
        responses = np.abs(self._correlate(spectrum, waves))
        if energy is None:
            return responses
        # The largest possible response is the norm of the pixels, so this lies in [0, 1].
        squared = np.maximum(self._correlate(energy, window), FAINTEST)
        return responses / np.sqrt(squared)

    def _correlate(self, spectrum: Any, filters: Any) -> Floats:
        height, width = self.image_shape
        product = fft.irfft2(spectrum * filters, self._transform_shape, overwrite_x=True)
        return np.asarray(product[..., :height, :width])

    @property
    def _margin(self) -> int:
        return max(self.filter_sizes) // 2

    @cached_property
    def _transform_shape(self) -> tuple[int, int]:
        height, width = (
            fft.next_fast_len(side + 2 * self._margin, real=True) for side in self.image_shape
        )
        return height, width

    @property
    def _keeps_spectra(self) -> bool:
        """Whether the transforms of all filters are small; of large images they would not be."""
        height, width = self._transform_shape
        n_filters = len(self.filter_sizes) * (self.n_orientations + 1)
        return 8 * height * width * n_filters <= 4 * BLOCK_BYTES

    @cached_property
    def _spectra(self) -> dict[int, tuple[Any, Any]]:
        return {size: self._transform(size) for size in self.filter_sizes}

    def _transform(self, size: int) -> tuple[Any, Any]:
        """Transforms of the filters of one size, and of the disc they live on."""
        waves = gabor_filters(size, self.n_orientations)
        stack = np.zeros((self.n_orientations + 1, *self._transform_shape))
        # All filters start where the largest one does.
        start = self._margin - size // 2
        stack[:, start : start + size, start : start + size] = [*waves, disc_of(size)]
        spectra = fft.rfft2(stack)
        np.conjugate(spectra, out=spectra)
        return spectra[:-1], spectra[-1:]


def stride_of(pool: int) -> int:
    """Distance between the squares of a maximum: they overlap by half."""
    return max(pool // 2, 1)


def local_maxima(responses: Floats, pool: int) -> Floats:
    """Maximum over squares of the last two axes; those at the far border are cut off there."""
    stride = stride_of(pool)
    for axis in (-2, -1):
        responses = np.moveaxis(responses, axis, -1)
        side = responses.shape[-1]
        n_squares = -(-side // stride)
        maxima = np.array(responses[..., ::stride])
        for shift in range(1, pool):
            inside = responses[..., shift::stride][..., :n_squares]
            np.maximum(maxima[..., : inside.shape[-1]], inside, out=maxima[..., : inside.shape[-1]])
        responses = np.moveaxis(maxima, -1, axis)
    return responses


class PatchGroup(NamedTuple):
    """Prototypes of one size."""

    size: int
    columns: NDArray[np.intp]  # their places among all prototypes
    factors: Singles  # (n, size * size * n_orientations + 1): minus the values, and a one


def group_by_size(prototypes: Sequence[Singles], centre: Singles) -> list[PatchGroup]:
    """Prototypes as matrices, one for every size, less the centre of every orientation."""
    sizes = np.array([len(prototype) for prototype in prototypes])
    groups = []
    for size in np.unique(sizes):
        columns = np.flatnonzero(sizes == size)
        values = np.stack([prototypes[int(j)] for j in columns]) - centre
        values = values.reshape(columns.size, -1)
        factors = np.hstack([-values, np.ones((columns.size, 1), dtype=np.float32)])
        groups.append(PatchGroup(int(size), columns, factors))
    return groups


def count_places(shapes: Sequence[tuple[int, ...]], size: int) -> int:
    """Number of patches of a size in all bands of an image."""
    return sum(max(shape[0] - size + 1, 0) * max(shape[1] - size + 1, 0) for shape in shapes)


def squared_distances(bands: Bands, groups: Sequence[PatchGroup], out: Floats) -> None:
    """Write the smallest squared distance of every image (row) and prototype (column) to `out`."""
    for group in groups:
        n_prototypes, n_values = group.factors.shape
        nearest = np.full((n_prototypes, len(out)), np.inf)
        for images, pieces in _steps(bands, group.size, n_values):
            patches = _patches(bands, images, pieces, group.size)
            for first in range(0, n_prototypes, PROTOTYPES_AT_ONCE):
                some = slice(first, first + PROTOTYPES_AT_ONCE)
                found = _nearest(patches, group.factors[some])
                np.minimum(nearest[some, images], found, out=nearest[some, images])
        out[:, group.columns] = nearest.T


def _steps(bands: Bands, size: int, n_values: int) -> Iterator[tuple[slice, list[Piece]]]:
    """Images, many small ones or a piece of a large one, whose patches fit into one product."""
    room = max(PATCH_BYTES // (4 * max(n_values, PROTOTYPES_AT_ONCE)), 1)
    shapes = [band.shape[1:3] for band in bands]
    cuts = _pieces(shapes, size, room)
    n_images = max(room // count_places(shapes, size), 1) if len(cuts) == 1 else 1
    for start in range(0, len(bands[0]), n_images):
        for pieces in cuts:
            yield slice(start, start + n_images), pieces


def _pieces(shapes: Sequence[tuple[int, ...]], size: int, room: int) -> list[list[Piece]]:
    """All places of an image in lists of at most `room` places, or of one row of them."""
    cuts: list[list[Piece]] = [[]]
    left = room
    for band, shape in enumerate(shapes):
        n_rows, n_columns = shape[0] - size + 1, shape[1] - size + 1
        row = 0
        while n_columns > 0 and row < n_rows:
            n_taken = min(n_rows - row, left // n_columns)
            if n_taken == 0 and cuts[-1]:
                cuts.append([])
                left = room
                continue
            n_taken = max(n_taken, 1)
            cuts[-1].append((band, row, row + n_taken))
            left = max(left - n_taken * n_columns, 0)
            row += n_taken
    return cuts


def _patches(bands: Bands, images: slice, pieces: list[Piece], size: int) -> Singles:
    """Patches (n_images, n_places, n_values + 1); the last value is half of the squared norm."""
    windows, halves = [], []
    for band, first, last in pieces:
        values = bands[band][images, first : last + size - 1]
        n_images, n_rows, n_columns, n_orientations = values.shape
        lines = values.reshape(n_images, n_rows, n_columns * n_orientations)
        # Pixels and orientations of a line lie side by side, so a patch is copied by whole lines.
        windows.append(
            sliding_window_view(lines, (size, size * n_orientations), axis=(1, 2))[
                :, :, ::n_orientations
            ]
        )
        halves.append(_box_sums(np.einsum("ijkl,ijkl->ijk", values, values), size) / 2)
    counts = [half[0].size for half in halves]
    n_values = size * windows[0].shape[-1]
    patches = np.empty((len(halves[0]), sum(counts), n_values + 1), dtype=np.float32)
    start = 0
    for window, half, count in zip(windows, halves, counts, strict=True):
        part = patches[:, start : start + count]
        # Splitting axes is a view even with a gap after every row, so this writes to `patches`.
        part[..., :-1].reshape(window.shape)[...] = window
        part[..., -1] = half.reshape(len(half), count)
        start += count
    return patches


def _box_sums(values: Singles, size: int) -> Singles:
    """Sums over all squares of the last two axes: lines first, then columns."""
    n_rows, n_columns = values.shape[1] - size + 1, values.shape[2] - size + 1
    lines = np.zeros((*values.shape[:2], n_columns), dtype=np.float32)
    for shift in range(size):
        lines += values[:, :, shift : shift + n_columns]
    boxes = np.zeros((len(values), n_rows, n_columns), dtype=np.float32)
    for shift in range(size):
        boxes += lines[:, shift : shift + n_rows]
    return boxes


def _nearest(patches: Singles, factors: Singles) -> Floats:
    """Smallest squared distance of every prototype (row) to the patches of every image (column)."""
    # |x - p|^2 = 2 (|x|^2 / 2 - x p) + |p|^2, and one product gives what is in brackets. It tells
    # which patch is the nearest; its distance is taken again from the differences, as in single
    # precision little would be left of these terms where a patch is very like the prototype.
    n_images, n_places, n_values = patches.shape
    half = factors @ patches.reshape(-1, n_values).T
    places = half.reshape(len(factors), n_images, n_places).argmin(axis=2)
    squared = np.empty(places.shape)
    at_once = max(PATCH_BYTES // (4 * n_values * n_images), 1)
    for first in range(0, len(factors), at_once):
        some = slice(first, first + at_once)
        differences = patches[np.arange(n_images), places[some], :-1]
        differences += factors[some, None, :-1]  # the factors are minus the prototypes
        squared[some] = np.vecdot(differences, differences)
    return squared


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
    """Image, band that is large enough, row and column of patches, each drawn uniformly."""
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
    layer: GaborLayer, images: NDArray[Any], scale: float, origins: NDArray[np.intp],
    sizes: NDArray[np.intp],
) -> list[Singles]:  # fmt: skip
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
        row[:4] = len(values), values.mean(), values.std(), values.max()
        row[4:] = np.quantile(values, (0.3, 0.7))
    return meta
