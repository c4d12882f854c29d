"""InformationSelector, and mutual information of many count tables at once.

Counts come as ``counts[class, column, bin]``; every column has a table of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis._base import BlockSelector, Scores
from tamis._binned import BinnedMixin
from tamis.passes.memory import Opened
from tamis.statistics import Bins, ClassHistogram, Ranges
from tamis.statistics.histogram import find_suspects
from tamis.statistics.laws import g_p_values, is_rough
from tamis.statistics.permuted_counts import PermutedGains

Floats = NDArray[np.float64]

# Cells of the count tables that are turned into scores at a time.
CELLS_AT_A_TIME = 2**18
# A second-order term that takes more than this share of the leading one is no correction.
LARGEST_CORRECTION = 0.5


class GLaw(NamedTuple):
    """What the law of the information in count tables depends on, per column."""

    total: Floats
    freedom: Floats
    rough: NDArray[np.bool_]

    @classmethod
    def of(cls, counts: Floats) -> GLaw:
        """The law for ``counts[class, column, bin]``."""
        per_bin, per_class = counts.sum(axis=0), counts.sum(axis=2)
        n_bins, n_classes = (per_bin > 0).sum(axis=1), (per_class > 0).sum(axis=0)
        freedom = np.maximum(n_bins - 1.0, 0.0) * np.maximum(n_classes - 1.0, 0.0)
        return cls(per_bin.sum(axis=1), freedom, is_rough(per_bin, per_class))

    def p_values(self, information: Floats, unit_weight: float) -> Floats | None:
        """P-values of information in nats; None if weights differ."""
        if np.isnan(unit_weight):
            return None
        return g_p_values(information, self.total / unit_weight, self.freedom)


class InformationSelector(BinnedMixin, BlockSelector):
    """Base of the selectors that count classes in bins; a subclass makes scores of the counts."""

    _passes: ClassVar[tuple[str, ...]] = ("ranges", "bins")
    _n_stages: ClassVar[int | None] = 2
    _needs_ranges: ClassVar[bool] = True
    _incremental: ClassVar[bool] = False
    _law: GLaw

    def _statistic(self: Any, table: Opened, first: Ranges) -> ClassHistogram:
        bins: Any = Bins.between(*first.finish(), self.n_bins)
        if self.bins == "quantile":
            bins = self._bins_of(table.engine.X, table.engine.weight)
        return ClassHistogram.for_table(bins, table.n_codes, table.engine.n_bytes)

    def _score(self: Any, X: Any, y: Any, weight: Floats | None) -> Scores:
        found = super()._score(X, y, weight)
        if self._suspects.size and self.bins == "uniform":
            self._note_stretched(X, weight)
        return found

    def _counts(self, statistic: ClassHistogram) -> Floats:
        """Weight per class, column and bin; what is known from it beside the scores is kept."""
        counts = statistic.finish().counts
        self._law, self._suspects = GLaw.of(counts), find_suspects(counts.sum(axis=0))
        return counts

    def _law_is_rough(self) -> bool:
        return bool(self._law.rough[~self.constant_].any())

    def _permuted_information(
        self: Any, X: Any, codes: NDArray[Any], unit: float, costs: Floats | None = None
    ) -> PermutedGains:
        """Information about permuted classes in bins, in units of so many nats."""
        return PermutedGains(
            X, self._bins_of(X), codes, cumulative=False, unit=unit, costs=costs,
            n_jobs=self.n_jobs,
        )  # fmt: skip


def over_columns(function: Callable[[Floats], Any], counts: Floats) -> Floats:
    """Results of a function of count tables, some columns at a time: little memory is in use."""
    n_classes, n_columns, n_bins = counts.shape
    width = max(1, CELLS_AT_A_TIME // (n_classes * n_bins))
    parts = [function(counts[:, a : a + width]) for a in range(0, n_columns, width)]
    return np.concatenate(parts, axis=-1)


def equal_shares(values: Floats, weight: Floats | None, n_bins: int) -> NDArray[np.int32]:
    """Bin of every number when bins hold equal shares of the weight; at most `n_bins` codes.

    A value goes where the middle of its weight lies, so equal values stay together.
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


class Posterior(NamedTuple):
    """Mean and variance of the mutual information in nats, and its largest possible value."""

    mean: Floats
    variance: Floats
    largest: Floats


