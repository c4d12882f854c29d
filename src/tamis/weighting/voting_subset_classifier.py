"""VotingSubsetClassifier: many classifiers on drawn columns, and a vote."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from tamis._columns import find_constant
from tamis._runtime.seeds import draw_seed, draw_seeds
from tamis._runtime.threads import effective_jobs, split_evenly
from tamis._validation import N_JOBS, Choice, Constraint, Custom, Number, check_parameters
from tamis.data import checks
from tamis.data.labels import check_classes, check_target
from tamis.data.values import check_finite_columns, check_weight
from tamis.exceptions import InputError
from tamis.passes import MemoryEngine, run_pass
from tamis.statistics import Moments
from tamis.weighting._estimators import (
    check_estimator_choice,
    fit_one,
    named_classifier,
    read_options,
    with_seed,
)

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Counts = NDArray[np.int64]


@dataclass(kw_only=True, eq=False, repr=False)
class VotingSubsetClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Majority vote of classifiers, each trained on a few columns drawn at random.

    The columns are drawn from a probability, as learned by :class:`~tamis.OFW`, so that good ones
    are drawn often and a weak one still contributes: no column has to be thrown away. With uniform
    weights it is the random subspace method.

    Parameters
    ----------
    estimator : {"svm", "nn", "lda", "cart"} or classifier, default="svm"
        What is trained on the drawn columns. The words mean scikit-learn's LinearSVC,
        KNeighborsClassifier, LinearDiscriminantAnalysis and DecisionTreeClassifier with the
        settings of the built-in models of OFW. Any scikit-learn classifier works.
    estimator_params : dict or None, default=None
        Settings for a word, as for :class:`~tamis.OFW`.
    weights : array-like of shape (n_features,), selector or None, default=None
        How often a column is drawn, in proportion; ``None`` is equally often. A fitted selector
        gives its `weights_`, or its `scores_`. An unfitted one is cloned and fitted in `fit`, so
        that in a cross-validation, which clones it, it never sees the rows that are predicted.
    n_subsets : int, default=100
        Subsets of columns, and so classifiers that vote.
    subset_size : int or None, default=None
        Columns drawn for a subset, with replacement; those drawn twice count once. ``None`` is
        `subset_size_` of the selector if it has one, else the root of the number of columns that
        vary, rounded up.
    voting : {"majority", "one_vs_all"}, default="majority"
        One classifier per subset, which votes for one class; or one for each class against the
        others, each of which may give its class a vote. With two classes that is the same.
    sample_size : int, float or None, default=None
        Rows drawn with replacement for every subset: a number, or a share of all rows. ``None``
        trains on all rows.
    scale : bool, default=True
        Centre the columns and divide by their deviation first.
    random_state : int, RandomState or None, default=None
        Seed of all draws, and of the selector and the classifiers where they have none.
    n_jobs : int or None, default=None
        Threads over the subsets; ``None`` uses all cores. The result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels of the target.
    subsets_ : list of ndarray
        Columns of every subset, sorted, each once.
    estimators_ : list
        The classifier of every subset; with ``voting="one_vs_all"`` and more than two classes, a
        list of one for each class. They predict positions in `classes_`, or 1 for yes.
    weights_ : ndarray of shape (n_features,)
        The probability drawn from; sums to 1, and is 0 for constant columns.
    selector_ : object
        The selector fitted here; only if `weights` is an unfitted one.
    subset_size_ : int
        Columns drawn for a subset.
    n_features_in_, feature_names_in_ : int, ndarray
        Columns seen in `fit`, and their names if they are strings.

    Notes
    -----
    The class with most votes wins, of equal ones the first in `classes_`. Missing cells are at the
    mean of their column in `fit`, also when predicting. Constant columns are drawn only if no other
    has weight. Of a sparse table the drawn columns are made dense, one subset at a time. Rows of
    weight 0 are left out; other weights go to the classifier, or, with `sample_size`, into the draw
    of the rows. ``"svm"`` has the squared hinge loss unless ``loss="hinge"`` is asked for, which
    trains on one thread.

    References
    ----------
    Gadat, S. and Younes, L. (2007). A stochastic algorithm for feature selection in pattern
    recognition. Journal of Machine Learning Research 8, 509-547.

    Ho, T. K. (1998). The random subspace method for constructing decision forests. IEEE
    Transactions on Pattern Analysis and Machine Intelligence 20(8), 832-844.
    https://doi.org/10.1109/34.709601

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from tamis import OFW, VotingSubsetClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = OFW(subset_size=2, max_iter=2000, random_state=0)
    >>> model = VotingSubsetClassifier(weights=selector, n_subsets=20, random_state=0)
    >>> bool(cross_val_score(model, X, y).mean() > 0.9)
    True
    """

    estimator: Any = "svm"
    estimator_params: dict[str, Any] | None = None
    weights: Any = None
    n_subsets: int = 100
    subset_size: int | None = None
    voting: str = "majority"
    sample_size: int | float | None = None
    scale: bool = True
    random_state: Any = None
    n_jobs: int | None = None

    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_subsets": Number(int, low=1),
        "subset_size": Number(int, low=1, or_none=True),
        "voting": Choice(("majority", "one_vs_all")),
        "sample_size": Custom(
            lambda value: (
                Number(int, low=1, or_none=True).allows(value)
                or Number(float, low=0, high=1, open_low=True).allows(value)
            ),
            "an int of at least 1, a float in (0, 1] or None",
        ),
        "scale": Choice((True, False)),
        "n_jobs": N_JOBS,
    }

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> VotingSubsetClassifier:
        """Draw the subsets and train a classifier on each.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            The table; NaN marks missing values.
        y : array-like of shape (n_samples,)
            The classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        self : VotingSubsetClassifier
            The fitted classifier.
        """
        who = type(self).__name__
        check_parameters(self, self._constraints)
        check_estimator_choice(self.estimator, self.estimator_params, who)
        for name in [name for name in vars(self) if name.endswith("_") and name[0] != "_"]:
            delattr(self, name)
        X = checks.check_table(self, X)
        weight = check_weight(sample_weight, X.shape[0], who)
        y = check_target(y, X.shape[0], who)
        if weight is not None and weight.min() == 0.0:
            kept = weight > 0.0
            X, y, weight = X[kept], y[kept], weight[kept]
        self.classes_, codes = check_classes(y, X.shape[0], who)
        if self.classes_.size < 2:
            raise InputError(
                f"{who}: expected a target with at least two classes, got one class "
                f"({self.classes_.tolist()[0]!r}). Check the target column, and which rows carry "
                "weight."
            )
        random = check_random_state(self.random_state)
        # First, so that a selector fitted here or before makes no difference to the draws.
        selector_seed = draw_seed(random)
        seeds = draw_seeds(random, self.n_subsets)
        constant = find_constant(self, X, weight)
        self._learn_weights(X, y, weight, constant, selector_seed)
        self._learn_scale(X, weight)
        self._train(X, codes, weight, seeds)
        return self

    def _learn_weights(
        self, X: Any, y: Any, weight: Floats | None, constant: NDArray[np.bool_], seed: int
    ) -> None:
        """Probability of every column to be drawn, and how many are."""
        values: Any = np.ones(constant.size) if self.weights is None else self.weights
        size = None
        if hasattr(values, "fit"):
            selector = values
            if not (hasattr(selector, "weights_") or hasattr(selector, "scores_")):
                selector = with_seed(clone(selector), seed)
                weighted = weight is not None and has_fit_parameter(selector, "sample_weight")
                selector.fit(X, y, **({"sample_weight": weight} if weighted else {}))
                self.selector_ = selector
            size = getattr(selector, "subset_size_", None)
            values = self._weights_of(selector)
        weights = self._check_weights(values, constant.size)
        # Of a table without any variation all columns are equally good.
        drawn = np.where(constant, 0.0, weights)
        drawn = drawn if drawn.any() else weights
        self.weights_ = drawn / drawn.sum()
        n_varying = max(1, constant.size - int(constant.sum()))
        wanted = self.subset_size or size or math.ceil(math.sqrt(n_varying))
        self.subset_size_ = min(int(wanted), n_varying)

    def _weights_of(self, selector: Any) -> Any:
        names, known = checks.names_of(self), checks.names_of(selector)
        if names is not None and known is not None and list(names) != list(known):
            raise InputError(
                f"{type(self).__name__}: expected the columns that {type(selector).__name__} was "
                f"fitted on, got others. It has seen {_first(known)}, X has {_first(names)}. Pass "
                "the same columns in the same order, or an unfitted selector."
            )
        values = getattr(selector, "weights_", getattr(selector, "scores_", None))
        if values is None:
            raise InputError(
                f"{type(self).__name__}: weights must be an array, None or a selector with "
                f"weights_ or scores_, got {type(selector).__name__}, which has neither after fit."
            )
        return values

    def _check_weights(self, values: Any, n_columns: int) -> Floats:
        who = type(self).__name__
        try:
            weights = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(
                f"{who}: weights must be one number per column, a selector or None, got {values!r}."
            ) from error
        if weights.shape != (n_columns,):
            raise InputError(
                f"{who}: expected one of the weights per column of X ({n_columns}), got shape "
                f"{weights.shape}. Check that they belong to this table."
            )
        wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0.0)))
        if wrong.size:
            names = checks.names_of(self)
            column = int(wrong[0]) if names is None else names[wrong[0]]
            raise InputError(
                f"{who}: expected weights that are finite and not negative, got "
                f"{float(weights[wrong[0]])!r} for column {column!r}. Scores of some selectors are "
                "no weights; pass an array, or OFW."
            )
        if not weights.any():
            raise InputError(f"{who}: expected a positive weight for some column, got only zeros.")
        return weights / weights.max()  # the sum cannot overflow then

    def _learn_scale(self, X: Any, weight: Floats | None) -> None:
        moments = run_pass(Moments(X.shape[1]), MemoryEngine(X, None, weight), n_jobs=self.n_jobs)
        result = moments.finish()
        self._mean = np.where(result.weight > 0, result.mean, 0.0)
        deviation = np.sqrt(np.where(result.variance > 0, result.variance, 1.0))
        self._deviation = deviation if self.scale else np.ones_like(deviation)

    def _train(
        self, X: Any, codes: NDArray[np.int32], weight: Floats | None, seeds: NDArray[Any]
    ) -> None:
        n_drawn, n_rows = None, X.shape[0]
        if self.sample_size is not None:
            is_count = isinstance(self.sample_size, Integral)
            n_drawn = (
                int(self.sample_size) if is_count else max(1, round(self.sample_size * n_rows))
            )
        estimator = self.estimator
        if isinstance(estimator, str):
            params = dict(self.estimator_params or {})
            options = read_options(estimator, params, type(self).__name__)
            estimator = named_classifier(estimator, params, options, n_drawn or n_rows)
        row_weight = self._weights_for_fit(estimator, weight)
        one_vs_all = self.voting == "one_vs_all" and self.classes_.size > 2
        chances = np.ones(n_rows) if weight is None else weight
        possible = np.flatnonzero(self.weights_)
        table = X.tocsc() if sparse.issparse(X) else X

        def train(seed: int) -> tuple[Indices, Any]:
            random = np.random.default_rng(seed)
            drawn = _draw(random, self.weights_[possible], self.subset_size_)
            columns = possible[np.unique(drawn)]
            values, target, share = self._prepared(table, columns), codes, row_weight
            if n_drawn is not None:
                rows = _draw(random, chances, n_drawn)
                values, target, share = values[rows], codes[rows], None
            seed = int(random.integers(np.iinfo(np.int32).max))
            if not one_vs_all:
                return columns, fit_one(estimator, values, target, share, seed)
            targets = [(target == c).astype(np.int32) for c in range(self.classes_.size)]
            return columns, [fit_one(estimator, values, part, share, seed) for part in targets]

        parallel = Parallel(n_jobs=effective_jobs(self.n_jobs), prefer="threads")
        members = parallel(delayed(train)(int(seed)) for seed in seeds)
        self.subsets_ = [columns for columns, _ in members]
        self.estimators_ = [models for _, models in members]

    def _weights_for_fit(self, estimator: Any, weight: Floats | None) -> Floats | None:
        """What a classifier gets as `sample_weight` when it trains on all rows."""
        if weight is None or self.sample_size is not None or weight.min() == weight.max() == 1.0:
            return None
        if has_fit_parameter(estimator, "sample_weight"):
            return weight
        if weight.min() == weight.max():
            return None
        raise InputError(
            f"{type(self).__name__}: expected no sample_weight, or equal ones, with "
            f"{type(estimator).__name__}, whose fit takes none. Set sample_size=1.0: rows are then "
            "drawn in proportion to their weights."
        )

    def _prepared(self, table: Any, columns: Indices) -> Floats:
        """Some columns, dense and without holes, as the classifiers of `fit` saw them."""
        part = table[:, columns]
        values = np.asarray(part.toarray() if sparse.issparse(part) else part, dtype=np.float64)
        infinite = np.zeros(self.n_features_in_, dtype=bool)
        infinite[columns] = np.isinf(values).any(axis=0)
        check_finite_columns(self, infinite)
        values = values - self._mean[columns]
        values[np.isnan(values)] = 0.0
        if self.scale:
            return values / self._deviation[columns]
        return values + self._mean[columns]

    def predict(self, X: Any) -> NDArray[Any]:
        """Class with most votes for every row.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            The table.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Of equal votes, the first in `classes_`.
        """
        votes = self._votes(X)
        return self.classes_[votes.argmax(axis=1)]

    def predict_proba(self, X: Any) -> Floats:
        """Share of the votes of every class.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            The table.

        Returns
        -------
        shares : ndarray of shape (n_samples, n_classes)
            They sum to 1; all are equal for a row that got no vote at all.
        """
        votes = self._votes(X)
        total = votes.sum(axis=1, keepdims=True)
        return np.where(total > 0, votes / np.maximum(total, 1), 1.0 / self.classes_.size)

    def _votes(self, X: Any) -> Counts:
        check_is_fitted(self)
        X = checks.check_table(self, X, reset=False)
        table = X.tocsc() if sparse.issparse(X) else X

        def count(first: int, last: int) -> Counts:
            votes = np.zeros((table.shape[0], self.classes_.size), dtype=np.int64)
            for k in range(first, last):
                part, models = self._prepared(table, self.subsets_[k]), self.estimators_[k]
                if isinstance(models, list):
                    for c, model in enumerate(models):
                        votes[:, c] += model.predict(part) == 1
                else:
                    votes[np.arange(len(votes)), models.predict(part).astype(np.intp)] += 1
            return votes

        # Whole numbers: their sum is the same in whatever parts it is taken.
        n_jobs = effective_jobs(self.n_jobs)
        parts = split_evenly(0, len(self.subsets_), n_jobs)
        counts = Parallel(n_jobs=n_jobs, prefer="threads")(delayed(count)(*part) for part in parts)
        return np.sum(counts, axis=0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


def _draw(random: np.random.Generator, weights: Floats, size: int) -> Indices:
    """Places drawn with replacement, in proportion to the weights."""
    reached = np.cumsum(weights)
    places = np.searchsorted(reached, random.random(size) * reached[-1], side="right")
    return np.minimum(places, weights.size - 1)


def _first(names: Any) -> str:
    return ", ".join(repr(name) for name in list(names)[:3]) + (", ..." if len(names) > 3 else "")
