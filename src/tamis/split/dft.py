"""DFT: the discriminant feature test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tamis._block_selector import BlockSelector
from tamis._facts import SelectorFacts
from tamis._validation import Constraint, Custom
from tamis.data.target import Target
from tamis.exceptions import InputError
from tamis.passes.memory import Opened
from tamis.split._cuts import CONSTRAINTS, BestCuts, SplitMixin, best_cuts
from tamis.statistics import Bins, ClassHistogram
from tamis.statistics.permuted import complete
from tamis.statistics.permuted_counts import MOST_BINS, PermutedGains

# Up to this many rows, n log n comes from a table (2 MiB at most).
LARGEST_LOG_TABLE = 2**18


class DFT(SplitMixin, BlockSelector):
    """Discriminant feature test: how well one cut of a column separates the classes.

    The range of every column is cut into equal bins. For each border between two bins, the loss is
    the entropy of the classes below and above it, weighted by their sizes; a column's loss is that
    of its best border. Two passes over the rows score all columns, of wide and long tables alike.

    Parameters
    ----------
    n_bins : int, default=16
        Number of equal bins, so ``n_bins - 1`` candidate cuts per column.
    class_weight : "balanced", dict or None, default=None
        ``"balanced"`` gives every class the same total weight; a dict maps labels to factors.
    ranges : pair (low, high) or None, default=None
        Known ranges of the columns, as numbers or arrays; ``None`` learns them from the data.
    n_features_to_select : int, float, "elbow", "all" or rule, default="elbow"
        The cut; see :mod:`tamis.cutoff`.
    n_jobs : int or None, default=None
        Threads; ``None`` uses all cores. The result does not depend on it.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Share of the target's entropy that the best cut removes, in [0, 1].
    loss_ : ndarray of shape (n_features,)
        Entropy in bits that is left after the best cut.
    thresholds_ : ndarray of shape (n_features,)
        The best cut: values below it go left. NaN for constant columns.
    classes_ : ndarray of shape (n_classes,)
        The labels of the target.
    order_, ranking_, support_, n_selected_, constant_, cut_details_
        As for every selector.

    Notes
    -----
    O(n_samples n_features + n_features n_bins n_classes) time; memory for
    ``n_features * n_classes * (n_bins + 1)`` numbers beside the data. Missing values take no part,
    and zeros of a sparse matrix are counted without being visited. The paper assumes classes of
    equal size; ``class_weight="balanced"`` restores that for other data.

    References
    ----------
    Yang, Y., Wang, W., Fu, H. and Kuo, C.-C. J. (2022). On supervised feature selection from high
    dimensional feature spaces. APSIPA Transactions on Signal and Information Processing 11(1).
    https://doi.org/10.1561/116.00000016

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamis import DFT
    >>> data = load_iris(as_frame=True)
    >>> selector = DFT(n_features_to_select=2).fit(data.data, data.target)
    >>> selector.get_feature_names_out()
    array(['petal length (cm)', 'petal width (cm)'], dtype=object)
    >>> selector.scores_
    array([0.35, 0.18, 0.58, 0.58])
    """

    facts: ClassVar[SelectorFacts] = SelectorFacts(
        summary="Share of the class entropy that the best single threshold removes.",
        tasks=("classification",),
        cost="T n + n B K",
        reference="Yang et al. 2022",
        page="split",
        nonlinear="yes, one threshold",
    )

    _constraints: ClassVar[dict[str, Constraint]] = {
        **CONSTRAINTS,
        "class_weight": Custom(
            lambda value: value is None or value == "balanced" or isinstance(value, Mapping),
            "'balanced', a dict from labels to weights, or None",
        ),
    }

    _unit: ClassVar[str] = "entropy (bits)"

    def __init__(
        self,
        *,
        n_bins: int = 16,
        class_weight: Any = None,
        ranges: Any = None,
        n_features_to_select: Any = "elbow",
        n_jobs: int | None = None,
    ):
        self.n_bins = n_bins
        self.class_weight = class_weight
        self.ranges = ranges
        self.n_features_to_select = n_features_to_select
        self.n_jobs = n_jobs

    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> DFT:
        """Take in a block of rows, then rank by all rows seen.

        The cuts are placed by `ranges`, by the blocks that :meth:`learn_ranges` saw, or else by the
        first block, and stay there.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            A block of rows.
        y : array-like of shape (n_samples,)
            Its classes; new ones may appear in any block.
        classes : array-like or None, default=None
            All classes, if they are known beforehand.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        self : object
            The selector, ranked by what it has seen.
        """
        self._partial_fit(X, y, sample_weight, classes)
        return self

    def _by_bin(self, table: Opened, bins: Bins) -> ClassHistogram:
        return ClassHistogram.for_table(bins, table.n_classes, table.engine.n_bytes)

    def _best_cuts(self, statistic: ClassHistogram) -> BestCuts:
        from tamis.split import _kernels as kernels

        table, per_class, whole = self._weighted(statistic)
        total = per_class.sum()
        share = per_class[per_class > 0] / total
        overall = float(-(share * np.log2(share)).sum())
        arguments: tuple[Any, ...] = (table, self.n_bins)
        kernel: Any = kernels.best_entropy_cuts
        if whole and total <= LARGEST_LOG_TABLE:
            n = np.arange(int(total) + 1, dtype=np.float64)
            n[1:] *= np.log2(n[1:])
            arguments, kernel = (*arguments, n), kernels.best_whole_cuts
        return best_cuts(kernel, arguments, table.shape[1], overall, self.n_jobs)

    def _losses(self, statistic: ClassHistogram, column: int) -> tuple[Any, float]:
        from tamis.split import _kernels as kernels

        return kernels.entropy_losses(self._weighted(statistic)[0], self.n_bins, column)

    def _permuted(self, X: Any, y: Any, weight: NDArray[np.float64] | None) -> PermutedGains | None:
        fits = (
            complete(X, weight, self.n_jobs)
            and self.class_weight is None
            and self.n_bins <= MOST_BINS
        )
        if not fits:
            return None
        codes: Any = Target.of(y, self._task, weight, X.shape[0], "DFT").codes
        share = np.bincount(codes) / codes.size
        entropy = float(-(share * np.log(share)).sum())
        bins = self._bins_of(X)
        return PermutedGains(X, bins, codes, cumulative=True, unit=entropy, n_jobs=self.n_jobs)

    def _weighted(self, statistic: ClassHistogram) -> tuple[Any, NDArray[np.float64], bool]:
        """Counts and class sizes after `class_weight`, and whether they are whole numbers."""
        table, whole = statistic.finish()
        per_class = statistic.class_weight
        if self.class_weight is None:
            return table, per_class, whole
        if isinstance(self.class_weight, Mapping):
            factors = self._given_factors()
        else:
            mean = per_class.sum() / per_class.size
            factors = np.divide(mean, per_class, out=np.zeros_like(per_class), where=per_class > 0)
        return table * factors[:, None, None], per_class * factors, False

    def _given_factors(self) -> NDArray[np.float64]:
        labels = self.classes_.tolist()
        unknown = [label for label in self.class_weight if label not in labels]
        factors = np.array([float(self.class_weight.get(label, 1.0)) for label in labels])
        if unknown or not (np.isfinite(factors) & (factors >= 0)).all() or not factors.any():
            raise InputError(
                f"DFT: class_weight must map labels of the target ({labels!r}) to weights that are "
                f"not negative, got {self.class_weight!r}."
            )
        return factors
