"""FSV: feature selection by concave minimisation, a plane that uses few columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis._base import Scores, WeightedSelector
from tamis._columns import centred_columns
from tamis._facts import SelectorFacts
from tamis._runtime.warning import warn
from tamis._validation import N_JOBS, Choice, Constraint, Number
from tamis.data.labels import check_two_classes, check_weighted_classes
from tamis.exceptions import InputError

Floats = NDArray[np.float64]
# Prices never fall below this share of their start: a column that is free makes the optimum of a
# program arbitrary, and with it the order of the chosen columns.
LEAST_SHARE = 1e-4
# Exponent of the first prices; with alpha=5 and scaled columns a weight of 1 everywhere.
START = 5.0
# Columns in the first linear program, and most that are added to the next.
FIRST, MORE = 50, 50
# By how much a column left out may beat its price, and the tolerance of the solver; the prices are
# scaled so that an error costs about 1.
EXCESS, TOLERANCE = 1e-8, 1e-9


@dataclass(kw_only=True, eq=False, repr=False)
class FSV(WeightedSelector):
    """Feature selection by concave minimisation: a plane between the classes that uses few columns.

    The mean errors of the two classes are weighed against a smooth count of the columns that the
    plane uses. The count is concave, so it is minimised by a few linear programs, each of which
    makes columns of large weight cheaper. What is left is a small set that separates the classes
    together, typically 2 to 10 of thousands. Several classes are taken each against the rest.

    Parameters
    ----------
    penalty : float, default=0.05
        Weight of the number of columns against the errors, in (0, 1); the paper's lambda.
    alpha : float, default=5.0
        Steepness of the smooth count ``1 - exp(-alpha abs(weight))``.
    scale : bool, default=True
        Measure weights per standard deviation of the column, so that its unit does not matter.
    max_iter : int, default=100
        Most linear programs per plane.
    tol : float, default=1e-6
        The programs end when the objective falls by no more than this.
    n_features_to_select : "auto", int, float, "best", "elbow", "all" or rule, default="best"
        The cutoff; ``"best"`` keeps the columns that a plane uses; see :mod:`tamis.cutoff`.
    n_jobs : int or None, default=None
        Threads that look for constant columns; ``None`` uses all cores. The result does not
        depend on it.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Size of the weight (over several planes: root of the sum of squares) of the columns in use;
        for the others ``criterion_ - 1``, in [-1, 0].
    criterion_ : ndarray of shape (n_features,)
        How near a column is to being used: the decrease of the errors by a unit of weight as a
        share of its price, in [0, 1], in the plane where that is largest. 1 for columns in use.
    best_n_features_ : int
        Number of columns in use.
    coef_ : ndarray of shape (n_planes, n_features)
        Weights per standard deviation (per unit with ``scale=False``) of the columns less their
        means; positive towards the class of the plane, ``classes_[1]`` if there are two.
    intercept_ : ndarray of shape (n_planes,)
        Value of the plane where every column is at its mean.
    objective_ : list of ndarray
        For every plane, the objective after each linear program; it never rises.
    n_iter_ : int
        Linear programs of the plane that needed most.
    classes_ : ndarray of shape (n_classes,)
        The labels of the target.
    order_, ranking_, support_, n_selected_, constant_, cut_details_
        As for every selector.

    Notes
    -----
    Every program is solved on HiGHS in its dual form, first for the 50 columns that promise most
    and then again with the columns whose reduced cost is negative, until there are none. A solution
    takes time like ``T m^2`` for ``m`` columns in the last program, ``O(T n)`` to price all, and
    memory for a dense copy of the table.

    The minimum found is local. The paper starts anywhere; here the first program has the prices of
    a weight of ``5 / alpha`` in every column. The paper lets the price of a large weight vanish;
    here it stays above 1/10,000 of the price of a weight of 0, for else many planes are equally
    good. Of two equal columns one is used, the other comes among the last. Missing cells are at the
    mean of their column. The scale of the weights within a class does not matter.

    References
    ----------
    Bradley, P. S. and Mangasarian, O. L. (1998). Feature selection via concave minimization and
    support vector machines. ICML, 82-90.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from tamis import FSV
    >>> data = load_wine(as_frame=True)
    >>> selector = FSV().fit(data.data, data.target == 0)
    >>> selector.get_feature_names_out()
    array(['alcohol', 'ash', 'alcalinity_of_ash', 'flavanoids', 'proline'],
          dtype=object)
    >>> selector.objective_[0]
    array([0.38967, 0.30914, 0.24985, 0.24980, 0.24980])
    """

    penalty: float = 0.05
    alpha: float = 5.0
    scale: bool = True
    max_iter: int = 100
    tol: float = 1e-6
    n_features_to_select: Any = "best"
    n_jobs: int | None = None

    facts: ClassVar[SelectorFacts] = SelectorFacts(
        summary="Weight in a sparse separating hyperplane found by linear programming.",
        tasks=("classification",),
        cost="linear programs with T rows",
        reference="Bradley and Mangasarian 1998",
        scope="jointly",
        redundancy="yes",
    )

    _chooses_count: ClassVar[bool] = True
    _n_stages: ClassVar[int | None] = None
    _constraints: ClassVar[dict[str, Constraint]] = {
        "penalty": Number(float, low=0, high=1, open_low=True, open_high=True),
        "alpha": Number(float, low=0, open_low=True),
        "scale": Choice((True, False)),
        "max_iter": Number(int, low=1),
        "tol": Number(float, low=0),
        "n_jobs": N_JOBS,
    }

    def _score(self, X: Any, y: Any, weight: NDArray[np.float64] | None) -> Scores:
        who = type(self).__name__
        self.classes_, codes = check_weighted_classes(y, weight, X.shape[0], who)
        check_two_classes(self.classes_, who)
        constant = self._find_constant(X, weight)
        if weight is None:
            weight = np.ones(X.shape[0])
        elif not weight.all():
            X, codes, weight = X[weight > 0], codes[weight > 0], weight[weight > 0]
        columns, spread = _standardised(X, ~constant, weight)
        rate = self.alpha / (np.ones_like(spread) if self.scale else spread)
        sides = range(self.classes_.size) if self.classes_.size > 2 else [1]
        planes = [self._plane(columns, codes == side, weight, rate) for side in sides]
        return self._combine(planes, 1.0 if self.scale else spread, constant), constant

    def _plane(
        self, columns: Floats, positive: NDArray[np.bool_], weight: Floats, rate: Floats
    ) -> Plane:
        """Successive linear programs for one side against the other."""
        share = np.where(
            positive, weight / weight[positive].sum(), weight / weight[~positive].sum()
        )
        sign = np.where(positive, 1.0, -1.0)
        # Everything is divided by (1 - penalty) and multiplied by T/2, for the tolerances of the
        # solver: an error then costs about 1.
        half = sign.size / 2
        program = SeparationProgram(columns, sign, share * half, type(self).__name__)
        scale = self.penalty / (1.0 - self.penalty) * half * rate
        price = scale * max(np.exp(-START), LEAST_SHARE)
        path: list[float] = []
        for _ in self.steps("linear programs", range(self.max_iter), self.max_iter):
            weights, intercept = program.solve(price)
            size = np.abs(weights)
            errors = np.maximum(0.0, 1.0 - sign * (columns @ weights + intercept))
            path.append(
                (1.0 - self.penalty) * float(share @ errors)
                + self.penalty * float(smooth_count(rate * size).sum())
            )
            near = np.minimum(np.abs(program.earned) / price, 1.0)
            if len(path) > 1 and path[-2] - path[-1] <= self.tol:
                break
            price = scale * np.maximum(np.exp(-rate * size), LEAST_SHARE)
        else:
            if len(path) == self.max_iter > 1:
                warn(
                    f"FSV: expected the objective to settle within max_iter={self.max_iter} linear "
                    f"programs, got a fall of {path[-2] - path[-1]:.3g} in the last. Raise "
                    "max_iter or tol."
                )
        return Plane(weights, intercept, near, np.array(path))

    def _combine(self, planes: list[Plane], spread: Any, constant: NDArray[np.bool_]) -> Floats:
        """Keep what the planes found; scores of all columns."""
        weights = np.array([plane.weights for plane in planes]) / spread
        self.coef_ = np.zeros((len(planes), constant.size))
        self.coef_[:, ~constant] = weights
        self.intercept_ = np.array([plane.intercept for plane in planes])
        self.objective_ = [plane.path for plane in planes]
        self.n_iter_ = max(path.size for path in self.objective_)
        size = np.sqrt((weights**2).sum(axis=0))
        used = size > 0
        self.best_n_features_ = int(used.sum())
        near = np.where(used, 1.0, np.max([plane.near for plane in planes], axis=0))
        self.criterion_ = np.zeros(constant.size)
        self.criterion_[~constant] = near
        scores = np.full(constant.size, -1.0)
        scores[~constant] = np.where(used, size, near - 1.0)
        if not used.any():
            warn(
                f"FSV: expected a plane that uses some columns, got none with penalty="
                f"{self.penalty!r}; columns are ordered by how near they came to being used. "
                "Lower the penalty, or ask for a number of columns."
            )
        return scores


class Plane(NamedTuple):
    """What the programs of one plane leave behind."""

    weights: Floats
    intercept: float
    near: Floats
    path: Floats


def smooth_count(exponent: Floats) -> Floats:
    """``1 - exp(-exponent)``, continued by its tangent where it gets flatter than the least."""
    turn = -np.log(LEAST_SHARE)
    curved = -np.expm1(-np.minimum(exponent, turn))
    return curved + LEAST_SHARE * np.maximum(exponent - turn, 0.0)


def _standardised(X: Any, varies: NDArray[np.bool_], weight: Floats) -> tuple[Floats, Floats]:
    """Columns of mean 0 and deviation 1, missing cells at the mean, and the deviations."""
    columns = centred_columns(X, varies, weight)
    # Squares of tiny values would vanish, so the largest is made 1 first.
    largest = np.abs(columns).max(axis=0)
    columns /= largest
    deviation = np.sqrt(weight @ columns**2 / weight.sum())
    columns /= deviation
    return columns, largest * deviation


class SeparationProgram:
    """Smallest ``cost @ errors + price @ abs(weights)`` of a plane, for one price after another.

    The error of a row is ``max(0, 1 - sign (row @ weights - offset))``. What is solved is the dual:
    multipliers u of the rows between 0 and their costs, ``sign @ u = 0``, and no column earning
    more than its price, ``abs(columns.T @ (sign u)) <= price``, such that ``u.sum()`` is largest.
    Few of these last conditions bind, so they are added as they are violated: the optimum over some
    columns is the optimum over all as soon as no column left out earns more than its price.
    """

    def __init__(self, columns: Floats, sign: Floats, cost: Floats, who: str):
        self.columns, self.sign, self.cost, self.who = columns, sign, cost, who
        # Multipliers of a plane without columns, where every row is in error.
        self.earned = (sign * cost) @ columns

    def solve(self, price: Floats) -> tuple[Floats, float]:
        """Weights and intercept of the best plane for these prices; sets `earned`, by column."""
        working = np.argsort(-np.abs(self.earned) / price, kind="stable")[:FIRST]
        while True:
            result = self._solve_restricted(working, price[working])
            self.earned = (self.sign * result.x[: self.sign.size]) @ self.columns
            excess = np.abs(self.earned) - price
            excess[working] = 0.0
            wanted = np.flatnonzero(excess > EXCESS)
            if not wanted.size:
                break
            best = np.argsort(-excess[wanted] / price[wanted], kind="stable")[:MORE]
            working = np.concatenate([working, wanted[best]])
        slope = result.eqlin.marginals
        weights = np.zeros(price.size)
        weights[working] = np.where(np.abs(slope[:-1]) > TOLERANCE, -slope[:-1], 0.0)
        return weights, -float(slope[-1])

    def _solve_restricted(self, working: NDArray[np.intp], price: Floats) -> Any:
        """The solver's answer for the columns `working` alone.

        What a column earns is a variable of its own: the basis has one row per column, not per row.
        """
        from scipy.optimize import linprog

        n_rows, n_working = self.sign.size, working.size
        equations = np.zeros((n_working + 1, n_rows + n_working))
        equations[:-1, :n_rows] = self.columns[:, working].T * self.sign
        equations[:-1, n_rows:] = -np.eye(n_working)
        equations[-1, :n_rows] = self.sign
        high = np.concatenate([self.cost, price])
        low = np.concatenate([np.zeros(n_rows), -price])
        gain = np.concatenate([-np.ones(n_rows), np.zeros(n_working)])
        options = {"primal_feasibility_tolerance": TOLERANCE}
        options["dual_feasibility_tolerance"] = TOLERANCE
        # Presolve finds nothing in a dense program and takes a third of the time: a second try.
        for presolve in (False, True):
            result = linprog(
                gain, A_eq=equations, b_eq=np.zeros(n_working + 1), method="highs-ds",
                bounds=np.column_stack([low, high]), options=options | {"presolve": presolve},
            )  # fmt: skip
            if result.status == 0:
                return result
        raise InputError(
            f"{self.who}: expected a linear program that HiGHS can solve, got {result.message!r} "
            "Leave out columns of a few outliers only, or change the penalty."
        )
