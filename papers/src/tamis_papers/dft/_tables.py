"""MultiFeat, colon and ARR, and accuracies on rows that were held out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis_papers.dft import _methods

FILES = {"multifeat": "mfeat", "colon": "colon", "arr": "arrhythmia"}
# Mostly missing; the paper's 278 columns are the others.
J_POINT = 13
NORMAL = 1

Rows = tuple[int, ...]


def load_table(name: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """A table of the paper; ARR has 420 complete rows, 237 normal and 183 others."""
    from tamis import datasets

    bunch: Any = datasets.load(FILES[name])
    X, y = np.asarray(bunch.X, dtype=np.float64), np.asarray(bunch.y, dtype=np.int64)
    if name != "arr":
        return X, y
    X = np.delete(X, J_POINT, axis=1)
    complete = ~np.isnan(X).any(axis=1)
    return X[complete], (y[complete] != NORMAL).astype(np.int64)


def folds_of(y: NDArray[np.int64], n_folds: int, n_repeats: int, seed: int) -> list[Rows]:
    """Test rows of every fold of every repeat, with equal shares of the classes."""
    from sklearn.model_selection import RepeatedStratifiedKFold

    parts = RepeatedStratifiedKFold(n_splits=n_folds, n_repeats=n_repeats, random_state=seed)
    return [tuple(test.tolist()) for _, test in parts.split(y, y)]


def order_on_all_rows(name: str, method: str, seed: int) -> list[int]:
    """Ranking that has seen the test rows too."""
    return _methods.order_by(method, *load_table(name), seed)


def held_out_scores(
    name: str,
    test: Rows,
    method: str,
    counts: Sequence[int],
    learners: Sequence[str],
    seed: int,
    order: Sequence[int] | None = None,
) -> dict[str, list[float]]:
    """Accuracy on the test rows for every learner and number of columns.

    The ranking comes from the training rows, unless an `order` is given.
    """
    X, y = load_table(name)
    train = np.setdiff1d(np.arange(y.size), test)
    if order is None:
        order = _methods.order_by(method, X[train], y[train], seed)
    rows = list(test)
    return {
        learner: [
            accuracy(learner, X[train], y[train], X[rows], y[rows], order[:count], seed)
            for count in counts
        ]
        for learner in learners
    }


def accuracy(
    learner: str,
    X: NDArray[Any],
    y: NDArray[Any],
    X_test: NDArray[Any],
    y_test: NDArray[Any],
    columns: Sequence[int],
    seed: int,
) -> float:
    """Share of test rows that a learner predicts right from some columns, in percent."""
    from threadpoolctl import threadpool_limits

    chosen = list(columns)
    with threadpool_limits(1):
        model = _methods.make_learner(learner, seed).fit(X[:, chosen], y)
        return 100 * float((model.predict(X_test[:, chosen]) == y_test).mean())
