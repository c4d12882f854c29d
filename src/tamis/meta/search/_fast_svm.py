"""A linear multi-class SVM that is trained hundreds of times: one class against the rest, exact.

    minimise  |w|^2 / 2  +  C * sum over rows of max(0, 1 - sign * (x w + b))^2

with the bias b among the weights, which is the problem of scikit-learn's LinearSVC. Between two
changes of the set of rows inside the margin the loss is quadratic, so Newton's method ends after
finitely many steps with the exact solution (Mangasarian 2002; Keerthi and DeCoste 2005). With many
columns it works on the inner products of the rows, which all classes share, and a step costs a
Cholesky factor of the rows inside the margin only. LinearSVC itself draws from one random stream
for the whole process, so that its result depends on what other threads do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
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


class FastLinearSVM(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Linear SVM with squared hinge loss, each class against the rest, by Newton's method.

    Columns are centred, and divided by one number that makes the mean squared length of the rows
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
    coef_ : ndarray of shape (n_machines, n_features)
        Weights of the columns as given; one machine for two classes.
    intercept_ : ndarray of shape (n_machines,)
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
    >>> from tamis.meta import FastLinearSVM
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
        weights, self.n_iter_ = train(table, signs, self.C)
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
        """Values of the machines: (n_samples,) for two classes, else one column per class."""
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


def train(table: NDArray[Any], signs: Floats, C: float) -> tuple[Floats, int]:
    """Weights of every machine, and how many steps it took.

    Parameters
    ----------
    table : ndarray of shape (n_rows, n_columns)
        The rows, as they are used; a column of ones makes the bias.
    signs : ndarray of shape (n_rows, n_machines)
        1 or -1.
    C : float
        Price of the squared slack.

    Returns
    -------
    weights : ndarray of shape (n_columns, n_machines)
        The optimum.
    n_steps : int
        Steps of Newton's method.
    """
    few_rows = table.shape[0] <= ROWS_PER_COLUMN * table.shape[1]
    form: _ByRows | _ByColumns = _ByRows(table, C) if few_rows else _ByColumns(table, C)
    # At the start all rows are inside the margin, and one factor serves all machines.
    found = form.solve(np.ones(len(table), dtype=bool), signs)
    values = form.values(found)
    running = list(range(signs.shape[1]))
    active = signs * values < 1.0
    n_steps = 0
    while running and n_steps < MAX_STEPS:
        n_steps += 1
        aim, there = found.copy(), values.copy()
        for m in running:
            aim[:, m] = form.solve(active[:, m], signs[:, m])
        there[:, running] = form.values(aim[:, running])
        now = signs * there < 1.0
        for m in list(running):
            size = 1.0
            if np.array_equal(now[:, m], active[:, m]):
                running.remove(m)
            else:
                size = _step_size(form, found[:, m], aim[:, m], values[:, m], there[:, m],
                                  signs[:, m], C)  # fmt: skip
            found[:, m] += size * (aim[:, m] - found[:, m])
            values[:, m] += size * (there[:, m] - values[:, m])
        active = signs * values < 1.0
    return form.weights(found), n_steps


class _ByRows:
    """The unknowns are multipliers of the rows: ``weights = table' multipliers``."""

    def __init__(self, table: NDArray[Any], C: float):
        self.table, self.ridge = table, 0.5 / C
        self.gram = (table @ table.T).astype(np.float64)

    def solve(self, active: Bools, target: Floats) -> Floats:
        rows = np.flatnonzero(active)
        part = self.gram.copy() if rows.size == active.size else self.gram[np.ix_(rows, rows)]
        found = np.zeros_like(target)
        found[rows] = _solve(part, self.ridge, target[rows])
        return found

    def values(self, multipliers: Floats) -> Floats:
        return self.gram @ multipliers

    def product(self, left: Floats, values_right: Floats, right: Floats) -> float:
        return float(left @ values_right)

    def weights(self, multipliers: Floats) -> Floats:
        return self.table.T.astype(np.float64) @ multipliers


class _ByColumns:
    """The unknowns are the weights of the columns."""

    def __init__(self, table: NDArray[Any], C: float):
        self.table, self.ridge = table.astype(np.float64), 0.5 / C

    def solve(self, active: Bools, target: Floats) -> Floats:
        rows = self.table if active.all() else self.table[active]
        return _solve(rows.T @ rows, self.ridge, rows.T @ target[active])

    def values(self, weights: Floats) -> Floats:
        return self.table @ weights

    def product(self, left: Floats, values_right: Floats, right: Floats) -> float:
        return float(left @ right)

    def weights(self, weights: Floats) -> Floats:
        return weights


def _solve(matrix: Floats, ridge: float, right: Floats) -> Floats:
    """Solve ``(matrix + ridge) x = right``; the matrix is overwritten."""
    from scipy.linalg import cho_factor, cho_solve

    matrix.flat[:: len(matrix) + 1] += ridge
    factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
    return cho_solve(factor, right, check_finite=False)


def _step_size(
    form: Any, x: Floats, aim: Floats, values: Floats, there: Floats, sign: Floats, C: float
) -> float:
    """Halve the step until the objective falls enough, so that Newton's method cannot cycle."""
    step, move = aim - x, there - values
    along, square = form.product(x, move, step), form.product(step, move, step)

    def rise(size: float) -> float:
        miss = np.maximum(1.0 - sign * (values + size * move), 0.0)
        return size * along + 0.5 * size * size * square + C * float(miss @ miss)

    slack = np.maximum(1.0 - sign * values, 0.0)
    start = C * float(slack @ slack)
    slope = along - 2.0 * C * float(slack @ (sign * move))
    size = 1.0
    while size > 1e-10 and rise(size) > start + 1e-4 * size * slope:
        size *= 0.5
    return size
