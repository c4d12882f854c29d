"""AND/OR features of images: 64 images a word against numpy on bools.

    python benchmarks/meta/and_or.py [--features 1000] [--turns 5] [--random]

The features come from `draw_any`: 1 to 8 inputs, shifts 1 to 8. The images are those of mnist if
TAMIS_DATA holds them, else random. The numpy peers all work on all images at a time:

plain     images (n, height, width); loops over features, shifts and inputs
by pixel  the same loops on (height, width, n), where the images of a pixel lie side by side
windows   (height, width, n) too, all shifts of an input at once as a window of the array

Both sides start from images that are prepared (padded, transposed, packed); that is timed apart.
"""

import argparse
import os
import sys
import time

import numpy as np

import tamis
from tamis.meta import AndOrFeatures


def plain(images, features):
    """Loops over features, shifts and inputs; vectors over images."""
    out = np.empty((len(images), len(features)), dtype=bool)
    for number, (inputs, shift) in enumerate(features):
        value = np.zeros(len(images), dtype=bool)
        for down in range(shift):
            for right in range(shift):
                every = np.ones(len(images), dtype=bool)
                for row, column, positive in inputs:
                    pixel = images[:, row + down, column + right]
                    every &= pixel if positive else ~pixel
                value |= every
        out[:, number] = value
    return out


def by_pixel(pixels, features):
    """The same with contiguous vectors and no array made inside of the loops."""
    n_images = pixels.shape[2]
    out = np.zeros((len(features), n_images), dtype=bool)
    every = np.empty(n_images, dtype=bool)
    for value, (inputs, shift) in zip(out, features, strict=True):
        for down in range(shift):
            for right in range(shift):
                every.fill(True)
                for row, column, positive in inputs:
                    pixel = pixels[row + down, column + right]
                    (np.logical_and if positive else np.greater)(every, pixel, out=every)
                value |= every
    return out.T


def windows(pixels, features):
    """All shifts at once: an AND of windows, then an OR over their places."""
    n_images = pixels.shape[2]
    out = np.empty((len(features), n_images), dtype=bool)
    for value, (inputs, shift) in zip(out, features, strict=True):
        every = np.ones((shift, shift, n_images), dtype=bool)
        for row, column, positive in inputs:
            window = pixels[row : row + shift, column : column + shift]
            (np.logical_and if positive else np.greater)(every, window, out=every)
        every.reshape(shift * shift, n_images).any(axis=0, out=value)
    return out.T


def load_images(n_images, use_random):
    if not use_random:
        try:
            return tamis.datasets.load("mnist").X[:n_images] > 127.5
        except tamis.exceptions.TamisError as error:
            print(error, file=sys.stderr)
    return np.random.default_rng(0).random((n_images, 784)) < 0.19


def timed(function):
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def compare(n_images, arguments):
    """Best time of each over the same turns, in microseconds for a feature on all images."""
    binary = load_images(n_images, arguments.random)
    generator = AndOrFeatures()
    features = generator.draw_any(0, n_features=arguments.features)
    record = features.to_dict()
    listed = list(zip(record["inputs"], record["shift"], strict=True))
    packing, packed = min((timed(lambda: generator.pack(binary)) for _ in range(5)), key=first)
    padded = np.zeros((n_images, 35, 35), dtype=bool)
    padded[:, :28, :28] = binary.reshape(-1, 28, 28)
    turning, pixels = timed(lambda: np.ascontiguousarray(padded.transpose(1, 2, 0)))
    sides = {
        "tamis": lambda: generator.measure(packed, features),
        "tamis, n_jobs=1": lambda: AndOrFeatures(n_jobs=1).measure(packed, features),
        "tamis, bits only": lambda: generator.measure_packed(packed, features),
        "tamis, gain": lambda: generator.information_gain(
            packed, np.arange(n_images) % 10, features
        ),
        "numpy windows": lambda: windows(pixels, listed),
        "numpy by pixel": lambda: by_pixel(pixels, listed),
        "numpy plain": lambda: plain(padded, listed),
    }
    times = {name: [] for name in sides}
    for turn in range(arguments.turns + 1):
        for name, side in sides.items():
            spent, values = timed(side)
            if turn:  # the first turn compiles and warms up
                times[name].append(spent)
            elif values.shape == (n_images, len(features)):
                assert np.array_equal(values, sides["tamis"]())
    return {name: min(spent) for name, spent in times.items()}, packing, turning


def first(pair):
    return pair[0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--features", type=int, default=1000)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--images", type=int, nargs="+", default=[2000, 10000])
    parser.add_argument("--random", action="store_true", help="random images in any case")
    arguments = parser.parse_args()
    print(f"tamis {tamis.__version__}, numpy {np.__version__}, {os.cpu_count()} cores, seed 0")
    for n_images in arguments.images:
        times, packing, turning = compare(n_images, arguments)
        print(f"\n{n_images} images, {arguments.features} features of draw_any")
        print(f"prepared in {packing * 1e3:.1f} ms (tamis) and {turning * 1e3:.1f} ms (by pixel)")
        print(f"{'':20}{'us a feature':>14}{'features x images / s':>24}{'tamis is':>12}")
        for name, spent in times.items():
            cells = arguments.features * n_images / spent
            ratio = spent / times["tamis"]
            each = spent / arguments.features * 1e6
            print(f"{name:20}{each:14.2f}{cells:24.3g}{ratio:11.1f}x", flush=True)


if __name__ == "__main__":
    main()
