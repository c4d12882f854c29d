"""BinnedSelector: what methods share that count classes in equal bins of every column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tamis._streaming import WalkingSelector
from tamis.data import checks
from tamis.statistics import Bins, ClassHistogram

Floats = NDArray[np.float64]

# Private tables of all threads together may take this share of the data's size.
LANE_SHARE = 0.02
MOST_LANES = 8
# Cells of the count tables that are turned into scores at a time.
CELLS_AT_A_TIME = 2**18


class BinnedSelector(WalkingSelector):
    """Count the classes in equal bins of every column; see MutualInformation, InformationGain."""

    _n_stages: ClassVar[int | None] = 2
    _needs_ranges: ClassVar[bool] = True

    def _ranges(self, engine: Any) -> Any:
        """Ranges of the columns; infinite values are an error."""
        ranges = self._find_ranges(engine).finish()
        checks.check_finite_columns(self, ranges.infinite)
        return ranges

    def _counts(self, engine: Any, n_classes: int, ranges: Any) -> Floats:
        """Weight per class, column and bin of the observed cells."""
        bins = Bins.between(ranges.low, ranges.high, self.n_bins)
        lanes = _lanes(engine, 8 * n_classes * engine.n_columns * (self.n_bins + 1))
        histogram = self._run_pass("bins", ClassHistogram(bins, n_classes, lanes), engine)
        return np.asarray(histogram.finish().counts)


def _lanes(engine: Any, table_bytes: int) -> int:
    """Private tables for threads, a power of two that depends on the data alone."""
    affordable = int(min(LANE_SHARE * engine.n_bytes / table_bytes, MOST_LANES))
    return 1 << max(affordable, 1).bit_length() - 1


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
