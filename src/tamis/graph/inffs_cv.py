"""InfFSCV: Inf-FS with alpha and the number of columns chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import is_classifier, is_regressor

from tamis._base import Scores, WeightedSelector
from tamis._facts import BOTH_TASKS, SelectorFacts
from tamis._validation import Constraint, Custom
from tamis.cutoff.counts import counts_to_try
from tamis.cutoff.fit_data import FitData, cross_validating
from tamis.data.labels import check_target
from tamis.data.target import check_numbers
from tamis.data.task import TASK, infer_task
from tamis.exceptions import InputError
from tamis.graph.feature_graph import on_graph
from tamis.graph.inffs import GRAPH_CONSTRAINTS, InfFS, check_alphas


@dataclass(kw_only=True, eq=False, repr=False)
class InfFSCV(WeightedSelector):
    """Inf-FS whose alpha and number of columns predict best in cross-validation.

    In every fold, `estimator` learns from the best columns of the ranking for each alpha and is
    scored on the held-out rows. The pair that does best on average is used for all rows.

    Parameters
    ----------
    alphas : sequence of float, default=(0.0, 0.25, 0.5, 0.75, 1.0)
        Values of alpha to try.
    grid : sequence of int or None, default=None
        Numbers of columns to try; ``None`` tries about twelve, evenly spread on a log scale.
    estimator : scikit-learn classifier or regressor, or None, default=None
        Learns from the selected columns; ``None`` is a linear SVM on scaled columns, with the mean
        in place of missing cells.
    cv : int, splitter or iterable, default=5
        As in :func:`sklearn.model_selection.check_cv`.
    scoring : str, callable or None, default=None
        As in :func:`sklearn.metrics.check_scoring`.
    task : {"auto", "classification", "regression"}, default="auto"
        What the target is; ``"auto"`` infers it, from the estimator if there is one.
    damping, relation, memory_limit, precision, n_jobs
        As in :class:`~tamis.InfFS`.
    n_features_to_select : "auto", "best", int, float, "elbow", "all" or rule, default="best"
        ``"best"`` is the number that cross-validation chose; anything else cuts as usual.

    Attributes
    ----------
    alpha_ : float
        The alpha chosen.
    best_n_features_ : int
        The number of columns chosen.
    grid_ : ndarray of shape (n_counts,)
        Numbers of columns tried.
    cv_scores_ : ndarray of shape (n_alphas, n_counts, n_folds)
        Scores on held-out rows.
    scores_, order_, ranking_, support_, n_selected_, constant_, task_, cut_details_
        As for every selector.

    References
    ----------
    Roffo, G., Melzi, S. and Cristani, M. (2015). Infinite feature selection. ICCV.
    https://doi.org/10.1109/ICCV.2015.478

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamis import InfFSCV
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = InfFSCV(alphas=[0.0, 0.5, 1.0], grid=[1, 2]).fit(X, y)
    >>> selector.alpha_, selector.n_selected_
    (0.5, 2)
    """

    alphas: Sequence[float] = (0.0, 0.25, 0.5, 0.75, 1.0)
    grid: Sequence[int] | None = None
    estimator: Any = None
    cv: Any = 5
    scoring: Any = None
    damping: float = 0.9
    relation: Any = "spearman"
    task: str = "auto"
    memory_limit: float | str | None = None
    precision: str = "auto"
    n_features_to_select: Any = "best"
    n_jobs: int | None = None

    facts: ClassVar[SelectorFacts] = SelectorFacts(
        summary="Inf-FS with alpha and the number of features chosen by cross-validation.",
        tasks=BOTH_TASKS,
        cost="folds (T n^2 / 2 + models)",
        reference="Roffo et al. 2015",
        scope="all pairs",
        redundancy="yes",
        nonlinear="monotone",
        scaling="yes",
    )

    _chooses_count: ClassVar[bool] = True
    _n_stages: ClassVar[int | None] = None
    _constraints: ClassVar[dict[str, Constraint]] = {
        **GRAPH_CONSTRAINTS,
        "task": TASK,
        "estimator": Custom(
            lambda value: value is None or hasattr(value, "fit"),
            "an estimator with a fit method, or None",
        ),
    }

    def _score(self, X: Any, y: Any, weight: NDArray[np.float64] | None) -> Scores:
        alphas = check_alphas(self.alphas, type(self).__name__)
        constant = self._find_constant(X, weight)
        target = self._read_target(y, X.shape[0])
        n_varying = int((~constant).sum())
        self.grid_ = counts_to_try(self.grid, n_varying, who=type(self).__name__)
        with cross_validating(type(self).__name__):
            self.cv_scores_ = self._cross_validate(FitData(self, X, target, weight), alphas)
        mean = self.cv_scores_.mean(axis=2)
        if not np.isfinite(mean).all():
            raise InputError(
                f"{type(self).__name__}: expected finite scores of the held-out rows, got NaN. "
                "Choose a scoring that fits the estimator, or fewer folds."
            )
        # Of equal means (the order of the folds rounds), fewest columns, then the smallest alpha.
        ties = np.argwhere(mean >= mean.max() - 1e-12 * np.abs(mean).max())
        alpha, count = min(ties, key=lambda tie: (tie[1], alphas[tie[0]]))
        self.alpha_, self.best_n_features_ = alphas[alpha], int(self.grid_[count])
        _, scores = on_graph(self, X, weight, lambda graph: graph.path([self.alpha_], self.damping))
        return scores[0], constant

    def _read_target(self, y: Any, n_rows: int) -> NDArray[Any]:
        """Class labels or a regression target; an estimator decides which."""
        target = check_target(y, n_rows, type(self).__name__)
        self.task_, model = self.task, self.estimator
        if model is not None and (is_classifier(model) or is_regressor(model)):
            self.task_ = "classification" if is_classifier(model) else "regression"
        elif self.task == "auto":
            self.task_ = infer_task(y, who=type(self).__name__)
        if self.task_ == "classification":
            return target
        return check_numbers(target, n_rows, type(self).__name__)

    def _learner(self) -> Any:
        from sklearn.impute import SimpleImputer
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
        from sklearn.svm import LinearSVC, LinearSVR

        if self.estimator is not None:
            return self.estimator
        model = LinearSVC if self.task_ == "classification" else LinearSVR
        # Without centring, so that sparse columns stay sparse.
        clean = SimpleImputer(keep_empty_features=True)
        return make_pipeline(clean, StandardScaler(with_mean=False), model(random_state=0))

    def _cross_validate(self, data: FitData, alphas: list[float]) -> NDArray[np.float64]:
        from sklearn.metrics import check_scoring
        from sklearn.model_selection import check_cv

        learner = self._learner()
        classify = self.task_ == "classification"
        folds = list(check_cv(self.cv, data.target, classifier=classify).split(data.X, data.target))
        scorer = check_scoring(learner, self.scoring)
        out = np.empty((len(alphas), self.grid_.size, len(folds)))
        done = 0
        seen = data if self.estimator is not None else data._replace(X=_in_range(data.X))
        for number, (train, test) in enumerate(self.steps("folds", folds, len(folds))):
            orders = np.argsort(-self._path(data, train, alphas), axis=1, kind="stable")
            for a, order in enumerate(orders):
                for k, count in enumerate(self.grid_):
                    columns = order[:count]
                    model = seen.fit_learner(learner, columns, train)
                    out[a, k, number] = seen.score_learner(scorer, model, columns, test)
            done = number + 1
        return out[:, :, :done]  # a callback may have ended the folds early

    def _path(self, data: FitData, train: Any, alphas: list[float]) -> NDArray[np.float64]:
        """Scores of a fold's training rows, for every alpha, without reporting progress."""
        selector = InfFS(**{name: getattr(self, name) for name in GRAPH_CONSTRAINTS})
        weight = None if data.sample_weight is None else data.sample_weight[train]
        return selector.path(data.X[train], alphas, sample_weight=weight)


def _in_range(X: Any) -> Any:
    """Columns of tiny values, whose variance would be 0, times a power of 2; others as they are."""
    size = np.asarray(
        abs(X).max(axis=0).toarray() if sparse.issparse(X) else np.fmax.reduce(abs(X), 0)
    )
    exponents = np.frexp(size.ravel())[1]
    factors = np.ldexp(1.0, np.where(exponents < -300, -exponents, 0))
    if (factors == 1).all():
        return X
    return X @ sparse.diags_array(factors) if sparse.issparse(X) else X * factors
