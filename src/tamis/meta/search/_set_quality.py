"""The quality of a set of features: the cross-validated score of a model trained on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.metrics import check_scoring
from sklearn.model_selection import KFold, StratifiedKFold, check_cv
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import ThreadpoolController

from tamis._runtime.threads import effective_jobs
from tamis.data.labels import check_classes, check_target, check_two_classes
from tamis.data.target import check_numbers
from tamis.data.task import are_whole
from tamis.exceptions import InputError
from tamis.linear_svm.squared_hinge import FastLinearSVM

Fold = tuple[NDArray[np.intp], NDArray[np.intp]]


class SetQuality:
    """Scores tables of measured features by cross-validation on the same folds, in a with block."""

    def __init__(
        self, y: Any, estimator: Any, cv: Any, scoring: Any, seed: int, n_jobs: int | None, who: str
    ):  # fmt: skip
        self.who = who
        self.estimator = _seeded(FastLinearSVM() if estimator is None else estimator, seed)
        classifies = is_classifier(self.estimator)
        self.y = _check_target(y, self.estimator, classifies, who)
        self.folds = _make_folds(cv, self.y, classifies, seed, who)
        try:
            self.scorer = check_scoring(self.estimator, scoring=scoring)
        except (TypeError, ValueError) as error:
            raise InputError(f"{who}: scoring={scoring!r} cannot be used. {error}") from error
        self.n_jobs = effective_jobs(n_jobs)

    def __enter__(self) -> SetQuality:
        """Start the threads, which stay for all tables."""
        # A product that the BLAS splits among threads has other last bits than one that it does
        # not; with one thread each, neither n_jobs nor the number of cores changes the result.
        self._blas = ThreadpoolController()
        self._threads = Parallel(n_jobs=self.n_jobs, backend="threading").__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._threads.__exit__(*error)

    @property
    def tables_at_once(self) -> int:
        """How many tables keep all threads busy."""
        return -(-self.n_jobs // len(self.folds))

    def scores(self, tables: Sequence[NDArray[Any]]) -> list[float]:
        """Mean score over the folds, for each table of shape (n_samples, n_features)."""
        for table in tables:
            self._check(table)
        tasks = [(table, fold) for table in tables for fold in self.folds]
        with self._blas.limit(limits=1, user_api="blas"):
            found = self._threads(delayed(self._score)(table, fold) for table, fold in tasks)
        return [float(np.mean(row)) for row in np.reshape(found, (len(tables), len(self.folds)))]

    def _score(self, table: NDArray[Any], fold: Fold) -> float:
        train, test = fold
        fitted = clone(self.estimator).fit(table[train], self.y[train])
        return float(self.scorer(fitted, table[test], self.y[test]))

    def _check(self, table: Any) -> None:
        shape = getattr(table, "shape", None)
        if shape is None or len(shape) != 2 or shape[0] != self.y.size:
            raise InputError(
                f"{self.who}: expected the generator to measure a table with one row for each of "
                f"the {self.y.size} entries of y, got shape {shape}. Check that X and y have "
                "the same rows."
            )


def _seeded(estimator: Any, seed: int) -> Any:
    """Copy of the estimator; where it would take a random seed, it takes this one."""
    try:
        copy = clone(estimator)
    except TypeError as error:
        raise InputError(
            f"estimator must be a scikit-learn estimator or None, got {estimator!r}."
        ) from error
    unset = {
        name: seed % 2**31
        for name, value in copy.get_params(deep=True).items()
        if (name == "random_state" or name.endswith("__random_state")) and value is None
    }
    return copy.set_params(**unset) if unset else copy


def _check_target(y: Any, estimator: Any, classifies: bool, who: str) -> NDArray[Any]:
    if y is None:
        raise InputError(f"{who}: expected a target y, got None. Pass the labels to fit(X, y).")
    n_rows = len(y) if hasattr(y, "__len__") else 0
    if classifies:
        target = check_target(y, n_rows, who)
        if target.dtype.kind == "f" and not are_whole(target):
            raise InputError(
                f"{who}: expected a target of classes for {type(estimator).__name__}, got numbers "
                "with a fractional part. Pass a regressor as estimator, or turn the target into "
                "classes."
            )
        classes, codes = check_classes(y, n_rows, who)
        check_two_classes(classes, who)
        return classes[codes]
    if is_regressor(estimator):
        return check_numbers(y, n_rows, who)
    return check_target(y, n_rows, who)


def _make_folds(cv: Any, y: NDArray[Any], classifies: bool, seed: int, who: str) -> list[Fold]:
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        kind = StratifiedKFold if classifies else KFold
        cv = kind(int(cv), shuffle=True, random_state=seed % 2**31)
    try:
        folds = list(check_cv(cv, y, classifier=classifies).split(np.zeros((y.size, 1)), y))
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{who}: cv={cv!r} cannot split {y.size} rows: {error} Give a smaller int, or a "
            "splitter that needs no groups."
        ) from error
    if not folds:
        raise InputError(f"{who}: expected cv to give at least one fold, got none from {cv!r}.")
    return folds
