"""CrossValidated and PermutationNull: rules that fit the selector again on the training data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils import check_random_state

from tamis._ranking import Ranking
from tamis._validation import Custom, Number, check_value
from tamis.cutoff.counts import counts_to_try
from tamis.cutoff.fit_data import FitData
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


@dataclass(frozen=True, eq=False)
class PermutationNull(CutRule):
    """Keep the columns that score above what a shuffled target gives, family-wise.

    The selector is fitted on shuffled targets; from each it takes the best score of any column.
    A column's p-value is the share of shuffles, the true order counted as one, whose best score
    reaches its own (Westfall and Young's single-step maxT). So the chance of keeping even one
    useless column is at most `level`, however many columns there are.

    Parameters
    ----------
    level : float, default=0.05
        Largest p-value of a column that is kept, in (0, 1].
    n_permutations : int or None, default=None
        Number of shuffles; ``None`` takes enough to see a p-value of a fifth of `level`, at
        least 99.
    random_state : int, RandomState instance or None, default=0
        Seed of the shuffles.
    keep, groups : optional
        As in :class:`CutRule`.

    References
    ----------
    Westfall, P. H. and Young, S. S. (1993). Resampling-Based Multiple Testing. Wiley.

    Examples
    --------
    >>> import numpy as np, tamis
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 100)
    >>> X = rng.normal(size=(100, 50))
    >>> X[:, 7] += 2 * y
    >>> rule = tamis.cutoff.PermutationNull(level=0.05)
    >>> tamis.DFT(n_features_to_select=rule).fit(X, y).get_support(indices=True)
    array([7])
    """

    level: float = 0.05
    n_permutations: int | None = None
    random_state: int | np.random.RandomState | None = 0

    needs_data = True

    def __post_init__(self) -> None:
        share = Number(float, low=0, high=1, open_low=True)
        check_value(self.level, share, who=self.who, name="level")
        count = Number(int, low=1, or_none=True)
        check_value(self.n_permutations, count, who=self.who, name="n_permutations")
        if 1 / (self._count() + 1) > self.level:
            raise InputError(
                f"{self.who}: n_permutations must be at least "
                f"{math.ceil(1 / self.level - 1e-9) - 1} for level={self.level!r}, because no "
                f"p-value can be smaller than 1 / (n_permutations + 1), got "
                f"{self.n_permutations!r}."
            )

    def _count(self) -> int:
        return self.n_permutations or max(99, math.ceil(5 / self.level) - 1)

    def find(self, ranking: Ranking, data: FitData | None) -> Cut:
        """Score shuffled targets and compare."""
        assert data is not None
        if not getattr(data.selector, "_supervised", True):
            raise InputError(
                f"{self.who}: expected a selector that uses the target, got "
                f"{type(data.selector).__name__}, whose scores no shuffle can change. Use another "
                "rule."
            )
        rng = check_random_state(self.random_state)
        target, weight = data.target, data.sample_weight
        # A row of weight 0 is not there, so it has no target to give away.
        rows = np.arange(target.size) if weight is None else np.flatnonzero(weight > 0)
        best = []
        count = self._count()
        for _ in data.selector.steps("permutations", range(count), count):
            shuffled = target.copy()
            shuffled[rows] = target[rng.permutation(rows)]
            best.append(data.fit(data.X, shuffled).scores_.max())
        null = np.sort(best)
        # An equal score counts against the column; rounding must not decide that.
        own = ranking.scores - 1e-12 * np.abs(ranking.scores)
        reached = null.size - np.searchsorted(null, own, side="left")
        p_values = (1.0 + reached) / (1.0 + null.size)
        wanted = ranking.useful[p_values[ranking.useful] <= self.level]
        return Cut(wanted, None, {"p_values": p_values, "null_best_scores": null})
