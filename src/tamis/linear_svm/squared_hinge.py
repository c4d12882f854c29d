"""Linear models with a squared loss outside a margin, solved exactly by Newton's method.

    minimise  |w|^2 / 2  +  C * sum over active rows of (target - x w)^2

This is the problem of scikit-learn's LinearSVC (squared hinge; active: inside the margin) and of
LinearSVR (squared epsilon-insensitive; active: outside the tube), with the intercept among the
weights as there. Between two changes of the active set the loss is quadratic, so Newton's method
ends after finitely many steps with the exact solution (Mangasarian 2002; Keerthi and DeCoste 2005).
LinearSVC draws from one random stream of the process, so its result depends on other threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, lu_factor, lu_solve
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from tamis.exceptions import InputError

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
# Newton's method needs about ten steps; it stops here if rounding keeps it from its end.
MAX_STEPS = 60
# Few bits per cell: single precision loses nothing that matters, and is twice as fast.
SMALL_TYPES = ("bool", "int8", "uint8", "float16", "float32")
# From so many rows per column on, the weights of the columns are the smaller problem.
ROWS_PER_COLUMN = 4
# Up to so many weights, calls of numpy take longer than the arithmetic in them.
FEW_WEIGHTS = 48


class Loss(NamedTuple):
    """A squared hinge for `aim` of -1 or 1 (no epsilon), or a tube of this width around `aim`."""

    aim: Floats
    epsilon: float | None = None

    def __call__(self, values: Floats) -> tuple[Bools, Floats]:
        """Which rows are active, and what their values should be."""
        if self.epsilon is None:
            return self.aim * values < 1.0, self.aim
        error = self.aim - values
        return np.abs(error) > self.epsilon, self.aim - self.epsilon * np.sign(error)


class FastLinearSVM(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Linear SVM with squared hinge loss, each class against the rest, by Newton's method.

    Features are centred, and divided by one number that makes the mean squared length of the rows
    1, so that `C` means the same for every number of columns. Missing cells are at the mean of
    their column.

    Parameters
    ----------
    C : float, default=1.0
        Price of the squared slack of a row.
    standardize : bool or None, default=None
        Divide every column by its deviation first. ``None`` does so unless the table holds bools
        or integers, such as bits and counts, which share a unit.

    Attributes
    ----------
    coef_ : ndarray of shape (n_problems, n_features)
        Weights of the columns as given; one row for two classes.
    intercept_ : ndarray of shape (n_problems,)
        Values at 0.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    n_iter_ : int
        Steps of Newton's method.
    mean_, scale_ : ndarray of shape (n_features,)
        What was taken off the columns, and what they were divided by.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamis.linear_svm import FastLinearSVM
    >>> X, y = load_iris(return_X_y=True)
    >>> FastLinearSVM().fit(X, y).score(X, y)
    0.9
    """

    def __init__(self, *, C: float = 1.0, standardize: bool | None = None):
        self.C = C
        self.standardize = standardize

    def fit(self, X: Any, y: Any) -> FastLinearSVM:
        """Train on all rows."""
        X = np.asarray(X)
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        if self.classes_.size < 2:
            raise InputError(
                "FastLinearSVM: expected at least two classes, got one. Check the target, or take "
                "other folds (cv)."
            )
        table = np.column_stack([self._scaled(X), np.ones(len(X), _precision(X))])
        positive = [1] if self.classes_.size == 2 else list(range(self.classes_.size))
        signs = np.where(codes[:, None] == positive, 1.0, -1.0)
        losses = [hinge(sign) for sign in signs.T]
        (weights,), self.n_iter_ = newton_path(table, losses, [self.C])
        self.coef_ = weights[:-1].T / self.scale_
        self.intercept_ = weights[-1] - self.coef_ @ self.mean_
        self.n_features_in_ = X.shape[1]
        return self

    def _scaled(self, X: NDArray[Any]) -> NDArray[Any]:
        """Centred and scaled columns; sets `mean_` and `scale_`."""
        table = X.astype(_precision(X))
        missing = np.isnan(table)
        known = len(table) - missing.sum(axis=0)
        table[missing] = 0.0
        self.mean_ = table.sum(axis=0, dtype=np.float64) / np.maximum(known, 1)
        if not np.isfinite(self.mean_).all():
            raise InputError(
                "FastLinearSVM: expected finite numbers, or NaN for missing ones, got an infinite "
                "one. Clip the measured features, or give another estimator."
            )
        table -= self.mean_.astype(table.dtype)
        table[missing] = 0.0
        spread = np.sqrt(np.square(table).sum(axis=0, dtype=np.float64) / len(table))
        # What centring leaves of a constant column is rounding, not a signal.
        varies = spread > 8 * np.finfo(table.dtype).eps * np.abs(self.mean_)
        each = X.dtype.kind == "f" if self.standardize is None else self.standardize
        deviation = np.where(varies, spread, 1.0) if each else np.ones(spread.size)
        length = float(np.sqrt(np.square((spread / deviation)[varies]).sum())) or 1.0
        self.scale_ = np.where(varies, deviation * length, np.inf)
        table /= self.scale_.astype(table.dtype)
        return table

    def decision_function(self, X: Any) -> Floats:
        """Decision values: (n_samples,) for two classes, else one column per class."""
        check_is_fitted(self, "coef_")
        X = np.asarray(X)
        table = X.astype(_precision(X), copy=False)
        missing = np.isnan(table)
        if missing.any():
            table = np.where(missing, self.mean_.astype(table.dtype), table)
        values = (table @ self.coef_.T.astype(table.dtype)).astype(np.float64) + self.intercept_
        return values[:, 0] if len(self.coef_) == 1 else values

    def predict(self, X: Any) -> NDArray[Any]:
        """Labels of the rows."""
        values = self.decision_function(X)
        codes = (values > 0).astype(np.intp) if values.ndim == 1 else values.argmax(axis=1)
        return self.classes_[codes]


