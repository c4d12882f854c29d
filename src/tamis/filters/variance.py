"""Variance: how much a column varies."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tamis._base import Scores
from tamis._facts import BOTH_TASKS, SelectorFacts
from tamis._validation import N_JOBS, Choice, Constraint
from tamis.filters._moments import Gathered, MomentsSelector
from tamis.statistics.moments import MomentsResult


class Variance(MomentsSelector):
    """Variance of every column, without a target.

    Columns that hardly vary can tell little; this is the simplest filter that needs no target. It
    compares the units of the columns as much as the columns: use it where all are measured in the
    same unit, or set ``scale="range"``.

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

    facts: ClassVar[SelectorFacts] = SelectorFacts(
        summary="Variance of the feature.",
        tasks=BOTH_TASKS,
        cost="T n",
        reference="none",
        page="filters",
        scaling="yes",
    )

    _supervised: ClassVar[bool] = False
    _constraints: ClassVar[dict[str, Constraint]] = {
        "ddof": Choice((0, 1)),
        "scale": Choice(("none", "range")),
        "n_jobs": N_JOBS,
    }

    def __init__(
        self,
        *,
        ddof: int = 0,
        scale: str = "none",
        n_features_to_select: Any = "elbow",
        n_jobs: int | None = None,
    ):
        self.ddof = ddof
        self.scale = scale
        self.n_features_to_select = n_features_to_select
        self.n_jobs = n_jobs

    def _finish(self, gathered: Gathered) -> Scores:
        scores, constant = super()._finish(gathered)
        if self.scale == "range":
            low, high = gathered.ranges.finish()
            extent = (high - low)[~constant]
            scores[~constant] /= extent  # twice: the square of a small range may be 0
            scores[~constant] /= extent
        return scores, constant

    def _scores_of(self, result: MomentsResult, varies: NDArray[np.bool_]) -> NDArray[np.float64]:
        if self.ddof == 0:
            return result.variance
        freedom = result.weight - self.ddof
        factor = np.divide(result.weight, freedom, out=np.zeros_like(freedom), where=freedom > 0)
        return result.variance * factor

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Variance:
        """Take in a block of rows, then rank by all rows seen; the result is that of one fit.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            A block of rows.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        self : object
            The selector, ranked by what it has seen.
        """
        self._partial_fit(X, y, sample_weight)
        return self
