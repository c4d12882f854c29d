"""Learners of the inner loop: small kernels, or any scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier

from tamis._runtime.compilation import announce_compilation
from tamis._runtime.threads import effective_jobs, run_parts, split_evenly
from tamis._validation import Choice, Constraint, Number, check_value
from tamis.exceptions import InputError
from tamis.weighting._machines import fit_one, with_seed

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


class Option(NamedTuple):
    """A setting of a built-in learner: its default and what it may be."""

    default: Any
    constraint: Constraint


OPTIONS: dict[str, dict[str, Option]] = {
    "svm": {
        "C": Option(1.0, Number(float, low=0, open_low=True)),
        "loss": Option("hinge", Choice(("hinge", "squared_hinge"))),
        "tol": Option(0.01, Number(float, low=0, open_low=True)),
        "max_iter": Option(200, Number(int, low=1)),
    },
    "nn": {
        "n_neighbors": Option(1, Number(int, low=1)),
        "metric": Option("euclidean", Choice(("euclidean", "mismatch"))),
    },
    "lda": {"shrinkage": Option(0.1, Number(float, low=0, high=1, open_low=True))},
    "cart": {
        "max_depth": Option(5, Number(int, low=1)),
        "min_samples_leaf": Option(1, Number(int, low=1)),
    },
}


class Task(NamedTuple):
    """What is learned: columns as rows of `values`, classes, and how errors are counted."""

    values: Floats
    codes: NDArray[np.int32]
    n_classes: int
    balanced: bool
    one_vs_all: bool


# Errors of some draws: columns, training rows and test rows, one row of each per draw.
Errors = Callable[[Indices, Indices, Indices], Floats]


def check_estimator_choice(estimator: Any, params: Mapping[str, Any] | None, who: str) -> None:
    """Raise unless `estimator` is a known word with known settings, or a classifier."""
    if isinstance(estimator, str):
        if estimator not in OPTIONS:
            raise InputError(
                f"{who}: estimator must be {Choice(tuple(OPTIONS)).describe()}, or a scikit-learn "
                f"classifier, got {estimator!r}."
            )
        read_options(estimator, params, who)
    elif not _is_classifier(estimator):
        raise InputError(
            f"{who}: estimator must be {Choice(tuple(OPTIONS)).describe()}, or a scikit-learn "
            f"classifier, got {estimator!r}."
        )
    elif params:
        raise InputError(
            f"{who}: estimator_params belong to the built-in estimators, got {dict(params)!r} with "
            f"{type(estimator).__name__}. Set the parameters of the classifier itself."
        )


def _is_classifier(estimator: Any) -> bool:
    if isinstance(estimator, type) or not hasattr(estimator, "fit"):
        return False
    try:
        return bool(is_classifier(estimator))
    except AttributeError:  # scikit-learn asks for tags, which nothing but its estimators has
        return False


def read_options(name: str, params: Mapping[str, Any] | None, who: str) -> dict[str, Any]:
    """Settings of a built-in learner, defaults filled in."""
    known, given = OPTIONS[name], dict(params or {})
    for key in given:
        if key not in known:
            raise InputError(
                f"{who}: estimator_params of {name!r} may hold {', '.join(known)}, got {key!r}."
            )
    values = {key: given.get(key, option.default) for key, option in known.items()}
    for key, option in known.items():
        check_value(values[key], option.constraint, who=who, name=f"estimator_params[{key!r}]")
    return values


def make_errors(
    estimator: Any,
    params: Mapping[str, Any] | None,
    task: Task,
    n_jobs: int | None,
    who: str,
    seed: int = 0,
) -> Errors:
    """The function that trains and tests, for a built-in learner or a classifier.

    A classifier that would draw random numbers gets `seed` where it has none of its own.
    """
    if isinstance(estimator, str):
        return _built_in(estimator, read_options(estimator, params, who), task, n_jobs)
    return _general(with_seed(clone(estimator), seed), task, n_jobs)


def _built_in(name: str, options: dict[str, Any], task: Task, n_jobs: int | None) -> Errors:
    kernel, settings = _kernel(name, options)
    threads = effective_jobs(n_jobs)

    def errors(draws: Indices, train: Indices, test: Indices) -> Floats:
        out = np.empty(draws.shape[0])
        arguments = (
            task.values, task.codes, task.n_classes, draws, train, test, settings,
            task.balanced, task.one_vs_all, out,
        )  # fmt: skip
        parts = split_evenly(0, draws.shape[0], threads)
        run_parts(lambda first, last: kernel(*arguments, first, last), parts, threads)
        return out

    # The first call compiles; threads must not do that all at once.
    with announce_compilation(kernel):
        nothing = np.zeros((0, 1), dtype=np.int64)
        errors(nothing, nothing, nothing)
    return errors


def _kernel(name: str, options: dict[str, Any]) -> tuple[Any, tuple[Any, ...]]:
    """Kernel of a learner, and its settings as plain numbers."""
    if name == "svm":
        from tamis.linear_svm.descent_kernels import HINGE, SQUARED_HINGE
        from tamis.weighting import _svm_kernels as svm

        loss = HINGE if options["loss"] == "hinge" else SQUARED_HINGE
        return svm.svm_errors, (
            float(options["C"]), loss, float(options["tol"]), int(options["max_iter"])
        )  # fmt: skip
    if name == "nn":
        from tamis.weighting import _neighbor_kernels as nn

        metric = nn.EUCLIDEAN if options["metric"] == "euclidean" else nn.MISMATCH
        return nn.neighbor_errors, (int(options["n_neighbors"]), metric)
    if name == "lda":
        from tamis.weighting import _lda_kernels as lda

        return lda.lda_errors, (float(options["shrinkage"]),)
    from tamis.weighting import _cart_kernels as cart

    return cart.cart_errors, (int(options["max_depth"]), int(options["min_samples_leaf"]))


def _general(estimator: Any, task: Task, n_jobs: int | None) -> Errors:
    threads = effective_jobs(n_jobs)

    def errors(draws: Indices, train: Indices, test: Indices) -> Floats:
        out = np.empty(draws.shape[0])

        def evaluate(d: int) -> None:
            columns = np.unique(draws[d])
            out[d] = _one_error(estimator, task, columns, train[d], test[d])

        run_parts(evaluate, [(d,) for d in range(draws.shape[0])], threads)
        return out

    return errors


def _one_error(
    estimator: Any, task: Task, columns: Indices, train: Indices, test: Indices
) -> float:
    inside, outside = (task.values[np.ix_(columns, rows)].T for rows in (train, test))
    known, truth = task.codes[train], task.codes[test]
    if not task.one_vs_all or task.n_classes == 2:
        return _rate(_predict(estimator, inside, known, outside), truth, task.balanced)
    rates = [
        _rate(_predict(estimator, inside, known == c, outside), truth == c, task.balanced)
        for c in range(task.n_classes)
    ]
    return float(np.mean(rates))


def _predict(estimator: Any, X: Floats, y: NDArray[Any], other: Floats) -> NDArray[Any]:
    """Predictions of a copy; a sample of one class only can be answered without training."""
    if (y == y[0]).all():
        return np.full(other.shape[0], y[0])
    return fit_one(estimator, X, y).predict(other)


def _rate(found: NDArray[Any], truth: NDArray[Any], balanced: bool) -> float:
    wrong = found != truth
    if not balanced:
        return float(wrong.mean())
    return float(np.mean([wrong[truth == c].mean() for c in np.unique(truth)]))