def _precision(table: NDArray[Any]) -> Any:
    return np.float32 if table.dtype.name in SMALL_TYPES else np.float64


def hinge(sign: Floats) -> Loss:
    """Squared hinge: rows inside the margin should be at it."""
    return Loss(sign)


def tube(target: Floats, epsilon: float) -> Loss:
    """Squared epsilon-insensitive: rows outside the tube should be at its wall."""
    return Loss(target, epsilon)


def with_bias(X: NDArray[Any]) -> NDArray[Any]:
    """The table with a last column of ones."""
    return np.column_stack([X, np.ones(X.shape[0])])


def newton_path(
    table: NDArray[Any], losses: Sequence[Loss], strengths: Sequence[float]
) -> tuple[Floats, int]:
    """Weights for several C, (n_strengths, n_columns, n_problems), and steps of Newton's method.

    A column of ones in the table makes the intercept; each problem has a loss.
    """
    if table.shape[1] <= FEW_WEIGHTS and table.dtype == np.float64:
        from tamis.linear_svm.newton_kernels import few_weights_path

        epsilons = np.array([-1.0 if loss.epsilon is None else loss.epsilon for loss in losses])
        aims = np.column_stack([loss.aim for loss in losses]).astype(np.float64)
        values = np.asarray(strengths, dtype=np.float64)
        done = few_weights_path(np.ascontiguousarray(table), aims, epsilons, values, MAX_STEPS)
        if done[1] >= 0:
            return done
    few_rows = table.shape[0] <= ROWS_PER_COLUMN * table.shape[1]
    form: _ByRows | _ByColumns = _ByRows(table) if few_rows else _ByColumns(table)
    found = np.zeros((form.size, len(losses)))
    weights, n_steps = np.empty((len(strengths), table.shape[1], len(losses))), 0
    for i, C in enumerate(strengths):
        form.set_ridge(0.5 / C)
        n_steps += _minimise(form, losses, C, found)
        weights[i] = form.weights(found)
    return weights, n_steps


