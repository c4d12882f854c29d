"""measure_quality: how good the columns of a table are, by name, function or selector."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import svm
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge

from tamis._columns import centred_columns, find_constant
from tamis._runtime.warning import warn
from tamis.data import checks
from tamis.data.labels import check_classes, check_target, check_two_classes
from tamis.data.target import Target
from tamis.exceptions import InputError, SelectionWarning

Floats = NDArray[np.float64]

QUALITIES = ("svm_weights", "information_gain", "fisher", "dft")
EXPECTED = (
    "'svm_weights', 'information_gain', 'fisher', 'dft', a function (X, y) -> numbers, or an "
    "estimator with scores_, feature_importances_ or coef_ after fit"
)
# Price of a unit of slack of the problems, and the reciprocal of the ridge for a numeric target.
C = 1.0
TOL = 1e-6
MAX_ITER = 100_000
# More rows than this need a Gram matrix above 300 MB.
MOST_ROWS = 6000

# Speaks for measure_quality in messages of the checks, which name the class of a selector.
_Speaker = type("measure_quality", (BaseEstimator,), {"n_jobs": None})


def measure_quality(
    quality: Any, X: Any, y: Any, *, random_state: Any = None, n_jobs: int | None = None
) -> Floats:
    """Quality of every column of a table, larger is better.

    What :class:`QualityMap` learns from and :class:`MFPFS` measures in every round.

    Parameters
    ----------
    quality : str, callable or estimator
        ``"svm_weights"``: squared weights of a linear support vector machine on standardised
        columns, summed over the classes. The quality of a column given the others.

        ``"information_gain"``, ``"fisher"``, ``"dft"``: scores of the selectors of that name, each
        column by itself.

        A function ``(X, y) -> numbers``, one per column.

        A selector of Tamis, or a scikit-learn estimator with `scores_`, `feature_importances_` or
        `coef_` (squares are summed over its rows): a copy is fitted on `X` and `y`; if it is
        fitted already, its numbers are taken as they are.
    X : array-like, DataFrame or sparse matrix of shape (n_samples, n_columns)
        The measured columns.
    y : array-like of shape (n_samples,)
        The target: classes, or numbers where the quality can use them.
    random_state : int, RandomState instance or None, default=None
        For estimators whose own `random_state` is ``None``, and for problems on very many rows.
    n_jobs : int or None, default=None
        Threads; ``None`` uses all cores. The result does not depend on it.

    Returns
    -------
    quality : ndarray of float64 of shape (n_columns,)
        All finite. Constant and empty columns have the lowest value: 0 for the qualities by
        name, otherwise the minimum of all.

    Notes
    -----
    The problems of ``"svm_weights"`` are those of :class:`tamis.SVMRFE` with ``C=1``, one for two
    classes, else one for each class against the rest, trained to their optimum. Missing cells
    are at the mean of their column. Tables of more than 6,000 rows that have more than one column
    for 8 rows would need a large Gram matrix: scikit-learn's ``LinearSVC`` (squared slack) takes
    over. A regression target gets ridge regression instead, a penalty of 1 on the squared weights
    of standardised columns and target.

    ``"dft"`` takes :class:`tamis.RFT` for a numeric target; the other two need classes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamis.meta import measure_quality
    >>> X, y = load_iris(return_X_y=True)
    >>> measure_quality("information_gain", X, y).round(2)
    array([0.78, 0.47, 1.4 , 1.42])
    >>> measure_quality(lambda X, y: X.std(axis=0), X, y).round(2)
    array([0.83, 0.43, 1.76, 0.76])
    """
    check_quality_name(quality)
    speaker = _Speaker()
    speaker.n_jobs = n_jobs
    X = checks.check_table(speaker, X)
    y = check_target(y, X.shape[0], "measure_quality")
    constant = find_constant(speaker, X, None)
    if constant.all():
        return np.zeros(constant.size)
    if isinstance(quality, str):
        values = np.zeros(constant.size)
        varies = np.flatnonzero(~constant)
        part = X[:, varies] if constant.any() else X
        values[varies] = _by_name(quality, part, y, random_state, n_jobs)
        return values
    is_estimator = hasattr(quality, "fit")
    values = _by_estimator(quality, X, y, random_state) if is_estimator else quality(X, y)
    return _checked(values, constant, quality)


def check_quality_name(quality: Any, who: str = "measure_quality") -> None:
    """Raise unless this can be a quality."""
    if isinstance(quality, str):
        known = quality in QUALITIES
    else:
        known = not isinstance(quality, type) and (callable(quality) or hasattr(quality, "fit"))
    if not known:
        raise InputError(f"{who}: quality must be {EXPECTED}, got {quality!r}.")


def check_quality_target(quality: Any, y: Any, who: str) -> NDArray[Any]:
    """Target that can be checked before anything is measured."""
    y = check_target(y, np.shape(y)[0] if np.ndim(y) else 0, who)
    if isinstance(quality, str):
        if quality in ("information_gain", "fisher"):
            check_two_classes(check_classes(y, y.size, who)[0], who)
        else:
            Target.of(y, "auto", None, y.size, who)
    return y


def _by_name(name: str, X: Any, y: NDArray[Any], random_state: Any, n_jobs: int | None) -> Floats:
    outcome = Target.of(y, "auto", None, X.shape[0], "measure_quality")
    if name == "svm_weights":
        if outcome.values is None:
            return _svm_weights(X, outcome, random_state)
        columns = centred_columns(X, np.arange(X.shape[1]), scale=True)
        target = centred_columns(outcome.values[:, None], np.arange(1), scale=True)[:, 0]
        model = Ridge(alpha=1.0 / C, fit_intercept=False, solver="cholesky")
        return np.square(model.fit(columns, target).coef_)
    from tamis.selectors import make_selector

    method = name.replace("_", "")
    if name == "dft" and not outcome.is_classes:
        method = "rft"
    selector = make_selector(method, n_jobs=n_jobs, n_features_to_select="all")
    with warnings.catch_warnings():
        # Notes on single columns name positions in a batch of candidates.
        warnings.simplefilter("ignore", SelectionWarning)
        return np.asarray(selector.fit(X, y).scores_, dtype=np.float64)


def _svm_weights(X: Any, outcome: Target, random_state: Any) -> Floats:
    from tamis.linear_svm import hinge

    assert outcome.codes is not None
    n_rows, n_columns = X.shape
    if n_rows > MOST_ROWS and not hinge.is_long(n_rows, n_columns):
        return _liblinear_weights(X, outcome.codes, random_state)
    table = hinge.read_rows(X, outcome.codes, None, np.arange(n_columns), True)
    problems = hinge.make_problems(table.codes, np.full(n_rows, C), "ovr")
    beta = np.zeros(problems.sign.size)
    with hinge.calm_blas(n_rows > hinge.FEW_ROWS):
        gap = hinge.train_problems(table.columns, problems, beta, TOL, MAX_ITER)
        hinge.warn_unless_solved(gap, 100 * TOL, "measure_quality")
        return hinge.squared_weights(table.columns, problems, beta)


def _liblinear_weights(X: Any, codes: NDArray[np.int32], random_state: Any) -> Floats:
    columns = centred_columns(X, np.arange(X.shape[1]), scale=True)
    model = svm.LinearSVC(C=C, random_state=random_state)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        model.fit(columns, codes)
    if any(issubclass(one.category, ConvergenceWarning) for one in caught):
        warn("measure_quality: LinearSVC stopped before its optimum; weights are approximate.")
    return np.square(model.coef_).sum(axis=0)


def _by_estimator(estimator: Any, X: Any, y: NDArray[Any], random_state: Any) -> Any:
    numbers = _numbers_of(estimator)
    if numbers is not None:
        return numbers
    fitted = clone(estimator)
    if fitted.get_params().get("random_state", 0) is None:
        fitted.set_params(random_state=random_state)
    fitted.fit(X, y)
    numbers = _numbers_of(fitted)
    if numbers is None:
        raise InputError(
            f"measure_quality: expected an estimator with scores_, feature_importances_ or coef_ "
            f"after fit, got {type(estimator).__name__} without them. Pass a function (X, y) -> "
            "numbers."
        )
    return numbers


def _numbers_of(estimator: Any) -> Any:
    """Scores, importances or squared coefficients of a fitted estimator, else None."""
    for name in ("scores_", "feature_importances_"):
        if getattr(estimator, name, None) is not None:
            return getattr(estimator, name)
    weights = getattr(estimator, "coef_", None)
    if weights is None:
        return None
    weights = weights.toarray() if sparse.issparse(weights) else np.asarray(weights, np.float64)
    return np.square(weights).reshape(-1, weights.shape[-1]).sum(axis=0)


def _checked(values: Any, constant: NDArray[np.bool_], quality: Any) -> Floats:
    """One finite number per column; constant columns at the minimum."""
    name = getattr(quality, "__name__", type(quality).__name__)
    try:
        values = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"measure_quality: expected numbers from {name}, got {values!r}."
        ) from error
    if values.shape != constant.shape:
        raise InputError(
            f"measure_quality: expected one number for each of the {constant.size} columns from "
            f"{name}, got shape {values.shape}."
        )
    bad = np.flatnonzero(~np.isfinite(values) & ~constant)
    if bad.size:
        raise InputError(
            f"measure_quality: expected finite numbers from {name}, got {float(values[bad[0]])!r} "
            f"for column {bad[0]}."
        )
    values[constant] = values[np.isfinite(values)].min()
    return values
