"""CrossValidated: as many columns as predict best, found by refits inside folds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from tamis._ranking import Ranking
from tamis._validation import Custom, check_value
from tamis.cutoff.counts import counts_to_try
from tamis.cutoff.fit_data import FitData, cross_validating
from tamis.cutoff.rule import Cut, CutRule, TopK
from tamis.exceptions import InputError


@dataclass(frozen=True, eq=False)
class CrossValidated(CutRule):
    """Keep as many columns as predict best in cross-validation of the training data.

    In every fold the selector is fitted anew on the fold's training rows, `estimator` learns from
    the best k columns of that ranking, and the held-out rows are scored: nothing that is scored
    has been used for selecting. Sample weights reach the selector, and the estimator and the scorer
    if they take them.

    Parameters
    ----------
    estimator : scikit-learn classifier or regressor
        Learns from the selected columns.
    cv : int, splitter or iterable, default=5
        As in :func:`sklearn.model_selection.check_cv`.
    scoring : str, callable or None, default=None
        As in :func:`sklearn.metrics.check_scoring`.
    grid : sequence of int or None, default=None
        Numbers of columns to try; ``None`` tries about twelve, evenly spread on a log scale.
    one_standard_error : bool, default=False
        Take the smallest number whose mean score is within one standard error of the best.
    keep, groups : optional
        As in :class:`CutRule`; columns in `keep` count.

    Examples
    --------
    >>> import tamis
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rule = tamis.cutoff.CrossValidated(GaussianNB(), grid=[1, 3, 10, 30])
    >>> tamis.DFT(n_features_to_select=rule).fit(X, y).n_selected_
    3
    """

    estimator: Any
    cv: Any = 5
    scoring: Any = None
    grid: Sequence[int] | None = None
    one_standard_error: bool = False

    needs_data = True

    def __post_init__(self) -> None:
        learner = Custom(lambda value: hasattr(value, "fit"), "an estimator with a fit method")
        check_value(self.estimator, learner, who=self.who, name="estimator")

    def find(self, ranking: Ranking, data: FitData | None) -> Cut:
        """Score every number of columns in every fold."""
        assert data is not None
        grid = self._grid(ranking)
        scores = self._scores(grid, ranking, data)
        mean = scores.mean(axis=0)
        if np.isnan(mean).any():
            count = grid[np.isnan(mean)][0]
            raise InputError(
                f"{self.who}: expected a score in every fold, got NaN for {count} columns. Choose "
                "a scoring that every fold allows, or fewer folds."
            )
        error = scores.std(axis=0, ddof=1) / np.sqrt(len(scores)) if len(scores) > 1 else mean * 0
        best = int(mean.argmax())
        if self.one_standard_error:
            best = int(np.flatnonzero(mean >= mean[best] - error[best])[0])
        details = {"grid": grid, "mean_scores": mean, "standard_errors": error}
        # keep and groups are applied by the caller, as they were inside the folds.
        return Cut(TopK(int(grid[best])).find(ranking, data).wanted, int(grid[best]), details)

    def _grid(self, ranking: Ranking) -> NDArray[np.int64]:
        # With fewer columns than the smallest group has, there would be nothing to learn from.
        most, least = ranking.n_columns, 1
        kept, labels = self.teams(ranking)
        if labels is not None and not kept.size:
            least = int(np.bincount(labels)[labels[ranking.useful]].min(initial=most))
        return counts_to_try(self.grid, most, who=self.who, at_least=least)

    def _scores(
        self, grid: NDArray[np.int64], ranking: Ranking, data: FitData
    ) -> NDArray[np.float64]:
        with cross_validating(self.who):
            return self._cross_validate(grid, ranking, data)

    def _cross_validate(
        self, grid: NDArray[np.int64], ranking: Ranking, data: FitData
    ) -> NDArray[np.float64]:
        from sklearn.metrics import check_scoring
        from sklearn.model_selection import check_cv

        target = data.target
        splitter = check_cv(self.cv, target, classifier=is_classifier(self.estimator))
        scorer = check_scoring(self.estimator, self.scoring)
        folds = list(splitter.split(data.X, target))
        rows = []
        for train, test in data.selector.steps("folds", folds, len(folds)):
            selector = data.fit(data.X[train], target[train], train)
            row = []
            for k in grid:
                rule = TopK(int(k), keep=self.keep, groups=self.groups)
                columns = np.flatnonzero(rule.select(selector.ranking_record(ranking.names))[0])
                model = data.fit_learner(self.estimator, columns, train)
                row.append(data.score_learner(scorer, model, columns, test))
            rows.append(row)
        return np.array(rows)
