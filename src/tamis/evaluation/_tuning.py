"""Estimators around another: prepared data, one parameter chosen by inner cross-validation."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import BaseEstimator, MetaEstimatorMixin, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from tamis.evaluation.protocols.base import Rows, deal_folds, fold_parts
from tamis.linear_svm.squared_hinge import Loss, hinge, newton_path, tube, with_bias

N_FOLDS = 5
# Unknowns up to which solving for all of them at once beats a search by gradients.
_FEW_UNKNOWNS = 600


def _inner_has(method: str) -> Any:
    return lambda self: hasattr(self.estimator, method)


class _Wrapper(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """An estimator that answers by `estimator_`, fitted inside."""

    def _seen(self, X: Any) -> Any:
        """Rows as the inner estimator takes them."""
        return X

    def predict(self, X: Any) -> Any:
        """Predictions of the estimator."""
        return self.estimator_.predict(self._seen(X))

    def score(self, X: Any, y: Any) -> float:
        """Accuracy or R2, as of the estimator."""
        return float(self.estimator_.score(self._seen(X), y))

    @available_if(_inner_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        """Votes of the estimator."""
        return self.estimator_.decision_function(self._seen(X))

    @available_if(_inner_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Probabilities of the estimator."""
        return self.estimator_.predict_proba(self._seen(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        return tags


class Prepared(_Wrapper):
    """Missing values at the mean, columns at unit variance, both from the training rows.

    What scikit-learn's SimpleImputer and StandardScaler in a pipeline do, in a tenth of the time.
    A target that is scaled as well is predicted on its own scale.
    """

    def __init__(self, estimator: Any, *, scaled: bool = True, scale_target: bool = False) -> None:
        self.estimator = estimator
        self.scaled = scaled
        self.scale_target = scale_target

    def fit(self, X: Any, y: Any) -> Any:
        """Learn means and scales, then fit the estimator."""
        X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
        self.n_features_in_ = X.shape[1]
        missing = np.isnan(X)
        known = np.maximum(X.shape[0] - missing.sum(axis=0), 1)
        with np.errstate(invalid="ignore", over="ignore"):  # infinite values are refused later
            self.mean_ = np.where(missing, 0.0, X).sum(axis=0) / known
            self.scale_ = np.ones(X.shape[1])
            if self.scaled:
                spread = self._seen(X).std(axis=0)
                # What centring leaves of a constant column is rounding, not a signal.
                varies = spread > 10 * np.finfo(float).eps * np.abs(self.mean_)
                self.scale_ = np.where(varies | ~np.isfinite(spread), spread, 1.0)
        self.centre_, self.unit_ = 0.0, 1.0
        if self.scale_target:
            self.centre_, self.unit_ = float(np.mean(y)), float(np.std(y)) or 1.0
            y = (y - self.centre_) / self.unit_
        self.estimator_ = copy.copy(self.estimator).fit(self._seen(X), y)
        self.converged_ = getattr(self.estimator_, "converged_", True)
        if is_classifier(self.estimator):
            self.classes_ = self.estimator_.classes_
        return self

    def _seen(self, X: Any) -> Any:
        X = np.asarray(X, dtype=np.float64)
        X = np.where(np.isnan(X), self.mean_, X)
        return (X - self.mean_) / self.scale_ if self.scaled else X

    def predict(self, X: Any) -> Any:
        """Predictions of the estimator, on the scale of the target."""
        found = super().predict(X)
        return found * self.unit_ + self.centre_ if self.scale_target else found

    def score(self, X: Any, y: Any) -> float:
        """Accuracy or R2, as of the estimator."""
        return super().score(X, (y - self.centre_) / self.unit_ if self.scale_target else y)


class Tuned(_Wrapper):
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
                self.estimator_ = self._fitted(self.value_, square, y)
        self.converged_ = not caught
        if basis is not None:
            self.estimator_.coef_ = self.estimator_.coef_ @ basis.T
            self.estimator_.n_features_in_ = X.shape[1]
        if is_classifier(self.estimator):
            self.classes_ = self.estimator_.classes_
        return self

    def _made(self, value: Any, X: NDArray[Any], y: NDArray[Any]) -> Any:
        """An unfitted estimator with the value."""
        model = copy.copy(self.estimator)  # parameters are plain values: a clone is much slower
        setattr(model, self.parameter, value)
        return model

    def _fitted(self, value: Any, X: NDArray[Any], y: NDArray[Any]) -> Any:
        """The estimator with the value, fitted on all rows."""
        return self._made(value, X, y).fit(X, y)

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


class TunedLinearSVM(Tuned):
    """LinearSVC or LinearSVR, searched over the grid of C and fitted by an exact Newton method."""

    def _losses(
        self, values: Sequence[Any], X: NDArray[Any], y: NDArray[Any], train: Rows, test: Rows
    ) -> NDArray[np.float64]:
        labels, losses = self._problems(y[train])
        votes = with_bias(X[test]) @ newton_path(with_bias(X[train]), losses, values)[0]
        if not labels.size:
            return self._miss(votes[..., 0], y[test])
        code = votes.argmax(axis=2) if labels.size > 2 else (votes[..., 0] > 0).astype(np.intp)
        return self._miss(labels[code], y[test])

    def _problems(self, y: NDArray[Any]) -> tuple[NDArray[Any], list[Loss]]:
        """Classes (none for numbers), and the losses of each against the rest."""
        if not is_classifier(self.estimator):
            return np.empty(0), [tube(y.astype(np.float64), self.estimator.epsilon)]
        labels, codes = np.unique(y, return_inverse=True)
        positive = range(labels.size) if labels.size > 2 else [1]
        return labels, [hinge(np.where(codes == k, 1.0, -1.0)) for k in positive]

    def _fitted(self, value: Any, X: NDArray[Any], y: NDArray[Any]) -> Any:
        labels, losses = self._problems(y)
        model = self._made(value, X, y)
        if labels.size == 1:
            return model.fit(X, y)  # for its message
        weights, model.n_iter_ = newton_path(with_bias(X), losses, [value])
        model.coef_, model.intercept_ = weights[0, :-1].T, weights[0, -1]
        model.n_features_in_ = X.shape[1]
        if labels.size:
            model.classes_ = labels
        else:
            model.coef_ = model.coef_[0]
        return model


class TunedLogistic(Tuned):
    """LogisticRegression by Newton's method, or by gradients where the unknowns are many."""

    def _made(self, value: Any, X: NDArray[Any], y: NDArray[Any]) -> Any:
        n_classes = np.unique(y).size
        unknowns = X.shape[1] * (n_classes if n_classes > 2 else 1)
        solver = "newton-cholesky" if unknowns <= _FEW_UNKNOWNS else "lbfgs"
        model = super()._made(value, X, y)
        model.solver = solver
        return model


def inner_folds(y: NDArray[Any], is_classes: bool) -> list[tuple[Rows, Rows]]:
    """Five stratified folds, or as many as the smallest class has rows, but at least two."""
    n = y.shape[0]
    least = int(np.unique(y, return_counts=True)[1].min()) if is_classes else n
    n_folds = max(2, min(N_FOLDS, least))
    if n < 3:
        return []
    return fold_parts(deal_folds(y, is_classes, n_folds, np.random.default_rng(0)))
