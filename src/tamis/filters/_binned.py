"""Counts of classes in equal bins of every column: turned into scores, and a target put in bins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.passes import Opened
from tamis.statistics import Bins, ClassHistogram, Ranges

Floats = NDArray[np.float64]

# Cells of the count tables that are turned into scores at a time.
CELLS_AT_A_TIME = 2**18


def equal_bins(table: Opened, ranges: Ranges, n_bins: int) -> ClassHistogram:
    """An empty histogram of the classes in equal bins between the extremes of every column."""
    bins = Bins.between(*ranges.finish(), n_bins)
    return ClassHistogram.for_table(bins, table.n_codes, table.engine.n_bytes)


def over_columns(function: Callable[[Floats], Any], counts: Floats) -> Floats:
    """Results of a function of count tables, some columns at a time: little memory is in use."""
    n_classes, n_columns, n_bins = counts.shape
    width = max(1, CELLS_AT_A_TIME // (n_classes * n_bins))
    parts = [function(counts[:, a : a + width]) for a in range(0, n_columns, width)]
    return np.concatenate(parts, axis=-1)


def equal_shares(values: Floats, weight: Floats | None, n_bins: int) -> NDArray[np.int32]:
    """Bin of every number when bins hold equal shares of the weight; at most `n_bins` codes.

    A value goes where the middle of its weight lies in the cumulative weight, so equal values
    stay together and two different ones never share the only bin.
    """
    share = np.ones(values.size) if weight is None else weight
    seen = share > 0
    distinct, code = np.unique(values[seen], return_inverse=True)
    own = np.bincount(code, share[seen], minlength=distinct.size)
    middle = (np.cumsum(own) - own / 2) / own.sum()
    # A middle on a border belongs above it, whatever rounding says.
    bins = np.floor(n_bins * middle + 1e-9).astype(np.int64)
    _, bins = np.unique(bins, return_inverse=True)
    codes = np.zeros(values.size, dtype=np.int32)
    codes[seen] = bins[code]
    return codes
