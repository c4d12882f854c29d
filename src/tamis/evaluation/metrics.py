"""Metrics: how good a fitted model is on rows it has not seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.wording import did_you_mean
from tamis.exceptions import InputError

__all__ = ["METRICS", "Metric", "default_metrics", "make_metric"]

Scorer = Callable[[Any, Any, Any], float]
Vector = NDArray[np.float64]


class Metric(NamedTuple):
    """A named number for a fitted model.

    Parameters
    ----------
    name : str
        For tables and reports.
    scorer : callable
        ``scorer(model, X, y)`` gives a float; NaN where the rows do not allow the metric.
    greater_is_better : bool
        False for errors.

    Examples
    --------
    >>> from tamis.evaluation.metrics import make_metric
    >>> make_metric("mse", "regression").greater_is_better
    False
    """

    name: str
    scorer: Scorer
    greater_is_better: bool


def accuracy(model: Any, X: Any, y: Any) -> float:
    """Share of rows whose class is predicted."""
    return float(np.mean(np.asarray(model.predict(X)) == np.asarray(y)))


def balanced_error(model: Any, X: Any, y: Any) -> float:
    """Mean over the classes among the rows of the share predicted wrongly."""
    y = np.asarray(y)
    wrong = np.asarray(model.predict(X)) != y
    return float(np.mean([wrong[y == label].mean() for label in np.unique(y)]))


def auc(model: Any, X: Any, y: Any) -> float:
    """Area under the ROC curve; for three or more classes, the mean of one against the rest."""
    return _one_against_rest(model, X, y, _area)


def average_precision(model: Any, X: Any, y: Any) -> float:
    """Average precision of the second of two classes; of more, the mean of one against the rest."""
    return _one_against_rest(model, X, y, _precision)


def mse(model: Any, X: Any, y: Any) -> float:
    """Mean squared error."""
    return float(np.mean((np.asarray(model.predict(X)) - np.asarray(y, dtype=float)) ** 2))


def r2(model: Any, X: Any, y: Any) -> float:
    """Share of the variance of the rows that is predicted; NaN if they do not vary."""
    y = np.asarray(y, dtype=float)
    total = float(np.mean((y - y.mean()) ** 2))
    return 1.0 - mse(model, X, y) / total if total > 0 else float("nan")


# Name: function, whether larger is better, task.
METRICS: dict[str, tuple[Scorer, bool, str]] = {
    "accuracy": (accuracy, True, "classification"),
    "auc": (auc, True, "classification"),
    "average_precision": (average_precision, True, "classification"),
    "balanced_error": (balanced_error, False, "classification"),
    "mse": (mse, False, "regression"),
    "r2": (r2, True, "regression"),
}


def make_metric(metric: Any, task: str) -> Metric:
    """Make a metric from a word or a scorer.

    Parameters
    ----------
    metric : str, callable or Metric
        ``"accuracy"``, ``"auc"``, ``"average_precision"``, ``"balanced_error"``, ``"mse"``,
        ``"r2"``; any name of :func:`sklearn.metrics.get_scorer_names`; or a callable
        ``scorer(model, X, y)`` of which more is better. A Metric stays as it is.
    task : {"classification", "regression"}
        What is predicted.

    Notes
    -----
    For three or more classes, AUC and average precision are the plain mean of every class against
    the rest. Classes that are not among the rows are left out of the mean; a class that the model
    has not seen counts as predicted by chance. Where all rows are of one class both are NaN.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from tamis.evaluation.metrics import make_metric
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0]
    >>> make_metric("r2", "regression").scorer(LinearRegression().fit(X, y), X, y)
    1.0
    """
    if isinstance(metric, Metric):
        return metric
    if callable(metric):
        function = getattr(metric, "_score_func", metric)
        return Metric(getattr(function, "__name__", type(function).__name__), metric, True)
    names = ", ".join(names_for(task))
    if metric in METRICS:
        scorer, greater, wanted = METRICS[metric]
        if wanted != task:
            raise InputError(
                f"make_metric: expected a metric for {task}, got {metric!r}, which is for "
                f"{wanted}. Choose among {names}."
            )
        return Metric(metric, scorer, greater)
    from sklearn.metrics import get_scorer, get_scorer_names

    known = get_scorer_names()
    if metric not in known:
        raise InputError(
            f"make_metric: expected one of {names}, the name of a scikit-learn scorer or a "
            f"callable, got {metric!r}.{did_you_mean(metric, [*names_for(task), *known])}"
        )
    return Metric(metric, get_scorer(metric), True)


def names_for(task: str) -> list[str]:
    """Words that `make_metric` knows for a task."""
    return [name for name, (_, _, wanted) in METRICS.items() if wanted == task]


def default_metrics(task: str) -> tuple[Metric, ...]:
    """Metrics that are computed if none are asked for; the first decides.

    Parameters
    ----------
    task : {"classification", "regression"}
        What is predicted.

    Examples
    --------
    >>> from tamis.evaluation.metrics import default_metrics
    >>> [metric.name for metric in default_metrics("classification")]
    ['accuracy', 'auc', 'balanced_error']
    """
    words = {"classification": ("accuracy", "auc", "balanced_error"), "regression": ("r2", "mse")}
    return tuple(make_metric(word, task) for word in words[task])


def _one_against_rest(
    model: Any, X: Any, y: Any, measure: Callable[[NDArray[np.bool_], Vector], float]
) -> float:
    y = np.asarray(y)
    present = np.unique(y)
    if present.size < 2:
        return float("nan")
    votes, labels = _votes(model, X), list(model.classes_)
    everyone = sorted({*labels, *present})
    wanted = everyone[1:] if len(everyone) == 2 else present
    chance = np.zeros(y.size)
    of = {label: votes[:, j] for j, label in enumerate(labels)}
    return float(np.mean([measure(y == label, of.get(label, chance)) for label in wanted]))


def _votes(model: Any, X: Any) -> Vector:
    """For every row and class, how much the model is for it."""
    for method in ("decision_function", "predict_proba"):
        if hasattr(model, method):
            votes = np.asarray(getattr(model, method)(X), dtype=float)
            return np.column_stack([-votes, votes]) if votes.ndim == 1 else votes
    predicted = np.asarray(model.predict(X))
    return np.column_stack([predicted == label for label in model.classes_]).astype(float)


# scikit-learn's own two functions take milliseconds for twenty rows, as much as a training.
def _area(positive: NDArray[np.bool_], votes: Vector) -> float:
    """Share of pairs, one row of either kind, that the votes put in order; half for equal votes."""
    _, place, sizes = np.unique(votes, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(sizes) - (sizes - 1) / 2)[place]
    n_positive = np.count_nonzero(positive)
    n_pairs = n_positive * (positive.size - n_positive)
    return float((ranks[positive].sum() - n_positive * (n_positive + 1) / 2) / n_pairs)


def _precision(positive: NDArray[np.bool_], votes: Vector) -> float:
    """Precision at every vote that brings in positive rows, weighted by how many."""
    _, place = np.unique(-votes, return_inverse=True)
    taken = np.cumsum(np.bincount(place))
    found = np.bincount(place, weights=positive)
    return float((np.cumsum(found) / taken) @ found / found.sum())
