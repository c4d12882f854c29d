"""Features of pictures that were learned elsewhere: patches of digits, looked for in clothes.

They stand in for the activations of a network that was trained on other pictures: every column
says how much a part of the picture looks like one patch of a digit.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

SIDE, PATCH, STRIDE = 28, 6, 2
CHUNK = 500
N_DIGITS = 500


def patches_of(images: Floats) -> Floats:
    """All patches of every picture: pictures, rows of patches, columns of patches, 36 values.

    Each has mean 0 and about unit spread; flat ones stay near 0.
    """
    pictures = images.reshape(-1, SIDE, SIDE).astype(np.float32)
    windows = np.lib.stride_tricks.sliding_window_view(pictures, (PATCH, PATCH), axis=(1, 2))
    flat = windows[:, ::STRIDE, ::STRIDE].reshape(*windows[:, ::STRIDE, ::STRIDE].shape[:3], -1)
    centred = flat - flat.mean(axis=-1, keepdims=True)
    return np.asarray(centred / (centred.std(axis=-1, keepdims=True) + 10.0), dtype=np.float32)


def draw_filters(images: Floats, n_filters: int, seed: int) -> Floats:
    """Random patches with something on them, of length 1, one per column."""
    rng = np.random.default_rng(seed)
    patches = patches_of(images).reshape(-1, PATCH * PATCH)
    busy = patches[patches.std(axis=1) > 0.5]
    chosen = busy[rng.choice(busy.shape[0], n_filters, replace=False)]
    return np.asarray(chosen / np.linalg.norm(chosen, axis=1, keepdims=True)).T


def features_of(images: Floats, filters: Floats) -> Floats:
    """Mean positive answer to every filter in every quarter of a picture; rows of length 1."""
    parts = [
        _quarters(np.maximum(patches_of(images[start : start + CHUNK]) @ filters, 0.0))
        for start in range(0, images.shape[0], CHUNK)
    ]
    features = np.vstack(parts)
    length = np.linalg.norm(features, axis=1, keepdims=True)
    return np.asarray(features / np.maximum(length, 1e-12), dtype=np.float32)


def _quarters(answers: Floats) -> Floats:
    half = answers.shape[1] // 2
    quarters = [
        answers[:, rows, columns].mean(axis=(1, 2))
        for rows in (slice(None, half), slice(half, None))
        for columns in (slice(None, half), slice(half, None))
    ]
    return np.hstack(quarters)


@lru_cache(maxsize=1)
def load_features(n_filters: int, n_train: int, n_test: int, seed: int) -> tuple[Any, ...]:
    """Training and test part of Fashion-MNIST, as features; kept for the next unit of work."""
    from tamis import datasets

    digits: Any = datasets.load("mnist")
    clothes: Any = datasets.load("fashion_mnist")
    rng = np.random.default_rng([seed, 2007])
    some = rng.permutation(digits.y.size)[:N_DIGITS]
    filters = draw_filters(digits.X[some], n_filters, seed)
    split = np.asarray(clothes.split)
    train = rng.permutation(np.flatnonzero(split == 0))[:n_train]
    test = rng.permutation(np.flatnonzero(split == 1))[:n_test]
    return (
        *(features_of(clothes.X[train], filters), np.asarray(clothes.y)[train]),
        *(features_of(clothes.X[test], filters), np.asarray(clothes.y)[test]),
    )
