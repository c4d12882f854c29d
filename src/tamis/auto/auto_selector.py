"""AutoSelector: method, number of features and evidence by one fit."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tamis._base import Scores, WeightedSelector
from tamis._runtime.callbacks import with_callbacks
from tamis._runtime.memory import as_bytes
from tamis._runtime.seeds import as_seed
from tamis._runtime.threads import effective_jobs
from tamis._validation import MEMORY_LIMIT, N_JOBS, Constraint, Custom, Number
from tamis.auto.inspection import Inspection, inspect_table
from tamis.auto.investigation import Investigation
from tamis.auto.models import EstimatorModel, Model, RidgeModel
from tamis.auto.planning import make_plan
from tamis.auto.problem import Problem
from tamis.auto.record import Answer
from tamis.cutoff.best_count import BestCount
from tamis.cutoff.rule import CutRule
from tamis.data import checks
from tamis.data.target import Target
from tamis.data.task import TASK
from tamis.evaluation.metrics import make_metric
from tamis.exceptions import InputError

Floats = NDArray[np.float64]
# Rows of every class, and of a regression target, that folds within folds need.
FEWEST_OF_CLASS, FEWEST_ROWS = 3, 6
ESTIMATOR = Custom(
    lambda value: value is None or (hasattr(value, "fit") and not isinstance(value, type)),
    "None or an estimator that is not fitted",
)


class Chosen(BestCount):
    """The number that was chosen; none if nothing beats chance."""

    remedy = "Nothing here beats chance at this level; answer_ says more."

    @property
    def who(self) -> str:
        """Name used in messages."""
        return "AutoSelector"


@dataclass(kw_only=True, eq=False, repr=False)
class AutoSelector(WeightedSelector):
    """Choose the method and the number of features, and say how sure.

    Ranks the features by methods of different kinds (marginal, redundancy-aware, interactions,
    linear model), judges the best ones by models, and keeps the fewest features that predict as
    well as the best set. Whether anything beats chance is tested first; if nothing does, nothing is
    selected. :func:`tamis.answer` is the short way to it.

    Parameters
    ----------
    level : float, default=0.1
        False discovery rate of the features, and level of the test that anything beats chance.
    metric : str or None, default=None
        What is to be large: ``"auc"``, ``"accuracy"``, ``"balanced_error"`` (small), ``"r2"`` or
        ``"mse"`` (small). ``None`` means the AUC for classes, and R squared for regression.
    estimator : estimator or None, default=None
        What judges sets of features. ``None`` means ridge regression, plain and on a Gaussian
        kernel, whichever predicts better.
    time_limit : float or None, default=None
        Seconds. Fewer methods are tried, on fewer folds, so that the fit ends in time. ``None``
        plans for some minutes at most.
    memory_limit : int, float, str or None, default=None
        Memory beyond the table, in bytes or as a text such as ``"1 GiB"``. Methods that would
        take more are left out, and fewer processes work. ``None`` means two copies of the table,
        and at least 1 GiB.
    task : {"auto", "classification", "regression"}, default="auto"
        What the target is; ``"auto"`` infers it (:func:`tamis.data.infer_task`).
    random_state : int, RandomState instance or None, default=0
        Seed of folds and permutations.
    n_features_to_select : int, float, "best", "elbow", "all" or rule, default="best"
        The cutoff; ``"best"`` is the number that was chosen.
    n_jobs : int or None, default=None
        Processes that work on the folds; ``None`` means 1, -1 all cores. The result does not
        depend on it, unless the time limit ends the work.

    Attributes
    ----------
    answer_ : Answer
        The verdict, the features with their evidence, and the expected score.
    best_n_features_ : int
        Number of features chosen; 0 if nothing beats chance.
    method_ : str
        The method that ranked the features.
    scores_ : ndarray of shape (n_features,)
        Place in the order of the chosen method, counted from the end.
    task_ : {"classification", "regression"}
        What the target was taken for.
    classes_ : ndarray of shape (n_classes,)
        The labels of the target, if it is classes.
    order_, ranking_, support_, n_selected_, constant_, cut_details_
        As for every selector.

    Notes
    -----
    Method, model and number are chosen by cross-validation: the fewest features whose score is
    behind the best one by at most half a standard error of the difference. Methods that score
    features one by one, and MRMR, choose among the features that are related to the target at
    `level`, if there are any.
    The expected score is that of the whole procedure: it is repeated on the training rows of outer
    folds and scored on the others (nested cross-validation).

    Three tests ask whether anything beats chance: of every feature alone (ranks and bins, Simes),
    of the best score of ReliefF (permutations), and of the expected score against guessing. The
    smallest p-value times their number is compared with `level`.

    Weights go to the methods and models that can use them; scores count all rows of positive
    weight alike. With groups, rows of a group are never on both sides of a fold, and permutations
    keep them together.

    What is tried depends on the size of the table and `time_limit` by fixed estimates, not by a
    clock, so that the same data gives the same answer; only if the limit is exceeded all the same,
    folds are left out.

    Memory: the table, and up to three copies of its rows for the lasso, two for the forest, one for
    the other methods, in every process.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis import AutoSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 40))
    >>> y = X[:, 3] - 2 * X[:, 8] + 0.5 * rng.normal(size=100)
    >>> selector = AutoSelector(time_limit=2).fit(X, y)
    >>> sorted(selector.order_[:2].tolist())
    [3, 8]
    """

    level: float = 0.1
    metric: str | None = None
    estimator: Any = None
    time_limit: float | None = None
    memory_limit: float | str | None = None
    task: str = "auto"
    random_state: int | np.random.RandomState | None = 0
    n_features_to_select: Any = "best"
    n_jobs: int | None = None

    _chooses_count: ClassVar[bool] = True
    _constraints: ClassVar[dict[str, Constraint]] = {
        "level": Number(float, 0, 1, open_low=True, open_high=True),
        "metric": Custom(lambda value: value is None or isinstance(value, str), "None or a name"),
        "estimator": ESTIMATOR,
        "time_limit": Number(float, 0, open_low=True, or_none=True),
        "memory_limit": MEMORY_LIMIT,
        "task": TASK,
        "n_jobs": N_JOBS,
    }

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Any:
        """Choose features and gather the evidence.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            The table; NaN marks missing values.
        y : array-like of shape (n_samples,)
            The target.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        groups : array-like of shape (n_samples,), default=None
            Group of every row, such as the patient; rows of a group stay together.

        Returns
        -------
        self : object
            The fitted selector.
        """
        self._groups = groups
        try:
            return self._fit(X, y, sample_weight)
        finally:
            del self._groups

    @property
    def answer_(self) -> Answer:
        """The answer, with this selector in it."""
        if "_answer" not in vars(self):
            raise AttributeError(f"{type(self).__name__} has no answer_ before fit.")
        return replace(self._answer, selector=self)

    def _as_rule(self, value: Any, name: str) -> CutRule:
        rule = super()._as_rule(value, name)
        return Chosen() if isinstance(rule, BestCount) else rule

    def _forget(self) -> None:
        super()._forget()
        self.__dict__.pop("_answer", None)

    def _score(self, X: Any, y: Any, weight: Floats | None) -> Scores:
        begun = time.monotonic()
        outcome = Target.of(y, self.task, weight, X.shape[0], type(self).__name__)
        self._note_target(outcome)
        constant = self._find_constant(X, weight)
        problem = self._problem(X, outcome, weight)
        inspection = self._inspect(problem)
        names = np.array(self._names(X), dtype=object)
        columns = np.flatnonzero(~np.isin(names, inspection.identifiers) & ~constant)
        if not columns.size:
            columns, inspection = np.flatnonzero(~constant), inspection._replace(identifiers=[])
        if columns.size < X.shape[1]:
            problem = problem._replace(X=X[:, columns])
        found = Investigation(
            problem=problem,
            names=names[columns].tolist(),
            classes=outcome.classes,
            inspection=inspection,
            plan=make_plan(problem, self.time_limit, self._memory(), self._jobs()),
            level=self.level,
            seed=as_seed(self.random_state, type(self).__name__),
            time_limit=self.time_limit,
            begun=begun,
        )
        answer = found.run(self.steps)
        # Positions are those of the whole table.
        features = tuple(replace(each, index=int(columns[each.index])) for each in answer.features)
        self._answer = replace(answer, features=features, n_features=X.shape[1])
        self.best_n_features_, self.method_ = found.count, answer.method
        scores = self._as_scores(columns[found.order], X.shape[1])
        if found.interrupted:
            self._keep_unfinished(scores, constant, "before all folds were scored")
            raise KeyboardInterrupt
        return scores, constant

    def _as_scores(self, order: NDArray[np.intp], n_columns: int) -> Floats:
        scores = np.zeros(n_columns)
        scores[order] = np.arange(n_columns, n_columns - order.size, -1.0)
        return scores

    def _names(self, X: Any) -> list[str]:
        names = checks.names_of(self)
        return [str(name) for name in (range(X.shape[1]) if names is None else names)]

    def _memory(self) -> int | None:
        return None if self.memory_limit is None else as_bytes(self.memory_limit, "AutoSelector")

    def _jobs(self) -> int:
        return 1 if self.n_jobs is None else effective_jobs(self.n_jobs)

    def _inspect(self, problem: Problem) -> Inspection:
        return inspect_table(problem, self._names(problem.X))

    def _problem(self, X: Any, outcome: Target, weight: Floats | None) -> Problem:
        n_rows = X.shape[0]
        weight = np.ones(n_rows) if weight is None else weight
        if outcome.task == "classification":
            word = self.metric or "auc"
            target: Any = outcome.codes
        else:
            word, target = self.metric or "r2", outcome.values
        metric = make_metric(word, outcome.task)
        if metric.by_row is None:
            raise InputError(
                f"AutoSelector: metric must be one that every row contributes to (auc, accuracy, "
                f"balanced_error, r2, mse), got {self.metric!r}."
            )
        rows = np.flatnonzero(weight > 0)
        if rows.size < n_rows:
            X, target, weight = X[rows], target[rows], weight[rows]
        self._check_size(target, outcome)
        return Problem(
            X=X,
            y=target.astype(np.intp) if outcome.is_classes else target,
            weight=weight,
            groups=self._group_codes(n_rows, rows),
            n_classes=outcome.n_classes,
            metric=metric,
            models=self._models(outcome.n_classes),
            rows=np.arange(rows.size),
            level=self.level,
        )

    def _check_size(self, target: NDArray[Any], outcome: Target) -> None:
        """Folds within folds need some rows of everything."""
        if outcome.classes is None:
            if target.size < FEWEST_ROWS:
                raise InputError(
                    f"AutoSelector: expected at least {FEWEST_ROWS} rows, got {target.size} "
                    f"(n_samples={target.size}). Use a single method, such as AnovaF."
                )
            return
        counts = np.bincount(target.astype(np.intp), minlength=outcome.n_classes)
        rarest = int(np.argmin(counts))
        if counts[rarest] < FEWEST_OF_CLASS:
            raise InputError(
                f"AutoSelector: expected at least {FEWEST_OF_CLASS} rows of every class, got "
                f"{counts[rarest]} of class {outcome.classes.tolist()[rarest]!r} "
                f"(n_samples={target.size}). Merge or leave out rare classes."
            )

    def _models(self, n_classes: int) -> tuple[Model, ...]:
        if self.estimator is not None:
            return (EstimatorModel(self.estimator, n_classes),)
        return RidgeModel(n_classes), RidgeModel(n_classes, "gaussian")

    def _group_codes(self, n_rows: int, rows: NDArray[np.intp]) -> NDArray[np.intp] | None:
        if self._groups is None:
            return None
        groups = np.asarray(self._groups)
        if groups.shape != (n_rows,):
            raise InputError(
                f"AutoSelector: groups must hold one label per row ({n_rows}), got an array of "
                f"shape {groups.shape}."
            )
        codes = np.unique(groups[rows].astype(str), return_inverse=True)[1]
        if codes.max() < 1:
            raise InputError("AutoSelector: expected at least two groups of rows, got one.")
        return codes
