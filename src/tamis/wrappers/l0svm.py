"""L0SVM: a linear support vector machine with few columns, by multiplicative updates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tamis._base import Scores, WeightedSelector
from tamis._facts import SelectorFacts
from tamis._runtime.warning import warn
from tamis._validation import N_JOBS, Choice, Constraint, Number
from tamis.data.labels import check_two_classes, check_weighted_classes
from tamis.linear_svm import hinge

Floats = NDArray[np.float64]
# The updates have converged when no scale factor changes by more than this share of itself.
SETTLED = 1e-3


@dataclass(kw_only=True, eq=False, repr=False)
class L0SVM(WeightedSelector):
    """Few columns for a linear support vector machine: an approximation of the zero norm.

    A linear SVM is trained, every column is multiplied by the size of its weight, and the
    SVM is trained again on the scaled columns. Columns of little weight shrink faster with
    each round and fall to zero; the few that remain separate the classes together. It suits wide
    tables in which a small set should do, and finds the size of the set itself.

    Parameters
    ----------
    C : float, default=1.0
        Price of a unit of slack; a large one comes near the hard margin of the paper.
    multi_class : {"ovo", "ovr"}, default="ovo"
        Binary problems for more than two classes: one for each pair of classes, or each class
        against the rest. They share the scale factors.
    scale : bool, default=False
        Divide every column by its standard deviation first.
    threshold : float, default=1e-6
        A column falls when its scale factor is below this share of the largest.
    max_rounds : int, default=200
        Most rounds of training.
    tol : float, default=1e-9
        Largest violation of the optimality conditions of a problem, on the scale where the margin
        is 1.
    max_iter : int, default=100_000
        Most steps of the solver in one training.
    n_features_to_select : "auto", int, float, "best", "elbow", "all" or rule, default="best"
        The cutoff; ``"best"`` keeps the columns that did not fall. See :mod:`tamis.cutoff`.
    n_jobs : int or None, default=None
        Threads that look through the table; ``None`` uses all cores. The result does not depend
        on it.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Rounds that a column has lasted plus its last scale factor, in [0, 1]; 0 for constant
        columns.
    criterion_ : ndarray of shape (n_features,)
        Weight of every column in the last training, on the scale of the column (the root of the sum
        of squares over the problems); 0 for columns that fell.
    best_n_features_ : int
        Number of columns that did not fall.
    n_iter_ : int
        Rounds of training.
    classes_ : ndarray of shape (n_classes,)
        The labels of the target.
    order_, ranking_, support_, n_selected_, constant_, cut_details_
        As for every selector.

    Notes
    -----
    With scale factors z the SVM minimises ``sum (u_j / z_j)^2 / 2`` plus the price of slack
    over weights u of the columns as they are, and ``z = |u|`` follows. Each round therefore lowers
    ``sum log |u_j|``, the paper's stand-in for the number of weights that are not 0. It is a local
    search: it starts from the plain SVM, and from the units of the columns, so set `scale` if
    these differ.

    After each round the factors are divided by the largest, or with a finite `C` all columns would
    shrink until slack is cheaper than any of them. The paper stops when as many columns are left as
    are wanted; here the updates run until they settle. Identical columns stand or fall together.

    A round costs the Gram matrix of the columns left, ``n_samples^2 n_left / 2``, or
    ``n_samples n_left^2`` for long tables, and a training. The table is copied twice as dense
    float64 columns. Missing cells are at the mean of their column. `C` is an absolute price:
    sample weights of 1/2 mean half the `C`.

    References
    ----------
    Weston, J., Elisseeff, A., Schoelkopf, B. and Tipping, M. (2003). Use of the zero-norm with
    linear models and kernel methods. Journal of Machine Learning Research, 3, 1439-1461.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from tamis import L0SVM
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> selector = L0SVM(scale=True).fit(X, y)
    >>> selector.best_n_features_, selector.get_feature_names_out()[0]
    (4, 'mean concave points')
    """

    C: float = 1.0
    multi_class: str = "ovo"
    scale: bool = False
    threshold: float = 1e-6
    max_rounds: int = 200
    tol: float = 1e-9
    max_iter: int = 100_000
    n_features_to_select: Any = "best"
    n_jobs: int | None = None

    facts: ClassVar[SelectorFacts] = SelectorFacts(
        summary="Features that remain when an SVM is refitted on features scaled by its weights.",
        tasks=("classification",),
        cost="rounds of an SVM",
        reference="Weston et al. 2003",
        scope="jointly",
        redundancy="yes",
        scaling="yes",
    )

    _chooses_count: ClassVar[bool] = True
    _constraints: ClassVar[dict[str, Constraint]] = {
        "C": Number(float, low=0, high=np.inf, open_low=True, open_high=True),
        "multi_class": Choice(("ovo", "ovr")),
        "scale": Choice((False, True)),
        "threshold": Number(float, low=0, high=1, open_low=True, open_high=True),
        "max_rounds": Number(int, low=1),
        "tol": Number(float, low=0, open_low=True),
        "max_iter": Number(int, low=1),
        "n_jobs": N_JOBS,
    }

    def _score(self, X: Any, y: Any, weight: Floats | None) -> Scores:
        who = type(self).__name__
        self.classes_, codes = check_weighted_classes(y, weight, X.shape[0], who)
        check_two_classes(self.classes_, who)
        constant = self._find_constant(X, weight)
        scores, self.criterion_ = np.zeros(constant.size), np.zeros(constant.size)
        self.n_iter_ = 0
        varies = np.flatnonzero(~constant)
        table = hinge.read_rows(X, codes, weight, varies, self.scale)
        with hinge.calm_blas(table.codes.size > hinge.FEW_ROWS):
            scores[varies], self.criterion_[varies] = self._shrink(table)
        return scores, constant

    def _shrink(self, table: hinge.Rows) -> tuple[Floats, Floats]:
        """Rounds survived plus last factor, and weights in the last training."""
        problems = hinge.make_problems(table.codes, self.C * table.weight, self.multi_class)
        beta = np.zeros(problems.sign.size)
        n_columns = len(table.columns)
        factor, lasted, weights = np.ones(n_columns), np.zeros(n_columns), np.zeros(n_columns)
        alive = np.arange(n_columns)
        settled, worst = False, 0.0
        for _ in self.steps("rounds", range(self.max_rounds), self.max_rounds):
            scaled = table.columns[alive] * factor[alive, None]
            gap = hinge.train_problems(scaled, problems, beta, self.tol, self.max_iter)
            size = factor[alive] * np.sqrt(hinge.squared_weights(scaled, problems, beta))
            self.n_iter_, worst = self.n_iter_ + 1, max(worst, gap)
            if not size.max() > 0.0:  # nothing to tell the classes apart: all are as good
                settled = True
                break
            new = size / size.max()
            settled = bool((np.abs(new - factor[alive]) <= SETTLED * factor[alive]).all())
            factor[alive] = new
            stays = new >= self.threshold
            weights[:] = 0.0
            alive = alive[stays]
            weights[alive] = size[stays]
            lasted[alive] += 1.0
            if settled:
                break
        self.best_n_features_ = int(alive.size)
        hinge.warn_unless_solved(worst, self.tol, type(self).__name__)
        if not settled and self.n_iter_ == self.max_rounds:
            warn(
                f"L0SVM: the scale factors were still changing after {self.max_rounds} rounds. "
                "Raise max_rounds."
            )
        # Whoever fell at once, even to a factor of 0, still comes before constant columns.
        return lasted + np.maximum(factor, np.finfo(np.float64).tiny), weights