def plug_in(counts: Floats) -> Floats:
    """Mutual information in nats of the observed shares."""
    from scipy.special import xlogy

    per_bin, per_class = counts.sum(axis=0), counts.sum(axis=2)
    total = per_class.sum(axis=0)
    joint = xlogy(counts, counts).sum(axis=2).sum(axis=0)
    single = xlogy(per_bin, per_bin).sum(axis=1) + xlogy(per_class, per_class).sum(axis=0)
    gain = joint - single + xlogy(total, total)
    result = np.divide(gain, total, out=np.zeros_like(total), where=total > 0)
    # Rounding of the sums is not information.
    noise = 4 * np.finfo(np.float64).eps * np.log(np.maximum(total, 2.0))
    return np.where(result > noise, result, 0.0)


def with_prior(counts: Floats, prior: str | float) -> Floats:
    """Counts plus the prior count of every cell; bins without a row are no outcomes and stay 0."""
    occupied = counts.sum(axis=0) > 0
    n_cells = counts.shape[0] * np.maximum(occupied.sum(axis=1), 1)
    known = {"jeffreys": 0.5, "uniform": 1.0, "perks": 1.0 / n_cells}
    each = np.broadcast_to(known[prior] if isinstance(prior, str) else prior, n_cells.shape)
    return np.asarray(counts + np.where(occupied, each[:, None], 0.0))


def posterior(counts: Floats) -> Posterior:
    """Moments of the mutual information when cell shares follow a Dirichlet distribution.

    The mean is exact, the variance holds the orders 1/n and 1/n^2; near-empty cells can make the
    second order larger than the first, which is then used alone.
    """
    from scipy.special import psi

    n_classes = counts.shape[0]
    per_bin, per_class = counts.sum(axis=0)[None], counts.sum(axis=2)[:, :, None]
    total = per_class.sum(axis=0)[None]
    n = np.maximum(total.ravel(), np.finfo(np.float64).tiny)
    filled = counts > 0

    def share(of: Floats) -> Floats:
        return np.divide(counts, of, out=np.zeros_like(counts), where=filled)

    def over_cells(terms: Floats) -> Floats:
        return np.asarray(terms.sum(axis=2).sum(axis=0))

    digammas = psi(counts + 1) - psi(per_bin + 1) - psi(per_class + 1) + psi(total + 1)
    mean = over_cells(counts * digammas) / n

    # K - J^2, M and Q as Hutter (2001) names them.
    of_bin, of_class, of_all = share(per_bin), share(per_class), share(total)
    expected = np.where(filled, per_class / np.where(filled, total, 1.0), 1.0)
    log = np.log(np.where(filled, of_bin / expected, 1.0))
    first = over_cells(of_all * log)
    leading = np.maximum(over_cells(of_all * log**2) - first**2, 0.0) / (n + 1)
    n_bins = (per_bin > 0).sum(axis=2)[0]
    freedom = (n_bins - 1) * (n_classes - 1)
    rest = over_cells((1 - of_bin - of_class + of_all) * log) + freedom * (0.5 - first)
    correction = (rest + over_cells(of_bin * of_class) - 1) / ((n + 1) * (n + 2))
    variance = leading + np.where(correction > -LARGEST_CORRECTION * leading, correction, 0.0)
    largest = np.log(np.clip(n_bins, 1, n_classes))
    real = freedom > 0
    return Posterior(np.where(real, mean, 0.0), np.where(real, variance, 0.0), largest)


def lower_credible(moments: Posterior, level: float) -> Floats:
    """Value above which the mutual information lies with probability `level`.

    A Beta distribution on [0, largest] with these moments stands for the posterior. With a prior
    count of 1/2, samples of the posterior are closer to it than to a normal or Gamma distribution.
    """
    from scipy.special import betaincinv

    real = (moments.largest > 0) & (moments.variance > 0)
    top = np.where(real, moments.largest, 1.0)
    mean = np.where(real, moments.mean / top, 0.5)
    variance = np.where(real, moments.variance / top**2, 0.01)
    weight = mean * (1 - mean) / variance - 1  # of the Beta distribution, as a number of rows
    real &= weight > 0
    weight = np.where(real, weight, 1.0)
    quantile = betaincinv(mean * weight, (1 - mean) * weight, 1 - level)
    return np.where(real, top * quantile, 0.0)
