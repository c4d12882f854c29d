"""Binary edge detectors on small grey images, as the OFW paper takes them for faces and digits.

The paper names orientation, location and blurring, four orientations, and how many were left after
a preprocessing that it only cites. Decided here:

- An edge between two neighbouring pixels is where their grey values differ by more than either
  differs from its three other neighbours of the same kind (six comparisons, Amit and Geman), and by
  at least a sixteenth of the range. For the diagonals all neighbours are diagonal.
- Blurring: the edge may also be 1 or 2 pixels aside, across its direction. An edge that moved is
  still the same edge, while along its direction its neighbours say the same anyway.
- Of all detectors the wanted number is kept whose frequency among the training images is nearest
  to one half: one that is nearly always on or off tells nothing. Labels are not looked at.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.bool_]

# From a pixel to the one across the edge, by the direction of the edge; rows run downwards.
ACROSS = {"vertical": (0, 1), "horizontal": (1, 0), "falling": (1, -1), "rising": (1, 1)}
SIDES = ((0, 1), (0, -1), (1, 0), (-1, 0))
CORNERS = ((1, 1), (1, -1), (-1, 1), (-1, -1))
BLURRING = (0, 1, 2)
LEAST_CONTRAST = 1.0 / 16.0


class Detectors(NamedTuple):
    """Which detectors are in use: orientation, row, column and blurring of each."""

    orientation: NDArray[np.str_]
    row: NDArray[np.intp]
    column: NDArray[np.intp]
    blurring: NDArray[np.intp]

    def at(self, which: Any) -> Detectors:
        """Some of them."""
        return Detectors(*(part[which] for part in self))


def detect(images: NDArray[Any], value_range: float) -> tuple[Bits, Detectors]:
    """All detectors on all images; shape (n_images, n_detectors)."""
    grey = np.asarray(images, dtype=np.float32)
    tables, names = [], []
    for orientation, across in ACROSS.items():
        edges = find_edges(grey, across, LEAST_CONTRAST * value_range)
        for blurring in BLURRING:
            tables.append(blur(edges, across, blurring).reshape(grey.shape[0], -1))
            names.append((orientation, blurring))
    height, width = grey.shape[1:]
    row, column = (part.ravel() for part in np.indices((height, width)))
    detectors = Detectors(
        np.repeat([name for name, _ in names], height * width),
        np.tile(row, len(names)),
        np.tile(column, len(names)),
        np.repeat([blurring for _, blurring in names], height * width),
    )
    return np.hstack(tables), detectors


def find_edges(grey: NDArray[np.float32], across: tuple[int, int], least: float) -> Bits:
    """Where a pixel and the one across differ more than they do from their other neighbours."""
    here = _difference(grey, across)
    edges = here >= least
    there = (-across[0], -across[1])
    for other in SIDES if 0 in across else CORNERS:
        if other != across:
            edges &= here > _difference(grey, other)
        if other != there:
            edges &= here > shift(_difference(grey, other), across)
    return edges


def blur(edges: Bits, across: tuple[int, int], distance: int) -> Bits:
    """Whether there is an edge here or at most so many pixels aside, across its direction."""
    near = edges.copy()
    for step in range(1, distance + 1):
        for side in (step, -step):
            near |= shift(edges, (side * across[0], side * across[1]))
    return near


def shift(images: NDArray[Any], by: tuple[int, int]) -> NDArray[Any]:
    """The value `by` rows and columns further on, for every pixel; 0 beyond the border."""
    moved = np.zeros_like(images)
    target = tuple(
        slice(max(0, -b), n - max(0, b)) for b, n in zip(by, images.shape[1:], strict=True)
    )
    source = tuple(
        slice(max(0, b), n - max(0, -b)) for b, n in zip(by, images.shape[1:], strict=True)
    )
    moved[(slice(None), *target)] = images[(slice(None), *source)]
    return moved


def _difference(grey: NDArray[np.float32], to: tuple[int, int]) -> NDArray[np.float32]:
    """Size of the difference to a neighbour; 0 where there is none."""
    inside = shift(np.ones((1, *grey.shape[1:]), np.float32), to)
    return np.asarray(np.abs(grey - shift(grey, to)) * inside)


def most_even(bits: Bits, n_detectors: int) -> NDArray[np.intp]:
    """Detectors whose frequency is nearest to one half, in their order; never constant ones."""
    frequency = bits.mean(axis=0)
    varies = np.flatnonzero((frequency > 0.0) & (frequency < 1.0))
    order = np.argsort(np.abs(frequency[varies] - 0.5), kind="stable")
    return np.sort(varies[order[:n_detectors]])