def _minimise(form: Any, losses: Sequence[Loss], C: float, found: Floats) -> int:
    """Solve all problems from the unknowns in `found`, which are changed."""
    values = form.values(found)
    states = [loss(column) for loss, column in zip(losses, values.T, strict=True)]
    running = list(range(len(losses)))
    n_steps = 0
    while running and n_steps < MAX_STEPS:
        n_steps += 1
        aims = np.column_stack([form.solve(*states[m]) for m in running])
        there = form.values(aims)
        for k, m in enumerate(running.copy()):
            step, move = aims[:, k] - found[:, m], there[:, k] - values[:, m]
            (active, target), (before, aim) = losses[m](there[:, k]), states[m]
            size = 1.0
            if np.array_equal(active, before) and np.array_equal(target[active], aim[active]):
                running.remove(m)
            else:
                size = _step_size(form, found[:, m], step, values[:, m], move, losses[m], C)
            found[:, m] += size * step
            values[:, m] += size * move
            states[m] = losses[m](values[:, m])
    return n_steps


class _ByRows:
    """The unknowns are multipliers of the rows: ``weights = table' multipliers``."""

    def __init__(self, table: NDArray[Any]):
        self.table, self.size = table, len(table)
        self.gram = (table @ table.T).astype(np.float64)

    def set_ridge(self, ridge: float) -> None:
        self.ridge, self.whole = ridge, None

    def solve(self, active: Bools, target: Floats) -> Floats:
        if active.all():  # so at the start, where one factor serves all problems
            self.whole = self.whole or _factor(self.gram.copy(), self.ridge)
            return _solve(self.whole, target)
        rows = np.flatnonzero(active)
        found = np.zeros_like(target)
        found[rows] = _solve(_factor(self.gram[np.ix_(rows, rows)], self.ridge), target[rows])
        return found

    def values(self, multipliers: Floats) -> Floats:
        return self.gram @ multipliers

    def product(self, left: Floats, values_right: Floats, right: Floats) -> float:
        return float(left @ values_right)

    def weights(self, multipliers: Floats) -> Floats:
        return self.table.T.astype(np.float64) @ multipliers


class _ByColumns:
    """The unknowns are the weights of the columns."""

    def __init__(self, table: NDArray[Any]):
        self.table, self.size = table.astype(np.float64), table.shape[1]

    def set_ridge(self, ridge: float) -> None:
        self.ridge = ridge

    def solve(self, active: Bools, target: Floats) -> Floats:
        rows = self.table if active.all() else self.table[active]
        return _solve(_factor(rows.T @ rows, self.ridge), rows.T @ target[active])

    def values(self, weights: Floats) -> Floats:
        return self.table @ weights

    def product(self, left: Floats, values_right: Floats, right: Floats) -> float:
        return float(left @ right)

    def weights(self, weights: Floats) -> Floats:
        return weights


def _factor(matrix: Floats, ridge: float) -> Any:
    """Cholesky factor of ``matrix + ridge``; LU where rounding has left it indefinite."""
    matrix.flat[:: len(matrix) + 1] += ridge
    try:
        return cho_factor(matrix, lower=True, check_finite=False)
    except np.linalg.LinAlgError:
        return lu_factor(matrix, check_finite=False)


def _solve(factor: Any, right: Floats) -> Floats:
    solve = cho_solve if isinstance(factor[1], bool) else lu_solve
    return solve(factor, right, check_finite=False)


def _step_size(
    form: Any, x: Floats, step: Floats, values: Floats, move: Floats, loss: Loss, C: float
) -> float:
    """Halve the step until the objective falls enough, so that Newton's method cannot cycle."""
    along, square = form.product(x, move, step), form.product(step, move, step)

    def rise(size: float) -> float:
        point = values + size * move
        active, target = loss(point)
        miss = (target - point)[active]
        return size * along + 0.5 * size * size * square + C * float(miss @ miss)

    active, target = loss(values)
    slope = along - 2.0 * C * float((target - values)[active] @ move[active])
    start, size = rise(0.0), 1.0
    while size > 1e-10 and rise(size) > start + 1e-4 * size * slope:
        size *= 0.5
    return size
