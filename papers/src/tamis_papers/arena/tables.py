"""The tables of the arena: all data sets of the library, capped, and three that come along."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# Rows beyond this are left out, drawn at random with the shares of the classes kept.
MOST_ROWS = 1000
QUICK_ROWS = 300
BUNDLED = ("breast_cancer", "digits", "wine")


class ArenaTable(NamedTuple):
    """Rows, target, and whether the target is classes."""

    X: Any
    y: NDArray[Any]
    is_classes: bool


def load_table(name: str, seed: int, most_rows: int = MOST_ROWS) -> ArenaTable:
    """A table with no more rows than asked for."""
    from tamis.evaluation import draw_train

    X, y = _load(name)
    is_classes = not _is_numeric(name)
    if y.size > most_rows:
        rng = np.random.default_rng([seed, 11])
        rows = np.flatnonzero(draw_train(y, is_classes, most_rows / y.size, rng))
        X, y = X[rows], y[rows]
    return ArenaTable(X, y, is_classes)


def _load(name: str) -> tuple[Any, NDArray[Any]]:
    if name in BUNDLED:
        import sklearn.datasets

        X, y = getattr(sklearn.datasets, f"load_{name}")(return_X_y=True)
        return X, y
    from tamis import datasets

    bunch: Any = datasets.load(name)
    return bunch.X, np.asarray(bunch.y)


def _is_numeric(name: str) -> bool:
    from tamis import datasets

    return name not in BUNDLED and datasets.describe(name).classes is None


def families(names: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Data sets that hold the same patients, together: they are not independent of each other."""
    from tamis import datasets

    left, found = list(names), []
    while left:
        first = left[0]
        overlap = () if first in BUNDLED else datasets.describe(first).overlap
        together = tuple(name for name in left if name == first or name in overlap)
        found.append(together)
        left = [name for name in left if name not in together]
    return found


def split_by_task(names: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the sets with classes, and of those with numbers."""
    numeric = tuple(name for name in names if _is_numeric(name))
    return tuple(name for name in names if name not in numeric), numeric
