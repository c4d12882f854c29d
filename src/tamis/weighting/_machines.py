"""scikit-learn classifiers by word, seeded and trained so that threads do not change them."""

from __future__ import annotations

import threading
from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

Floats = NDArray[np.float64]

# liblinear and libsvm keep one random generator for the whole process: two threads that train at
# once would take numbers from each other, and the result would depend on their luck.
_shared_generator = threading.Lock()


def with_seed(estimator: Any, seed: int) -> Any:
    """Give the seed to an estimator, and to those inside it, where they have none."""
    ends = ("random_state", "__random_state")
    empty = [
        name
        for name, value in sorted(estimator.get_params(deep=True).items())
        if value is None and (name == ends[0] or name.endswith(ends[1]))
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
    machine = with_seed(clone(estimator), seed)
    options = {} if weight is None else {"sample_weight": weight}
    with _shared_generator if takes_turns(machine) else nullcontext():
        return machine.fit(X, y, **options)


def takes_turns(estimator: Any) -> bool:
    """Whether it draws from the generator that liblinear and libsvm share."""
    for part in (estimator, *estimator.get_params(deep=True).values()):
        liblinear = type(part).__name__ == "LinearSVC" or getattr(part, "solver", "") == "liblinear"
        if liblinear and getattr(part, "dual", True) is not False:
            return True
        if type(part).__name__ in ("SVC", "NuSVC") and part.probability is True:
            return True
    return False
