"""Problem: a table, its target, and how predictions are scored; views of some of its rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tamis.auto.models import Model
from tamis.evaluation.metrics import Metric
from tamis.evaluation.protocols.base import deal_folds

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]


class Problem(NamedTuple):
    """A table in memory with its target: codes of classes, or values (`n_classes` 0).

    `rows` are those in use: parts share the table, so that a part costs no copy of it.
    """

    X: Any
    y: NDArray[Any]
    weight: Floats
    groups: Rows | None
    n_classes: int
    metric: Metric
    models: tuple[Model, ...]
    rows: Rows
    level: float = 0.1  # false discovery rate of features that are related to the target

    @property
    def task(self) -> str:
        """Return "classification" or "regression"."""
        return "classification" if self.n_classes else "regression"

    @property
    def is_weighted(self) -> bool:
        """Whether rows differ in weight."""
        return bool(np.ptp(self.weight) > 0)

    def part(self, rows: Rows) -> Problem:
        """The same on fewer rows, numbered as in the whole table."""
        return self._replace(rows=rows)

    def rectangle(self, rows: Rows, columns: Rows) -> Any:
        """Some rows and columns of the table, in the form that it has."""
        is_sparse = sparse.issparse(self.X)
        return self.X[rows][:, columns] if is_sparse else self.X[np.ix_(rows, columns)]

    def cells(self, rows: Rows, columns: Rows) -> Floats:
        """Values of some rows and columns, dense."""
        found = self.rectangle(rows, columns)
        return np.asarray(found.toarray() if sparse.issparse(found) else found, dtype=np.float64)

    def by_row(self, votes: Floats, rows: Rows) -> Floats:
        """What every test row says about a score of which more is better; their mean is it."""
        if self.metric.name == "r2":
            # By the variance of all rows: that of a fold of few rows is a poor unit, and R squared
            # in that unit is too small on average.
            return np.asarray(1.0 - (self.y[rows] - votes[:, 0]) ** 2 / np.var(self.y))
        assert self.metric.by_row is not None
        values = self.metric.by_row(Predicted(votes, self.n_classes), None, self.y[rows])
        return values if self.metric.greater_is_better else -values

    def folds(self, n_folds: int, random: np.random.Generator) -> list[tuple[Rows, Rows]]:
        """Rows to learn from and rows to score; whole groups, and shares of the classes."""
        y = self.y[self.rows]
        if self.groups is not None:
            fold = self._group_folds(y, n_folds, random)
        else:
            if self.n_classes:
                counts = np.bincount(y)
                n_folds = min(n_folds, int(counts[counts > 0].min()))
            fold = deal_folds(y, self.n_classes > 0, max(2, min(n_folds, y.size // 2)), random)
        return [(self.rows[fold != k], self.rows[fold == k]) for k in range(int(fold.max()) + 1)]

    def _group_folds(self, y: NDArray[Any], n_folds: int, random: np.random.Generator) -> Rows:
        from sklearn.model_selection import GroupKFold, StratifiedGroupKFold

        assert self.groups is not None
        groups = np.unique(self.groups[self.rows], return_inverse=True)[1]
        n_folds = max(2, min(n_folds, int(groups.max()) + 1))
        kind = StratifiedGroupKFold if self.n_classes else GroupKFold
        splitter = kind(n_folds, shuffle=True, random_state=int(random.integers(2**31)))
        fold = np.zeros(y.size, dtype=np.intp)
        for k, (_, test) in enumerate(splitter.split(np.zeros((y.size, 1)), y, groups)):
            fold[test] = k
        return fold


class Predicted:
    """Votes of a model for some rows, as the metrics ask for them."""

    def __init__(self, votes: Floats, n_classes: int):
        self.votes, self.classes_ = votes, np.arange(n_classes)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the most votes, or the value."""
        return self.votes.argmax(axis=1) if self.classes_.size else self.votes[:, 0]

    def decision_function(self, X: Any) -> Floats:
        """Votes; of two classes, how far the second is ahead."""
        two = self.classes_.size == 2
        return self.votes[:, 1] - self.votes[:, 0] if two else self.votes
