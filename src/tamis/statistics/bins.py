"""Bins: equal intervals of every column's range, in the form the kernels use."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


class Bins(NamedTuple):
    """``n_bins`` equal bins per column, with cuts at ``low + b * step`` for b from 1.

    Parameters
    ----------
    low, step, scale : ndarray of shape (n_columns,)
        Lower end of the range, width of a bin and its reciprocal.
    origin : ndarray of shape (n_columns,)
        A quarter of a bin above `low`, from where the kernels guess.
    narrow : ndarray of int
        Columns whose bins are about as narrow as the spacing of floats there.
    n_bins : int
        Number of bins.

    Examples
    --------
    >>> from tamis.statistics import Bins
    >>> Bins.between([0.0, -1.0], [8.0, 1.0], n_bins=4).cuts()
    array([[ 2. ,  4. ,  6. ],
           [-0.5,  0. ,  0.5]])
    """

    low: Floats
    step: Floats
    scale: Floats
    origin: Floats
    narrow: NDArray[np.int64]
    n_bins: int

    @classmethod
    def between(cls, low: ArrayLike, high: ArrayLike, n_bins: int) -> Bins:
        """Bins of the ranges `low` to `high`, placed as ``numpy.linspace`` places them.

        A column with no extent (constant, or nothing observed) gets bins of width one, so that
        values met later still have a definite place.
        """
        low = np.array(low, dtype=np.float64)
        high = np.asarray(high, dtype=np.float64)
        with np.errstate(invalid="ignore"):
            step = (high - low) / n_bins
        # 1 / step overflows below the smallest normal number: nothing can be cut there.
        empty = ~(step >= np.finfo(np.float64).tiny)
        low[~np.isfinite(low)] = 0.0
        step[empty] = 1.0
        largest = np.maximum(np.abs(low), np.abs(low + n_bins * step))
        # Rounding of the cuts and of the origin must stay well below a quarter of a bin.
        narrow = np.flatnonzero(step < 16 * np.spacing(largest))
        return cls(low, step, 1.0 / step, low + step / 4, narrow, int(n_bins))

    def cuts(self, columns: Any = slice(None)) -> Floats:
        """Candidate cuts, one row per column."""
        inner = np.arange(1, self.n_bins, dtype=np.float64)
        return self.low[columns, None] + inner * self.step[columns, None]

    def zero_slots(self) -> NDArray[np.int64]:
        """Bin that holds the value zero, for every column."""
        return (self.cuts() <= 0.0).sum(axis=1)
