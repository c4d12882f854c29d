"""Patch prototypes as the papers describe them: loops over pixels, places, bands and images."""

import math

import numpy as np


def gabor(size, angle):
    """One filter, pixel by pixel: a wave under a bell on a disc, zero mean, unit norm."""
    sigma = 0.0036 * size * size + 0.35 * size + 0.18
    wavelength = sigma / 0.8
    middle = size // 2
    inside, values = [], []
    for row in range(size):
        for column in range(size):
            x, y = column - middle, row - middle
            if x * x + y * y > (size / 2) ** 2:
                continue
            u = x * math.cos(angle) + y * math.sin(angle)
            v = -x * math.sin(angle) + y * math.cos(angle)
            bell = math.exp(-(u * u + 0.09 * v * v) / (2 * sigma * sigma))
            inside.append((row, column))
            values.append(bell * math.cos(2 * math.pi * u / wavelength))
    values = np.array(values) - np.mean(values)
    values /= math.sqrt((values**2).sum())
    found = np.zeros((size, size))
    for (row, column), value in zip(inside, values, strict=True):
        found[row, column] = value
    return found, inside


def mirrored(index, side):
    """Index of the pixel met beyond a border that acts as a mirror between pixels."""
    index %= 2 * side
    return index if index < side else 2 * side - 1 - index


def response(image, size, angle, normalize):
    """Absolute response at every pixel."""
    wave, inside = gabor(size, angle)
    height, width = image.shape
    found = np.empty(image.shape)
    for row in range(height):
        for column in range(width):
            total = energy = 0.0
            for i, j in inside:
                pixel = image[
                    mirrored(row + i - size // 2, height), mirrored(column + j - size // 2, width)
                ]
                total += pixel * wave[i, j]
                energy += pixel * pixel
            found[row, column] = abs(total) / (math.sqrt(energy) if normalize else 1.0)
    return found


def local_maxima(values, pool):
    """Largest value of squares that start half a side apart, cut off at the border."""
    stride = max(pool // 2, 1)
    rows, columns = range(0, values.shape[0], stride), range(0, values.shape[1], stride)
    return np.array([[values[i : i + pool, j : j + pool].max() for j in columns] for i in rows])


def represent(image, filter_sizes, pool_sizes, n_orientations, normalize=False):
    """Bands of one image, each of shape (rows, columns, n_orientations)."""
    bands = []
    for band, pool in enumerate(pool_sizes):
        maps = []
        for k in range(n_orientations):
            angle = math.pi * k / n_orientations
            pair = filter_sizes[2 * band : 2 * band + 2]
            both = [response(image, size, angle, normalize) for size in pair]
            maps.append(local_maxima(np.maximum(*both), pool))
        bands.append(np.stack(maps, axis=-1))
    return bands


def smallest_distance(bands, prototype):
    """Euclidean distance to the nearest patch, over all bands and places."""
    size = len(prototype)
    found = math.inf
    for band in bands:
        for row in range(band.shape[0] - size + 1):
            for column in range(band.shape[1] - size + 1):
                patch = band[row : row + size, column : column + size]
                found = min(found, math.sqrt(((patch - prototype) ** 2).sum()))
    return found
