"""AnovaF: the F statistic of every column by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tamis._base import BlockSelector
from tamis._facts import BOTH_TASKS, SelectorFacts
from tamis._validation import N_JOBS, Constraint
from tamis.data.task import TASK
from tamis.exceptions import InputError
from tamis.filters._permuted_ratio import permuted_f
from tamis.passes.memory import Opened
from tamis.statistics import WithRanges
from tamis.statistics.co_moments import CoMomentsResult
from tamis.statistics.law_of_f import PERFECT, ROUNDING, f_p_values, finite_ratio
from tamis.statistics.permuted import complete
from tamis.statistics.permuted_sums import PermutedSums

Floats = NDArray[np.float64]

# A straight line that leaves less than this share of the variance leaves only rounding.
UNEXPLAINED = 1e-13


@dataclass(kw_only=True, eq=False, repr=False)
class AnovaF(BlockSelector):
    """F statistic: variance between the classes over variance within, or that of a straight line.

    For classes it is the one-way analysis of variance of every column, as in scikit-learn's
    ``f_classif``; for a numeric target the F test of a simple linear regression, as in
    ``f_regression``. One pass over the rows scores all columns, each by itself.

    Parameters
    ----------
    task : {"auto", "classification", "regression"}, default="auto"
        What the target is; ``"auto"`` infers it (:func:`tamis.data.infer_task`).
    n_features_to_select : "auto", int, float, "elbow", "all" or rule, default="auto"
        The cut; see :mod:`tamis.cutoff`.
    n_jobs : int or None, default=None
        Threads; ``None`` uses all cores. The result does not depend on it.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        F, from 0 to 1e30, which stands for a column that explains the target completely.
    pvalues_ : ndarray of shape (n_features,)
        Probability of an F at least as large, if the column had nothing to do with the target and
        its errors were normal, 2.2e-308 at least; 1 for columns without an F.
    classes_ : ndarray of shape (n_classes,)
        The labels of the target, if it holds classes.
    order_, ranking_, support_, n_selected_, constant_, cut_details_
        As for every selector.

    Notes
    -----
    O(n_samples n_features) time in one pass; memory for about ``8 n_features n_classes`` numbers
    beside the data. An offset of 1e8 deviations leaves nine digits.

    Missing values take no part: a column's F is that of its observed rows and the classes in them;
    compare columns with different holes by `pvalues_`. A column with no more observed rows than
    classes (than two, for a numeric target) has no F and scores 0, as do columns that never vary
    and columns observed in one class. Zeros of a sparse matrix are counted without being visited.

    `sample_weight` counts rows: degrees of freedom come from the total weight, so multiplying all
    weights by a number changes F, but not the order of columns without holes. A line that leaves
    less than 1e-13 of the variance counts as a complete explanation.

    References
    ----------
    Fisher, R. A. (1925). Statistical methods for research workers. Oliver and Boyd.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamis import AnovaF
    >>> data = load_iris(as_frame=True)
    >>> selector = AnovaF(n_features_to_select=2).fit(data.data, data.target)
    >>> selector.get_feature_names_out()
    array(['petal length (cm)', 'petal width (cm)'], dtype=object)
    >>> selector.scores_.round()
    array([ 119.,   49., 1180.,  960.])
    """

    task: str = "auto"
    n_features_to_select: Any = "auto"
    n_jobs: int | None = None

    facts: ClassVar[SelectorFacts] = SelectorFacts(
        summary="F statistic of a one-way ANOVA, or of a simple linear regression.",
        tasks=BOTH_TASKS,
        cost="T n",
        reference="Fisher 1925",
    )

    _constraints: ClassVar[dict[str, Constraint]] = {"task": TASK, "n_jobs": N_JOBS}

    def _check_table(self, table: Opened) -> None:
        total, least = table.total, table.n_classes or 2
        if total <= least:
            raise InputError(
                f"AnovaF: expected more rows than {'classes' if table.n_classes else 'two'}, "
                f"got a total weight of {total:g} for {least} (n_samples={table.n_rows}). Take "
                "more rows; sample weights count rows, so their mean should be 1."
            )

    def _finish(self, statistic: WithRanges, constant: NDArray[np.bool_]) -> Floats:
        result = statistic.other.finish()
        # Squares explained over squares left, and the degrees of freedom of both.
        if isinstance(result, CoMomentsResult):
            explained = result.correlation**2
            left = 1.0 - explained
            left[left < UNEXPLAINED] = 0.0
            ratio = finite_ratio(explained, left, np.zeros_like(left))
            between, within = np.ones_like(ratio), result.weight - 2.0
        else:
            table = result.compare()
            rounding = table.total * (ROUNDING * table.size) ** 2
            ratio = finite_ratio(table.between, table.within, rounding)
            n_classes = (table.weight > 0).sum(axis=0)
            between, within = n_classes - 1.0, table.total - n_classes
        tested = ~constant & (between > 0) & (within > 0)
        scores = ratio / np.where(tested, between, 1.0) * within
        scores = np.where(tested, np.where(ratio == PERFECT, PERFECT, scores), 0.0)
        self._freedom = between, within + between + 1.0
        return np.minimum(scores, PERFECT)

    def _may_have_law(self) -> bool:
        return True

    @property
    def pvalues_(self) -> Floats:
        """P-value of every column, if weights count rows."""
        return self._p_values(1.0)

    def _law_p_values(self) -> Floats | None:
        return None if np.isnan(self._unit_weight) else self._p_values(self._unit_weight)

    def _p_values(self, unit: float) -> Floats:
        between, total = self._freedom
        weighted = np.maximum(total - between - 1.0, 1.0)  # the scores have this freedom within
        ratio = np.where(self.scores_ < PERFECT, self.scores_ * between / weighted, PERFECT)
        return f_p_values(ratio, between, total / unit - between - 1.0)

    def _permuted(self, X: Any, y: Any, weight: Floats | None) -> PermutedSums | None:
        return permuted_f(self, X, y) if complete(X, weight, self.n_jobs) else None
