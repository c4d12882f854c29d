"""LassoPath: features in the order in which they enter the path of the lasso."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tamis._base import Scores, WeightedSelector
from tamis._columns import centred_columns
from tamis._facts import BOTH_TASKS, SelectorFacts
from tamis._validation import N_JOBS, Constraint, Number
from tamis.data.target import Target
from tamis.data.task import TASK

Floats = NDArray[np.float64]
# Correlations below this are rounding errors.
NEGLIGIBLE = 1e-10


@dataclass(kw_only=True, eq=False, repr=False)
class LassoPath(WeightedSelector):
    """Largest penalty at which the lasso uses a feature: the order of entry on its path.

    The lasso regresses the target on all features together and pays for every coefficient. As the
    penalty falls, features enter one after the other, each because it explains what those before
    left over. So a near-copy of a feature that is in use comes late, and a weak effect hidden
    behind a strong one is seen.

    Parameters
    ----------
    max_features : int, default=100
        Steps after which the path ends, at each of which a feature enters or leaves. The features
        that are not in use by then are ranked by their correlation with the residual.
    task : {"auto", "classification", "regression"}, default="auto"
        What the target is; ``"auto"`` infers it (:func:`tamis.data.infer_task`).
    n_features_to_select : "auto", int, float, "elbow", "all" or rule, default="elbow"
        The cutoff; see :mod:`tamis.cutoff`.
    n_jobs : int or None, default=None
        Threads that look for constant columns; ``None`` uses all cores. The result does not
        depend on it.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Correlation of the feature with the residual where it enters, which is the penalty there;
        of several classes, the largest. For the others, the correlation where the path ends.
    n_entered_ : int
        Number of features that entered.
    task_ : {"classification", "regression"}
        What the target was taken for.
    classes_ : ndarray of shape (n_classes,)
        The labels of the target, if it is classes.
    order_, ranking_, support_, n_selected_, constant_, cut_details_
        As for every selector.

    See Also
    --------
    MRMR : Redundancy-aware, by mutual information.
    tamis.certainty.Knockoffs : Tests of the features that the lasso uses.

    Notes
    -----
    Features and target are standardised; missing cells are at the mean of their column. Classes are
    regressed as indicators, several ones each against the rest. The path is scikit-learn's
    (least-angle regression with the modification for the lasso). Time ``O(T n)`` per step, memory
    for two dense copies of the table.

    References
    ----------
    Efron, B., Hastie, T., Johnstone, I. and Tibshirani, R. (2004). Least angle regression. Annals
    of Statistics 32(2), 407-499. https://doi.org/10.1214/009053604000000067

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from tamis import LassoPath
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> selector = LassoPath(n_features_to_select=4).fit(X, y)
    >>> X.columns[selector.order_[:4]].tolist()
    ['bmi', 's5', 'bp', 's3']
    >>> selector.scores_[selector.order_[:4]]
    array([0.59, 0.55, 0.28, 0.20])
    """

    max_features: int = 100
    task: str = "auto"
    n_features_to_select: Any = "elbow"
    n_jobs: int | None = None

    facts: ClassVar[SelectorFacts] = SelectorFacts(
        summary="Penalty at which the feature enters the path of the lasso.",
        tasks=BOTH_TASKS,
        cost="steps T n",
        reference="Efron, Hastie, Johnstone and Tibshirani 2004",
        scope="jointly",
        redundancy="yes",
    )

    _constraints: ClassVar[dict[str, Constraint]] = {
        "max_features": Number(int, low=1),
        "task": TASK,
        "n_jobs": N_JOBS,
    }

    def _score(self, X: Any, y: Any, weight: Floats | None) -> Scores:
        outcome = Target.of(y, self.task, weight, X.shape[0], type(self).__name__)
        self._note_target(outcome)
        constant = self._find_constant(X, weight)
        weight = np.ones(X.shape[0]) if weight is None else weight
        root = np.sqrt(weight / weight.sum())
        columns = np.asfortranarray(
            root[:, None] * centred_columns(X, ~constant, weight, scale=True)
        )
        targets = _targets(outcome, weight)
        entry, entered = np.zeros(columns.shape[1]), np.zeros(columns.shape[1], dtype=bool)
        for target in self.steps("paths", targets, len(targets)):
            found = entry_penalties(columns, root * target, self.max_features)
            entry, entered = np.maximum(entry, found[0]), entered | found[1]
        self.n_entered_ = int(entered.sum())
        scores = np.zeros(constant.size)
        scores[~constant] = entry
        return scores, constant


def _targets(outcome: Target, weight: Floats) -> list[Floats]:
    """What is regressed on, of mean 0 and variance 1: the values, or indicators of the classes."""
    if outcome.codes is None:
        assert outcome.values is not None
        targets = [outcome.values / np.abs(outcome.values).max()]  # squares of large numbers
    else:
        sides = range(1 if outcome.n_classes == 2 else 0, outcome.n_classes)
        targets = [(outcome.codes == side).astype(np.float64) for side in sides]
    targets = [target - np.average(target, weights=weight) for target in targets]
    return [target / np.sqrt(np.average(target**2, weights=weight)) for target in targets]


def entry_penalties(
    columns: Floats, target: Floats, max_steps: int
) -> tuple[Floats, NDArray[np.bool_]]:
    """Penalty at which every column enters, or its correlation at the end; and which entered.

    Parameters
    ----------
    columns : ndarray of shape (n_rows, n_columns)
        Columns of length 1 (or shorter) and mean 0; Fortran order saves a copy.
    target : ndarray of shape (n_rows,)
        Of length 1 and mean 0.
    max_steps : int
        Steps after which the path ends.
    """
    from sklearn.linear_model import lars_path

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # columns that are nearly a sum of others are passed over
        alphas, _, path = lars_path(columns, target, method="lasso", max_iter=max_steps)
    in_use = path[:, 1:] != 0
    entered = in_use.any(axis=1)
    left = np.abs(columns.T @ (target - columns @ path[:, -1]))
    left = np.minimum(np.where(left > NEGLIGIBLE, left, 0.0), alphas[-1] * target.size)
    if not entered.any():
        return left, entered
    return np.where(entered, alphas[in_use.argmax(axis=1)] * target.size, left), entered
