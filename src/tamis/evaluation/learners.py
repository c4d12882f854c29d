"""Estimators that are trained on the selected features, with everything tuned inside `fit`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tamis._runtime.wording import did_you_mean
from tamis.exceptions import InputError

__all__ = ["LEARNERS", "Learner", "make_learner"]

STRENGTHS = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0)


class Learner(NamedTuple):
    """A named scikit-learn estimator.

    Parameters
    ----------
    name : str
        For tables and reports.
    estimator : scikit-learn estimator
        Not fitted.
    task : {"classification", "regression"}
        What it predicts.

    Examples
    --------
    >>> from tamis.evaluation.learners import make_learner
    >>> make_learner("svm", "classification").name
    'svm'
    """

    name: str
    estimator: Any
    task: str


def make_learner(learner: Any, task: str) -> Learner:
    """Make a named estimator from a word or an estimator.

    Parameters
    ----------
    learner : str, scikit-learn estimator or Learner
        ``"svm"``, ``"logistic"``, ``"rbf_svm"``, ``"forest"``, ``"knn"``, ``"boosting"``,
        ``"ridge"``, or any estimator; a Learner stays as it is.
    task : {"classification", "regression"}
        What is predicted.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from tamis.evaluation.learners import make_learner
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_learner("svm", "classification").estimator.fit(X[:400], y[:400])
    >>> bool(model.score(X[400:], y[400:]) > 0.95)
    True
    """
    if isinstance(learner, Learner):
        return learner
    names = ", ".join(names_for(task))
    if isinstance(learner, str):
        if learner not in names_for(task):
            raise InputError(
                f"make_learner: expected one of {names} or an estimator for {task}, got "
                f"{learner!r}.{did_you_mean(learner, names_for(task))}"
            )
        return Learner(learner, LEARNERS[learner][0](task), task)
    if not hasattr(learner, "fit") or isinstance(learner, type):
        raise InputError(
            f"make_learner: expected one of {names} or a scikit-learn estimator, got {learner!r}."
        )
    last = learner
    while hasattr(last, "steps"):
        last = last.steps[-1][1]
    return Learner(type(last).__name__, learner, task)


def names_for(task: str) -> list[str]:
    """Words that `make_learner` knows for a task."""
    return [name for name, (_, tasks) in LEARNERS.items() if task in tasks]


def _prepared(estimator: Any, **options: bool) -> Any:
    """Missing values at the mean, columns at unit variance, both from the training rows."""
    from tamis.evaluation._tuning import Prepared

    return Prepared(estimator, **options)


def _svm(task: str) -> Any:
    from sklearn.svm import LinearSVC, LinearSVR

    from tamis.evaluation._tuning import TunedLinearSVM

    # With the squared losses, training needs no random numbers.
    model = LinearSVC(dual=False, random_state=0)
    if task == "regression":
        loss = "squared_epsilon_insensitive"
        model = LinearSVR(loss=loss, epsilon=0.1, dual=False, random_state=0)
    tuned = TunedLinearSVM(model, parameter="C", values=STRENGTHS, rotate=True)
    # C and epsilon expect a target at mean 0 and variance 1.
    return _prepared(tuned, scale_target=task == "regression")


def _logistic(task: str) -> Any:
    from sklearn.linear_model import LogisticRegression

    from tamis.evaluation._tuning import TunedLogistic

    model = LogisticRegression(max_iter=1000, random_state=0)
    return _prepared(TunedLogistic(model, parameter="C", values=STRENGTHS, rotate=True))


def _rbf_svm(task: str) -> Any:
    from sklearn.svm import SVC, SVR

    from tamis.evaluation._tuning import Tuned

    model = SVC(random_state=0) if task == "classification" else SVR()
    tuned = Tuned(model, parameter="C", values=STRENGTHS[2:])
    # C and epsilon expect a target at mean 0 and variance 1.
    return _prepared(tuned, scale_target=task == "regression")


def _forest(task: str) -> Any:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    forest = RandomForestClassifier if task == "classification" else RandomForestRegressor
    return _prepared(forest(n_estimators=200), scaled=False)


def _knn(task: str) -> Any:
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

    from tamis.evaluation._tuning import Tuned

    model = KNeighborsClassifier() if task == "classification" else KNeighborsRegressor()
    return _prepared(Tuned(model, parameter="n_neighbors", values=(1, 3, 5, 7, 9)))


def _boosting(task: str) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    classes = task == "classification"
    boosting = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    # With the usual leaf of 20 rows there would be no tree in a table of 40.
    return _prepared(boosting(min_samples_leaf=5, early_stopping=False), scaled=False)


def _ridge(task: str) -> Any:
    from sklearn.linear_model import RidgeCV

    # Generalised cross-validation, which is leave-one-out, inside fit.
    return _prepared(RidgeCV(alphas=[10.0**power for power in range(-3, 6)]))


_BOTH = ("classification", "regression")
# Name: function that makes the estimator for a task, tasks.
LEARNERS: dict[str, tuple[Callable[[str], Any], tuple[str, ...]]] = {
    "svm": (_svm, _BOTH),
    "logistic": (_logistic, ("classification",)),
    "rbf_svm": (_rbf_svm, _BOTH),
    "forest": (_forest, _BOTH),
    "knn": (_knn, _BOTH),
    "boosting": (_boosting, _BOTH),
    "ridge": (_ridge, ("regression",)),
}
