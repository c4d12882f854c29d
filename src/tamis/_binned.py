"""BinnedMixin: bins of equal shares of the rows, and a note on columns that one value stretches."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tamis._runtime.warning import warn
from tamis._runtime.wording import listed
from tamis._validation import Choice
from tamis.data.checks import names_of
from tamis.data.partitioned import PartitionedTable, check_in_memory
from tamis.exceptions import InputError
from tamis.passes import MemoryEngine, run_pass
from tamis.statistics import Bins, Ranges
from tamis.statistics.block import Floats
from tamis.statistics.histogram import STRETCHED
from tamis.statistics.quantile_bins import QuantileBins

BINS = Choice(("uniform", "quantile"))
# Suspicious columns that are looked at, and names in a message.
MOST_LOOKS, MOST_NAMES = 64, 5
# Rows that tell rare events, of which there may be thousands, from other columns.
SAMPLE_ROWS = 64


class BinnedMixin:
    """What selectors with a parameter `bins` do beside a plain fit with equal bins."""

    def _bins_of(self: Any, X: Any, weight: Floats | None = None) -> Bins | QuantileBins:
        """Where the bins of a table in memory lie."""
        if self.bins == "quantile":
            return QuantileBins.of(X, weight, n_bins=self.n_bins, n_jobs=self.n_jobs)
        engine = MemoryEngine(X, None, weight)
        ends = run_pass(Ranges(X.shape[1]), engine, n_jobs=self.n_jobs).finish()
        return Bins.between(*ends, self.n_bins)

    def _check_source(self: Any, X: PartitionedTable, y: Any, sample_weight: Any) -> None:
        if self.bins == "quantile":
            check_in_memory(X, type(self).__name__, "bins='quantile'", "bins='uniform'")
        super()._check_source(X, y, sample_weight)  # type: ignore[misc]

    def _takes_blocks(self: Any) -> bool:
        if self.bins == "quantile":
            raise InputError(
                f"{type(self).__name__}: bins='quantile' expected all rows at once, because every "
                "row can move a quantile, got a block of them. Use bins='uniform', or fit."
            )
        return bool(super()._takes_blocks())  # type: ignore[misc]

    def _note_stretched(self: Any, X: Any, weight: Floats | None) -> None:
        """Warn of columns among the suspects whose range is due to one value."""
        if isinstance(X, PartitionedTable):
            return
        X = X.tocsc() if sparse.issparse(X) else X
        likely = _continuous(X, self._suspects)[:MOST_LOOKS]
        found = [int(j) for j in likely if is_stretched(*_observed(X, int(j), weight))]
        if not found:
            return
        names = names_of(self)
        shown = [f"x{j}" if names is None else str(names[j]) for j in found]
        warn(
            f"{type(self).__name__}: expected columns without extreme values for bins of equal "
            f"width, got {listed(shown, MOST_NAMES)}, in which one value stretches the range to "
            f"more than {STRETCHED} times the interquartile range. Most rows fall into one or two "
            f"of {self.n_bins} bins there. Use bins='quantile', or correct the value."
        )


def _continuous(X: Any, columns: NDArray[np.intp]) -> NDArray[np.intp]:
    """Columns without those whose quartiles are the same in a few rows: rare events."""
    rows = X[:: max(1, X.shape[0] // SAMPLE_ROWS)][:, columns]
    rows = np.asarray(rows.toarray() if sparse.issparse(rows) else rows, np.float64)
    rows = np.sort(rows, axis=0)
    # NaN comes last; with many of them the upper quartile is missing, and the column is kept.
    first, third = rows[rows.shape[0] // 4], rows[(3 * rows.shape[0]) // 4]
    return columns[first != third]


def _observed(X: Any, column: int, weight: Floats | None) -> tuple[Floats, Floats]:
    """Observed values of one column with their weights."""
    part = X[:, [column]]
    x = np.asarray(part.toarray() if sparse.issparse(part) else part, np.float64).ravel()
    weight = np.ones(x.size) if weight is None else weight
    seen = ~np.isnan(x) & (weight > 0)
    return x[seen], weight[seen]


def is_stretched(x: Floats, weight: Floats) -> bool:
    """Whether the smallest or largest value alone makes the range of `x` a wide one.

    The range is above 20 interquartile ranges, and at most half as wide without both values. Where
    more than half of the rows have the same value the interquartile range may be 0: such columns
    are rare events, not stretched.
    """
    order = np.argsort(x, kind="stable")
    x, share = x[order], np.cumsum(weight[order])
    low, high = x[0], x[-1]
    first, third = x[np.searchsorted(share, [0.25 * share[-1], 0.75 * share[-1]])]
    inner = x[(x > low) & (x < high)]
    if not third > first or inner.size == 0:
        return False
    extent = high - low
    return bool(extent > STRETCHED * (third - first) and np.ptp(inner) <= extent / 2)
