"""Tuned: an estimator with one parameter chosen by cross-validation of the rows it is fitted on."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from tamis.evaluation.protocols.base import Rows, deal_folds, fold_parts
from tamis.linear_svm.squared_hinge import hinge, newton_path, tube, with_bias

N_FOLDS = 5
# Unknowns up to which solving for all of them at once beats a search by gradients.
_FEW_UNKNOWNS = 600


def _inner_has(method: str) -> Any:
    return lambda self: hasattr(self.estimator, method)


class Tuned(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """An estimator with one parameter chosen by inner folds, inside `fit`.

    Lighter than a grid search: one parameter, the error or the squared error, no jobs. Of equally
    good values the middle one is taken. `rotate` says that only inner products of rows matter (a
    linear model with a squared norm as penalty): then a wide table is turned into a square one
    first, which changes nothing but the time. After `fit`, `losses_` are the errors (or squared
    errors) of every value over all inner folds; `converged_` says whether no fit stopped early.
    """

    def __init__(
        self, estimator: Any, *, parameter: str, values: Sequence[Any], rotate: bool = False
    ) -> None:
        self.estimator = estimator
        self.parameter = parameter
        self.values = values
        self.rotate = rotate

    def fit(self, X: Any, y: Any) -> Any:
        """Choose the value, then fit on all rows."""
        X, y = np.asarray(X), np.asarray(y)
        if not np.isfinite(X).all():
            raise ValueError("Tuned: expected finite numbers. Impute missing values first.")
        self.n_features_in_ = X.shape[1]
        square, basis = X, None
        if self.rotate and X.shape[1] > X.shape[0]:
            # At most as many columns as rows, and the same inner products.
            basis, triangle = np.linalg.qr(X.T)
            square = np.ascontiguousarray(triangle.T)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", ConvergenceWarning)
            with config_context(skip_parameter_validation=True):
                self.value_ = self._choose(square, y)
                self.estimator_ = self._made(self.value_, square, y).fit(square, y)
        self.converged_ = not caught
        if basis is not None:
            self.estimator_.coef_ = self.estimator_.coef_ @ basis.T
            self.estimator_.n_features_in_ = X.shape[1]
        if is_classifier(self.estimator):
            self.classes_ = self.estimator_.classes_
        return self

    def _made(self, value: Any, X: NDArray[Any], y: NDArray[Any]) -> Any:
        """An unfitted estimator with the value."""
        return clone(self.estimator).set_params(**{self.parameter: value})

    def _choose(self, X: NDArray[Any], y: NDArray[Any]) -> Any:
        classes = is_classifier(self.estimator)
        folds = inner_folds(y, classes)
        values = self.values
        if self.parameter == "n_neighbors":
            n_rows = min((train.size for train, _ in folds), default=0)
            values = [value for value in values if value <= n_rows] or [1]
        self.losses_ = np.zeros(len(values))
        for train, test in folds:
            if not classes or np.unique(y[train]).size > 1:
                self.losses_ += self._losses(values, X, y, train, test)
        best = np.flatnonzero(self.losses_ == self.losses_.min())
        return values[int(best[(best.size - 1) // 2])]

    def _losses(
        self, values: Sequence[Any], X: NDArray[Any], y: NDArray[Any], train: Rows, test: Rows
    ) -> NDArray[np.float64]:
        """Loss of every value on the rows of a fold."""
        models = (self._made(value, X, y).fit(X[train], y[train]) for value in values)
        return self._miss(np.array([model.predict(X[test]) for model in models]), y[test])

    def _miss(self, predicted: NDArray[Any], y: NDArray[Any]) -> NDArray[np.float64]:
        if is_classifier(self.estimator):
            return np.count_nonzero(predicted != y, axis=1).astype(np.float64)
        return np.sum((predicted - y) ** 2, axis=1)

    def predict(self, X: Any) -> Any:
        """Predict with the chosen value."""
        return self.estimator_.predict(X)

    def score(self, X: Any, y: Any) -> float:
        """Accuracy or R2, as of the estimator."""
        return float(self.estimator_.score(X, y))

    @available_if(_inner_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        """Votes of the estimator."""
        return self.estimator_.decision_function(X)

    @available_if(_inner_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Probabilities of the estimator."""
        return self.estimator_.predict_proba(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        return tags


class TunedLinearSVM(Tuned):
    """LinearSVC or LinearSVR with the grid of C searched by an exact Newton method."""

    def _losses(
        self, values: Sequence[Any], X: NDArray[Any], y: NDArray[Any], train: Rows, test: Rows
    ) -> NDArray[np.float64]:
        rows, unseen = with_bias(X[train]), with_bias(X[test])
        if not is_classifier(self.estimator):
            loss = tube(y[train].astype(np.float64), self.estimator.epsilon)
            return self._miss((unseen @ newton_path(rows, [loss], values)[0])[..., 0], y[test])
        labels, codes = np.unique(y[train], return_inverse=True)
        positive = range(labels.size) if labels.size > 2 else [1]
        losses = [hinge(np.where(codes == k, 1.0, -1.0)) for k in positive]
        votes = unseen @ newton_path(rows, losses, values)[0]
        code = votes.argmax(axis=2) if labels.size > 2 else (votes[..., 0] > 0).astype(np.intp)
        return self._miss(labels[code], y[test])


class TunedLogistic(Tuned):
    """LogisticRegression by Newton's method, or by gradients where the unknowns are many."""

    def _made(self, value: Any, X: NDArray[Any], y: NDArray[Any]) -> Any:
        n_classes = np.unique(y).size
        unknowns = X.shape[1] * (n_classes if n_classes > 2 else 1)
        solver = "newton-cholesky" if unknowns <= _FEW_UNKNOWNS else "lbfgs"
        return super()._made(value, X, y).set_params(solver=solver)


def inner_folds(y: NDArray[Any], is_classes: bool) -> list[tuple[Rows, Rows]]:
    """Five stratified folds, or as many as the smallest class has rows, but at least two."""
    n = y.shape[0]
    least = int(np.unique(y, return_counts=True)[1].min()) if is_classes else n
    n_folds = max(2, min(N_FOLDS, least))
    if n < 3:
        return []
    return fold_parts(deal_folds(y, is_classes, n_folds, np.random.default_rng(0)))
