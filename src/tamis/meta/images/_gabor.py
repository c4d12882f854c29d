"""Images as local maxima of Gabor responses: the representation that patches are cut from."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import fft

Floats = NDArray[np.float64]
Bands = list[NDArray[np.float32]]

# Complex numbers that filtering one block of images may hold, in bytes.
BLOCK_BYTES = 8 * 2**20
MOST_IMAGES = 64
# Squared norm of pixels under a filter (in units of their variance) that counts as black: what the
# Fourier transform leaves of nothing is far below.
FAINTEST = 1e-9
MOST_SCALES, LARGEST_STRIDE = 16, 4


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
