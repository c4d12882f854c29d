"""Estimators of the inner loop, kernels or any classifier; threads do not change the result."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier

from tamis._runtime.compilation import announce_compilation
from tamis._runtime.threads import effective_jobs, run_parts, split_evenly
from tamis._validation import Choice, Custom, Number, check_value
from tamis.exceptions import InputError

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


class Option(NamedTuple):
    """A setting of a built-in estimator."""

    default: Any
    constraint: Number | Choice


# In the order in which the kernels take them.
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
    if estimator not in OPTIONS if isinstance(estimator, str) else not _is_classifier(estimator):
        raise InputError(
            f"{who}: estimator must be {Choice(tuple(OPTIONS)).describe()}, or a scikit-learn "
            f"classifier, got {estimator!r}."
        )
    if isinstance(estimator, str):
        read_options(estimator, params, who)
    elif params:
        raise InputError(
            f"{who}: estimator_params belong to the built-in estimators, got {dict(params)!r} with "
            f"{type(estimator).__name__}. Set the parameters of the classifier itself."
        )


PARAMS = Custom(lambda value: value is None or isinstance(value, Mapping), "a mapping or None")
PATH = Custom(lambda value: value is None or isinstance(value, str | PathLike), "a path or None")


def _is_classifier(estimator: Any) -> bool:
    if isinstance(estimator, type) or not hasattr(estimator, "fit"):
        return False
    try:
        return bool(is_classifier(estimator))
    except AttributeError:  # scikit-learn asks for tags, which nothing but its estimators has
        return False


def read_options(name: str, params: Mapping[str, Any] | None, who: str) -> dict[str, Any]:
    """Settings of a built-in estimator, defaults filled in."""
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
    estimator: Any, params: Mapping[str, Any] | None, task: Task, n_jobs: int | None, who: str,
    seed: int = 0,
) -> Errors:  # fmt: skip
    """The function that trains and tests; `seed` is for a classifier that has none."""
    if isinstance(estimator, str):
        return _built_in(estimator, read_options(estimator, params, who), task, n_jobs)
    return _general(with_seed(clone(estimator), seed), task, n_jobs)


def _built_in(name: str, options: dict[str, Any], task: Task, n_jobs: int | None) -> Errors:
    from tamis.weighting._cart_kernels import cart_errors
    from tamis.weighting._error_kernels import lda_errors, neighbor_errors, svm_errors

    kernels = {"svm": svm_errors, "nn": neighbor_errors, "lda": lda_errors, "cart": cart_errors}
    kernel: Any = kernels[name]
    settings = tuple(_as_number(OPTIONS[name][key], value) for key, value in options.items())
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


def _as_number(option: Option, value: Any) -> float:
    """A setting as kernels take it: words by their place, numbers as plain ones."""
    if isinstance(option.constraint, Choice):
        return option.constraint.values.index(value)
    return option.constraint.kind(value)


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

    def rate(known: NDArray[Any], truth: NDArray[Any]) -> float:
        wrong = fit_one(estimator, inside, known).predict(outside) != truth
        if not task.balanced:
            return float(wrong.mean())
        return float(np.mean([wrong[truth == c].mean() for c in np.unique(truth)]))

    known, truth = task.codes[train], task.codes[test]
    if not task.one_vs_all or task.n_classes == 2:
        return rate(known, truth)
    return float(np.mean([rate(known == c, truth == c) for c in range(task.n_classes)]))


# liblinear and libsvm keep one random generator for the whole process: two threads that train at
# once would take numbers from each other, and the result would depend on their timing.
_shared_generator = threading.Lock()


def with_seed(estimator: Any, seed: int) -> Any:
    """Give the seed to an estimator, and to those inside it, where they have none."""
    empty = [
        name
        for name, value in sorted(estimator.get_params(deep=True).items())
        if value is None and f"__{name}".endswith("__random_state")
    ]
    return estimator.set_params(**{name: (seed + k) % 2**31 for k, name in enumerate(empty)})


def named_classifier(name: str, given: dict[str, Any], options: dict[str, Any], n_rows: int) -> Any:
    """scikit-learn's classifier for a word, with the settings that OFW knows."""
    if name == "svm":
        from sklearn.svm import LinearSVC

        hinge = given.get("loss") == "hinge"
        ours = {"loss": "squared_hinge", "max_iter": 10_000, "tol": 1e-2 if hinge else 1e-4}
        return LinearSVC(dual=hinge, **{**ours, **given})
    if name == "nn":
        from sklearn.neighbors import KNeighborsClassifier

        metric = "hamming" if options["metric"] == "mismatch" else "euclidean"
        return KNeighborsClassifier(min(options["n_neighbors"], n_rows), metric=metric)
    if name == "lda":
        from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

        return LinearDiscriminantAnalysis(solver="lsqr", **options)
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(**options)


def fit_one(
    estimator: Any, X: Floats, y: NDArray[Any], weight: Floats | None = None, seed: int = 0
) -> Any:
    """A trained copy; a sample of one class only is answered by that class."""
    if (y == y[0]).all():
        from sklearn.dummy import DummyClassifier

        return DummyClassifier(strategy="most_frequent").fit(X, y)
    model = with_seed(clone(estimator), seed)
    options = {} if weight is None else {"sample_weight": weight}
    with _shared_generator if takes_turns(model) else nullcontext():
        return model.fit(X, y, **options)


def takes_turns(estimator: Any) -> bool:
    """Whether it draws from the generator that liblinear and libsvm share."""
    for part in (estimator, *estimator.get_params(deep=True).values()):
        liblinear = type(part).__name__ == "LinearSVC" or getattr(part, "solver", "") == "liblinear"
        if liblinear and getattr(part, "dual", True) is not False:
            return True
        if type(part).__name__ in ("SVC", "NuSVC") and part.probability is True:
            return True
    return False
