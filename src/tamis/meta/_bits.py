"""Binary images packed 64 to a machine word, and what is done with the words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.compilation import announce_compilation
from tamis._runtime.threads import effective_jobs, run_parts, split_evenly, threads_for

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

    Attributes
    ----------
    pixels : ndarray of uint64
        (n_blocks, n_padded_pixels, words of a block): a bit for each image.
    n_images : int
        How many images there are.
    image_shape : tuple of int
        Their height and width.
    padding : int
        Rows and columns of background below and to the right of them.
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
    from tamis.meta._and_or_kernels import BLOCK, pack_pixels

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
    from tamis.meta._and_or_kernels import measure_features

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
    from tamis.meta._and_or_kernels import unpack_bits

    out = np.empty((len(words), 8 * words.shape[1]), dtype=np.uint64)

    def work(first: int, last: int) -> None:
        unpack_bits(words, first, last, out)

    in_parts(work, unpack_bits, len(words), words.size * 64 // PACKED, n_jobs)
    return out.view(np.uint8)[:, :n_images].T


def count_ones(words: Words, masks: Words, n_jobs: int | None) -> NDArray[np.int64]:
    """Bits that each row has in common with each mask, (n_masks, n_rows)."""
    from tamis.meta._and_or_kernels import count_bits

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
