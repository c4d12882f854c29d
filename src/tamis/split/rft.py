"""RFT: the relevant feature test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from tamis._facts import SelectorFacts
from tamis.passes.memory import Opened
from tamis.split.dft import BestCuts, SplitSelector
from tamis.statistics import Bins, TargetSums
from tamis.statistics.block import Floats
from tamis.statistics.histogram import lanes_for


@dataclass(kw_only=True, eq=False, repr=False)
class RFT(SplitSelector):
    """Relevant feature test: how well one cut of a column explains a numeric target.

    The range of every column is cut into equal bins. For each border between two bins, the loss is
    the mean squared error of the two means below and above it; a column's loss is that of its best
    border. Two passes over the rows score all columns.

    Parameters
    ----------
    n_bins : int, default=16
        Number of bins, so ``n_bins - 1`` candidate cuts per column.
    bins : {"uniform", "quantile"}, default="uniform"
        As in :class:`~tamis.DFT`.
    ranges : pair (low, high) or None, default=None
        Known ranges of the columns, as numbers or arrays; ``None`` learns them from the data.
    n_features_to_select : "auto", int, float, "elbow", "all" or rule, default="auto"
        The cut; see :mod:`tamis.cutoff`.
    n_jobs : int or None, default=None
        Threads; ``None`` uses all cores. The result does not depend on it.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Share of the target's variance that the best cut removes, in [0, 1].
    loss_ : ndarray of shape (n_features,)
        Mean squared error that is left after the best cut.
    thresholds_ : ndarray of shape (n_features,)
        The best cut: values below it go left. NaN for constant columns.
    order_, ranking_, support_, n_selected_, constant_, cut_details_
        As for every selector.

    Notes
    -----
    O(n_samples n_features + n_features n_bins) time; memory for ``2 * n_features * (n_bins + 2)``
    numbers beside the data. The target is centred first, so a large offset costs no digits.
    Missing values take no part.

    References
    ----------
    Yang, Y., Wang, W., Fu, H. and Kuo, C.-C. J. (2022). On supervised feature selection from high
    dimensional feature spaces. APSIPA Transactions on Signal and Information Processing 11(1).
    https://doi.org/10.1561/116.00000016

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from tamis import RFT
    >>> data = load_diabetes(as_frame=True)
    >>> selector = RFT(n_features_to_select=2).fit(data.data, data.target)
    >>> selector.get_feature_names_out()
    array(['bmi', 's5'], dtype=object)
    """

    n_bins: int = 16
    bins: str = "uniform"
    ranges: Any = None
    n_features_to_select: Any = "auto"
    n_jobs: int | None = None

    facts: ClassVar[SelectorFacts] = SelectorFacts(
        summary="Share of the target variance that the best single threshold removes.",
        tasks=("regression",),
        cost="T n + n B",
        reference="Yang et al. 2022",
        nonlinear="yes, one threshold",
    )

    _task: ClassVar[str] = "regression"
    _unit: ClassVar[str] = "mean squared error"

    def _by_bin(self, table: Opened, bins: Bins) -> TargetSums:
        table_bytes = 8 * 2 * table.n_columns * (self.n_bins + 2)
        return TargetSums(bins, table.centre, lanes_for(table.engine.n_bytes, table_bytes))

    def _best_cuts(self, statistic: TargetSums) -> BestCuts:
        from tamis.split._kernels import best_variance_cuts

        sums, squares, _ = statistic.finish()
        weight, first, second = statistic.total
        overall = max(second - first * first / weight, 0.0) / weight
        arguments = (sums, squares, self.n_bins)
        return self._run_cuts(best_variance_cuts, arguments, len(sums), overall)

    def _weight_by_bin(self, statistic: TargetSums) -> Floats:
        return statistic.finish().sums[:, :, 0]

    def _losses(self, statistic: TargetSums, column: int) -> tuple[Any, float]:
        from tamis.split._kernels import variance_losses

        sums, squares, _ = statistic.finish()
        return variance_losses(sums, squares, self.n_bins, column)
