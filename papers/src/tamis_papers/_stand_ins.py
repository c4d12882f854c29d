"""Data that stand in for sets that cannot be had, built from MNIST, USPS and the film reviews."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Labelled = tuple[NDArray[np.float32], NDArray[np.int64]]

SIDE = 28
GISETTE_ROWS = 7000
GINA_ROWS, GINA_COLUMNS = 3153, 970
USPS_PER_DIGIT, USPS_COLUMNS = 150, 241
POLARITY_WORDS = 3000


def gisette_like(
    seed: int, n_features: int = 5000
) -> tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.bool_]]:
    """4 against 9 of MNIST: pixels, products of two pixels, and as many probes, shuffled.

    The recipe of Gisette: pixels of the upper and middle part, where the two digits differ; random
    products of two of them; and probes, which are such columns with their rows permuted.

    Returns
    -------
    X : ndarray of shape (7000, n_features)
        Grey values from 0 to 255; products are divided by 255. Rows are in random order, so that
        the first 6000 and the last 1000 can be training and validation part.
    y : ndarray of shape (7000,)
        -1 for a 4 and 1 for a 9, equally many.
    probes : ndarray of shape (n_features,)
        Whether a column is a probe.
    """
    rng = np.random.default_rng([seed, 49])
    images, digits = _mnist()
    rows = _equally_many(digits, (4, 9), GISETTE_ROWS // 2, rng)
    y = np.where(digits[rows] == 9, 1, -1)
    pixels = _upper_pixels(images[rows]).T
    n_real = n_features - n_features // 2
    columns = np.empty((n_features, rows.size), dtype=np.float32)  # one after the other in memory
    n_pixels = min(pixels.shape[0], n_real)
    columns[:n_pixels] = pixels[:n_pixels]
    for number in range(n_pixels, n_real):
        one, other = rng.choice(pixels.shape[0], 2, replace=False)
        columns[number] = pixels[one] * pixels[other] / 255
    copied = rng.choice(n_real, n_features - n_real, replace=False)
    for number, real in enumerate(copied, start=n_real):
        columns[number] = rng.permutation(columns[real])
    order = rng.permutation(n_features)
    return np.ascontiguousarray(columns[order].T), y, order >= n_real


def gina_like(seed: int) -> Labelled:
    """Two digits of MNIST side by side; whether the right one, the unit, is odd."""
    rng = np.random.default_rng([seed, 970])
    images, digits = _mnist()
    tens, units = rng.choice(digits.size, (2, GINA_ROWS), replace=False)
    X = np.hstack([images[tens], images[units]]).astype(np.float32)
    # The original leaves out pixels that are hardly ever used, until 970 are left.
    used = np.argsort(-(X > 0).mean(axis=0), kind="stable")[:GINA_COLUMNS]
    return X[:, rng.permutation(used)], (digits[units] % 2).astype(np.int64)


def usps_like(seed: int) -> Labelled:
    """150 images of every digit, 2 and 5 against the others, 241 of the 256 pixels."""
    from tamis import datasets

    rng = np.random.default_rng([seed, 241])
    bunch: Any = datasets.load("usps")
    rows = _equally_many(bunch.y, tuple(range(10)), USPS_PER_DIGIT, rng)
    columns = rng.permutation(bunch.X.shape[1])[:USPS_COLUMNS]
    X = bunch.X[np.ix_(rows, columns)].astype(np.float32)
    return X, np.isin(bunch.y[rows], (2, 5)).astype(np.int64)


def polarity_like(n_words: int = POLARITY_WORDS) -> tuple[Any, NDArray[np.int64]]:
    """Film reviews by the words that occur in most of them; labels are not looked at."""
    from tamis import datasets

    bunch: Any = datasets.load("movie_reviews")
    documents = np.asarray((bunch.X > 0).sum(axis=0)).ravel()
    words = np.sort(np.argsort(-documents, kind="stable")[:n_words])
    return bunch.X[:, words], np.asarray(bunch.y, dtype=np.int64)


def _mnist() -> tuple[NDArray[np.float32], NDArray[Any]]:
    from tamis import datasets

    bunch: Any = datasets.load("mnist")
    return bunch.X, np.asarray(bunch.y)


def _equally_many(
    labels: NDArray[Any], wanted: tuple[int, ...], each: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """So many rows of every class, in random order; fewer where there are not as many."""
    rows = [
        rng.permutation(np.flatnonzero(labels == label))[: min(each, int(np.sum(labels == label)))]
        for label in wanted
    ]
    return rng.permutation(np.concatenate(rows))


def _upper_pixels(images: NDArray[np.float32]) -> NDArray[np.float32]:
    """Pixels of the upper two thirds that are used by at least one image in twenty."""
    upper = images[:, : SIDE * (2 * SIDE // 3)]
    return upper[:, (upper > 0).mean(axis=0) >= 0.05]
