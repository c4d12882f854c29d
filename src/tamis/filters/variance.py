"""Variance: how much a column varies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tamis._base import BlockSelector
from tamis._facts import BOTH_TASKS, SelectorFacts
from tamis._validation import N_JOBS, Choice, Constraint
from tamis.statistics import WithRanges
from tamis.statistics.moments import MomentsResult


@dataclass(kw_only=True, eq=False, repr=False)
class Variance(BlockSelector):
    """Variance of every column, without a target.

    It depends on the units of the columns: use it where all have the same unit, or set
    ``scale="range"``.

    Parameters
    ----------
    ddof : {0, 1}, default=0
        Variance of the population (0) or of a sample (1): what is taken off the number of rows.
    scale : {"none", "range"}, default="none"
        ``"range"`` divides a column by its range first, so that units do not matter; the variance
        is then at most 1/4 (for `ddof` 0), which two equal clumps have.
    n_features_to_select : int, float, "elbow", "all" or rule, default="elbow"
        The cut; see :mod:`tamis.cutoff`.
    n_jobs : int or None, default=None
        Threads; ``None`` uses all cores. The result does not depend on it.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        The variance; 0 for constant columns.
    order_, ranking_, support_, n_selected_, constant_, cut_details_
        As for every selector.

    Notes
    -----
    O(n_samples n_features) time in one pass; memory for about ``8 n_features`` numbers beside the
    data. An offset of 1e8 deviations leaves nine digits. Missing values take no part, and zeros of
    a sparse matrix are counted without being visited. `sample_weight` counts rows; its scale
    matters for ``ddof=1`` only, where columns with a weight of 1 or less score 0.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamis import Variance
    >>> selector = Variance(n_features_to_select=1).fit(load_iris(as_frame=True).data)
    >>> selector.get_feature_names_out()
    array(['petal length (cm)'], dtype=object)
    >>> selector.scores_
    array([0.681, 0.189, 3.096, 0.577])
    """

    ddof: int = 0
    scale: str = "none"
    n_features_to_select: Any = "elbow"
    n_jobs: int | None = None

    facts: ClassVar[SelectorFacts] = SelectorFacts(
        summary="Variance of the feature.",
        tasks=BOTH_TASKS,
        cost="T n",
        reference="none",
        scaling="yes",
    )

    _supervised: ClassVar[bool] = False
    _constraints: ClassVar[dict[str, Constraint]] = {
        "ddof": Choice((0, 1)),
        "scale": Choice(("none", "range")),
        "n_jobs": N_JOBS,
    }

    def _finish(self, statistic: WithRanges, constant: NDArray[np.bool_]) -> NDArray[np.float64]:
        result: MomentsResult = statistic.other.finish()
        scores = np.where(constant, 0.0, result.variance)
        if self.ddof:
            freedom = result.weight - self.ddof
            scores *= np.divide(
                result.weight, freedom, out=np.zeros_like(freedom), where=freedom > 0
            )
        if self.scale == "range":
            low, high = statistic.ranges.finish()
            extent = (high - low)[~constant]
            scores[~constant] /= extent  # twice: the square of a small range may be 0
            scores[~constant] /= extent
        return scores
