"""RFT: the relevant feature test."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tamis._facts import SelectorFacts
from tamis.data import checks
from tamis.exceptions import InputError
from tamis.split._selector import BestCuts, SplitSelector
from tamis.statistics import Bins, TargetSums


class RFT(SplitSelector):
    """Relevant feature test: how well one cut of a column explains a numeric target.

    The range of every column is cut into equal bins. For each border between two bins, the rows
    below it and the others are predicted by their two means; the loss is the mean squared error.
    A column's loss is that of its best border. Two passes over the rows score all columns.

    Parameters
    ----------
    n_bins : int, default=16
        Number of equal bins, so ``n_bins - 1`` candidate cuts per column.
    ranges : pair (low, high) or None, default=None
        Known ranges of the columns, as numbers or arrays; ``None`` learns them from the data.
    n_features_to_select : int, float, "elbow", "all" or rule, default="elbow"
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
    Missing values take no part: range, variance and cut of a column come from its observed rows.

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

    facts: ClassVar[SelectorFacts] = SelectorFacts(
        summary="Share of the target variance that the best single threshold removes.",
        tasks=("regression",),
        cost="T n + n B",
        reference="Yang et al. 2022",
        page="split",
        nonlinear="yes, one threshold",
    )

    _unit: ClassVar[str] = "mean squared error"

    def __init__(
        self,
        *,
        n_bins: int = 16,
        ranges: Any = None,
        n_features_to_select: Any = "elbow",
        n_jobs: int | None = None,
    ):
        self.n_bins = n_bins
        self.ranges = ranges
        self.n_features_to_select = n_features_to_select
        self.n_jobs = n_jobs

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> RFT:
        """Take in a block of rows, then rank by all rows seen.

        The cuts are placed by `ranges`, by the blocks that :meth:`learn_ranges` saw in a first
        pass, or else by the first block; they stay where they are.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            A block of rows.
        y : array-like of shape (n_samples,)
            Its target values.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        self : object
            The selector, ranked by what it has seen.
        """

        def encode(y: Any, weight: Any, n_rows: int) -> tuple[Any, float]:
            values = checks.check_numbers(y, n_rows, type(self).__name__)
            # The mean of the first block is near enough to the mean of all to save the digits.
            summary = self._stream.summary
            centre = (
                float(np.average(values, weights=weight)) if summary is None else summary.centre
            )
            return values - centre, centre

        return self._partial_fit(X, y, sample_weight, encode)

    def _open(self, X: Any, y: Any, weight: Any) -> tuple[Any, float]:
        opened = self._open_table(X, y, weight, "regression")
        return opened.engine, opened.centre

    def _encode(self, y: Any, weight: Any, n_rows: int) -> tuple[NDArray[np.float64], float]:
        who = type(self).__name__
        values = checks.check_numbers(y, n_rows, who)
        seen = values if weight is None else values[weight > 0]
        if seen.min() == seen.max():
            raise InputError(
                f"{who}: expected a target that varies, got {float(seen[0])!r} in all {n_rows} "
                f"rows (n_samples={n_rows}). Check the target column."
            )
        centre = float(np.average(values, weights=weight))
        return values - centre, centre

    def _summary(self, bins: Bins, rest: float, lanes: int = 1) -> TargetSums:
        return TargetSums(bins, rest, lanes)

    def _summary_bytes(self, n_columns: int, rest: Any) -> int:
        return 8 * 2 * n_columns * (self.n_bins + 2)

    def _best_cuts(self, summary: TargetSums) -> BestCuts:
        from tamis.split import _kernels as kernels

        sums, squares, _ = summary.finish()
        weight, first, second = summary.total
        cuts = BestCuts.empty(len(sums), max(second - first * first / weight, 0.0) / weight)
        self._over_columns(
            kernels.best_variance_cuts, (sums, squares, self.n_bins), cuts, sums.size
        )
        return cuts

    def _loss_curve(self, summary: TargetSums, column: int) -> tuple[Any, float]:
        from tamis.split import _kernels as kernels

        sums, squares, _ = summary.finish()
        return kernels.variance_losses(sums, squares, self.n_bins, column)
