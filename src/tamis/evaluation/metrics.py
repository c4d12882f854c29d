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
    low, high : float, default=-inf, inf
        Values that the metric can take.
    by_row : callable or None, default=None
        ``by_row(model, X, y)`` gives one number per row whose mean is the score. What a row changes
        in the score, to first order, is its number minus the mean, over the number of rows; this is
        what intervals and paired tests are made of (``tamis.evaluation.intervals``).
    class_sizes : bool, default=False
        Whether every class counts equally, so that the smallest limits what can be known.

    Examples
    --------
    >>> from tamis.evaluation.metrics import make_metric
    >>> metric = make_metric("mse", "regression")
    >>> metric.greater_is_better, metric.low, metric.high
    (False, 0.0, inf)
    """

    name: str
    scorer: Scorer
    greater_is_better: bool
    low: float = -np.inf
    high: float = np.inf
    by_row: Callable[[Any, Any, Any], Vector] | None = None
    class_sizes: bool = False


def accuracy(model: Any, X: Any, y: Any) -> float:
    """Share of rows whose class is predicted."""
    return float(np.mean(_right(model, X, y)))


def _right(model: Any, X: Any, y: Any) -> Vector:
    return (np.asarray(model.predict(X)) == np.asarray(y)).astype(np.float64)


def balanced_error(model: Any, X: Any, y: Any) -> float:
    """Mean over the classes among the rows of the share predicted wrongly."""
    y, wrong = np.asarray(y), 1.0 - _right(model, X, y)
    return float(np.mean([wrong[y == label].mean() for label in np.unique(y)]))


def _wrong_by_class(model: Any, X: Any, y: Any) -> Vector:
    """The balanced error plus its influence function at every row."""
    _, codes, sizes = np.unique(np.asarray(y), return_inverse=True, return_counts=True)
    wrong = 1.0 - _right(model, X, y)
    shares = np.bincount(codes, weights=wrong) / sizes
    return shares.mean() + (wrong - shares[codes]) * (codes.size / (sizes.size * sizes[codes]))


def auc(model: Any, X: Any, y: Any) -> float:
    """Area under the ROC curve; for three or more classes, the mean of one against the rest."""
    return float(np.mean(_one_against_rest(model, X, y, _area)))


def _auc_by_row(model: Any, X: Any, y: Any) -> Vector:
    return _one_against_rest(model, X, y, _placements)


def average_precision(model: Any, X: Any, y: Any) -> float:
    """Average precision of the second of two classes; of more, the mean of one against the rest."""
    return float(np.mean(_one_against_rest(model, X, y, _precision)))


def mse(model: Any, X: Any, y: Any) -> float:
    """Mean squared error."""
    return float(np.mean(_squares(model, X, y)))


def _squares(model: Any, X: Any, y: Any) -> Vector:
    return (np.asarray(model.predict(X)) - np.asarray(y, dtype=float)) ** 2


def r2(model: Any, X: Any, y: Any) -> float:
    """Share of the variance of the rows that is predicted; NaN if they do not vary.

    The variance is that of the rows, or `target_variance_` of the model: of few rows, the mean of
    ratios is far from the ratio of means, so `compare` takes the variance of the training rows.
    """
    y = np.asarray(y, dtype=float)
    total = _target_variance(model, y)
    return 1.0 - mse(model, X, y) / total if total > 0 else float("nan")


def _target_variance(model: Any, y: Vector) -> float:
    known = getattr(model, "target_variance_", None)
    return float(np.var(y) if known is None else known)


def _r2_by_row(model: Any, X: Any, y: Any) -> Vector:
    """R2 plus its influence function at every row."""
    y, squares = np.asarray(y, dtype=float), _squares(model, X, y)
    total, spread = _target_variance(model, y), (y - y.mean()) ** 2
    if total == 0:
        return np.full(y.size, np.nan)
    ratio = squares.mean() / total
    return (1.0 - ratio) - (squares - squares.mean() - ratio * (spread - spread.mean())) / total


_CLASSES, _NUMBERS = "classification", "regression"
# The metrics by name, with their task.
METRICS: dict[str, tuple[Metric, str]] = {
    metric.name: (metric, task)
    for metric, task in (
        (Metric("accuracy", accuracy, True, 0.0, 1.0, _right), _CLASSES),
        (Metric("auc", auc, True, 0.0, 1.0, _auc_by_row, True), _CLASSES),
        (Metric("average_precision", average_precision, True, 0.0, 1.0, None, True), _CLASSES),
        (
            Metric("balanced_error", balanced_error, False, 0.0, 1.0, _wrong_by_class, True),
            _CLASSES,
        ),
        (Metric("mse", mse, False, 0.0, np.inf, _squares), _NUMBERS),
        (Metric("r2", r2, True, -np.inf, 1.0, _r2_by_row), _NUMBERS),
    )
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
        known, wanted = METRICS[metric]
        if wanted != task:
            raise InputError(
                f"make_metric: expected a metric for {task}, got {metric!r}, which is for "
                f"{wanted}. Choose among {names}."
            )
        return known
    from sklearn.metrics import get_scorer, get_scorer_names

    scorers = get_scorer_names()
    if metric not in scorers:
        raise InputError(
            f"make_metric: expected one of {names}, the name of a scikit-learn scorer or a "
            f"callable, got {metric!r}.{did_you_mean(metric, [*names_for(task), *scorers])}"
        )
    return Metric(metric, get_scorer(metric), True, *_range_of(metric))


def names_for(task: str) -> list[str]:
    """Words that `make_metric` knows for a task."""
    return [name for name, (_, wanted) in METRICS.items() if wanted == task]


def _range_of(scorer: str) -> tuple[float, float]:
    """Values that a scorer of scikit-learn can take, where its name tells."""
    if scorer.startswith("neg_"):
        return -np.inf, 0.0
    shares = ("accuracy", "balanced_accuracy", "f1", "precision", "recall", "jaccard", "roc_auc")
    if scorer.startswith((*shares, "average_precision", "top_k")):
        return 0.0, 1.0
    return -np.inf, 1.0 if scorer in ("r2", "explained_variance") else np.inf


def default_metrics(task: str) -> tuple[Metric, ...]:
    """Metrics that are computed if none are asked for; the first decides.

    Of classes the AUC decides: unlike the accuracy, it does not grow with the share of the larger
    class, and it needs no threshold.

    Parameters
    ----------
    task : {"classification", "regression"}
        What is predicted.

    Examples
    --------
    >>> from tamis.evaluation.metrics import default_metrics
    >>> [metric.name for metric in default_metrics("classification")]
    ['auc', 'accuracy', 'balanced_error']
    """
    words = {"classification": ("auc", "accuracy", "balanced_error"), "regression": ("r2", "mse")}
    return tuple(make_metric(word, task) for word in words[task])


def _one_against_rest(
    model: Any, X: Any, y: Any, measure: Callable[[NDArray[np.bool_], Vector], Any]
) -> Any:
    """Mean over the classes of a measure of one class against the rest."""
    y = np.asarray(y)
    present = np.unique(y)
    if present.size < 2:
        return np.full(y.size, np.nan)
    votes, labels = _votes(model, X), list(model.classes_)
    everyone = sorted({*labels, *present})
    wanted = everyone[1:] if len(everyone) == 2 else present
    chance = np.zeros(y.size)
    of = {label: votes[:, j] for j, label in enumerate(labels)}
    return np.mean([measure(y == label, of.get(label, chance)) for label in wanted], axis=0)


def _votes(model: Any, X: Any) -> Vector:
    """For every row and class, how much the model is for it."""
    for method in ("decision_function", "predict_proba"):
        if hasattr(model, method):
            votes = np.asarray(getattr(model, method)(X), dtype=float)
            return np.column_stack([-votes, votes]) if votes.ndim == 1 else votes
    predicted = np.asarray(model.predict(X))
    return np.column_stack([predicted == label for label in model.classes_]).astype(float)


# Pairs of rows up to which all are looked at; of more, ranks are faster.
MOST_PAIRS = 10_000


# scikit-learn's own two functions take milliseconds for twenty rows, as much as a training.
def _area(positive: NDArray[np.bool_], votes: Vector) -> float:
    """Share of pairs, one row of either kind, that the votes put in order; half for equal votes."""
    ranks, n_positive = _middle_ranks(votes), np.count_nonzero(positive)
    n_pairs = n_positive * (positive.size - n_positive)
    return float((ranks[positive].sum() - n_positive * (n_positive + 1) / 2) / n_pairs)


def _placements(positive: NDArray[np.bool_], votes: Vector) -> Vector:
    """The area plus its influence function at every row: how many of the other kind it beats."""
    n, one, other = positive.size, votes[positive], votes[~positive]
    if one.size * other.size <= MOST_PAIRS:
        won = (one[:, None] > other) + 0.5 * (one[:, None] == other)
        beaten = won.mean(axis=1), won.mean(axis=0)
    else:
        ranks = _middle_ranks(votes)
        beaten = (
            (ranks[positive] - _middle_ranks(one)) / other.size,
            1.0 - (ranks[~positive] - _middle_ranks(other)) / one.size,
        )
    area, ahead = beaten[0].mean(), np.empty(n)
    for kind, share in ((positive, beaten[0]), (~positive, beaten[1])):
        ahead[kind] = area + (share - area) * (n / share.size)
    return ahead


def _middle_ranks(votes: Vector) -> Vector:
    ordered = np.sort(votes)
    below, reached = (np.searchsorted(ordered, votes, side) for side in ("left", "right"))
    return (below + reached + 1) / 2


def _precision(positive: NDArray[np.bool_], votes: Vector) -> float:
    """Precision at every vote that brings in positive rows, weighted by how many."""
    _, place = np.unique(-votes, return_inverse=True)
    taken = np.cumsum(np.bincount(place))
    found = np.bincount(place, weights=positive)
    return float((np.cumsum(found) / taken) @ found / found.sum())
