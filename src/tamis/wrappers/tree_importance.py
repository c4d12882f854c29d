"""TreeImportance: columns by what trees do with them."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import check_random_state

from tamis._base import Scores, WeightedSelector
from tamis._facts import BOTH_TASKS, SelectorFacts
from tamis._rows import listed_rows
from tamis._runtime.seeds import draw_seed
from tamis._runtime.threads import effective_jobs
from tamis._validation import N_JOBS, Choice, Constraint, Custom, Number
from tamis.data.target import Target
from tamis.data.task import TASK
from tamis.data.values import check_finite_columns
from tamis.exceptions import InputError, MissingDependencyError
from tamis.passes import MemoryEngine, run_pass
from tamis.statistics import Ranges
from tamis.wrappers._fast_forest import forest_gains

Floats = NDArray[np.float64]
ENSEMBLES = {
    "forest": ("sklearn.ensemble", "RandomForest"),
    "extra": ("sklearn.ensemble", "ExtraTrees"),
    "xgboost": ("xgboost", "XGB"),
    "lightgbm": ("lightgbm", "LGBM"),
}
# Sparse tables are made dense up to this many cells, 1 GiB in float32.
MOST_DENSE_CELLS = 2**28


@dataclass(kw_only=True, eq=False, repr=False)
class TreeImportance(WeightedSelector):
    """Importance of columns in an ensemble of trees: gain of their splits, or loss by shuffling.

    Trees see interactions and any monotone or bent relation, need no scaling, and take missing
    values. The importance of a column is either what the splits on it gain while the trees grow,
    or what the score on rows held out loses when its values are shuffled. The models, their gains
    and the shuffling are those of scikit-learn, or of XGBoost or LightGBM where installed, but for
    ``"fast"``.

    Parameters
    ----------
    estimator : {"forest", "fast", "extra", "xgboost", "lightgbm"} or estimator, default="forest"
        Random forest, the same on columns coded by 63 quantiles and several times as fast on
        tables of some thousand rows (only for ``"impurity"``), extremely randomised trees, boosted
        trees, or any unfitted classifier or
        regressor (with ``feature_importances_`` if the importance is ``"impurity"``), which is
        used as it is and gets the table and the target as they are, classes as 0, 1, ...
    importance : {"impurity", "permutation"}, default="impurity"
        Gain of the splits, divided by the sum over all columns, or mean decrease of the score on
        held-out rows by shuffling a column.
    n_estimators : int, default=200
        Trees, or rounds of boosting; not for an estimator of your own.
    max_depth : int or None, default=None
        Depth of the trees; ``None`` leaves it to the estimator: forests grow until their leaves
        are pure. Not for an estimator of your own.
    n_repeats : int, default=5
        Shuffles of every column.
    test_size : float, default=0.25
        Share of the rows held out for shuffling, with the same share of every class.
    scoring : str, callable or None, default=None
        The score that shuffling lowers, as in scikit-learn; ``None`` is that of the estimator,
        accuracy or R squared.
    task : {"auto", "classification", "regression"}, default="auto"
        What the target is; ``"auto"`` infers it (:func:`tamis.data.infer_task`).
    random_state : int, RandomState or None, default=None
        Seed of the trees, the held-out rows and the shuffles.
    n_features_to_select : "auto", int, float, "elbow", "all" or rule, default="elbow"
        The cutoff; see :mod:`tamis.cutoff`.
    n_jobs : int or None, default=None
        Threads that grow the trees; ``None`` uses all cores. The result does not depend on it.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        The importances. Those by shuffling may be negative.
    held_out_score_ : float
        Score on the held-out rows before shuffling, only with ``importance="permutation"``. If it
        is no better than chance, the importances mean nothing.
    classes_ : ndarray of shape (n_classes,)
        The labels of the target, only for classes.
    order_, ranking_, support_, n_selected_, constant_, cut_details_
        As for every selector.

    Notes
    -----
    About ``n_estimators T log(T) sqrt(n)`` time, and by shuffling ``n_repeats n`` predictions on
    the held-out rows, which run on one thread.

    Gains favour columns of many different values, and are measured on the rows that the trees were
    grown on, so pure noise gets a share as well; shuffling has neither fault. Columns that say the
    same share their importance by either measure.

    Constant columns are not shown to the trees. Missing values are sent to the side of a split
    that gains more. The named ensembles get every column stretched to [0, 1] in float32, so that
    columns far from 0 or of small extent are not lost to rounding, and a standardised numeric
    target. A sparse table is made dense up to 2^28 cells (1 GiB), so that it gets the scores of the
    dense one; a larger one stays sparse for forests, which find other splits of equal gain in it.
    Forests for a numeric target look at a third of the columns in every split (Breiman's choice).

    Rows are ordered by their content first, so that the draws of a forest do not depend on the
    order they come in. Weights that are counts repeat rows, up to four times their number; others
    go to the trees and the score, where a weight is not exactly a repetition, since rows are drawn.

    References
    ----------
    Breiman, L. (2001). Random forests. Machine Learning 45, 5-32.
    https://doi.org/10.1023/A:1010933404324

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamis import TreeImportance
    >>> data = load_iris(as_frame=True)
    >>> selector = TreeImportance(n_features_to_select=2, random_state=0)
    >>> selector.fit(data.data, data.target).get_feature_names_out()
    array(['petal length (cm)', 'petal width (cm)'], dtype=object)
    """

    estimator: Any = "forest"
    importance: str = "impurity"
    n_estimators: int = 200
    max_depth: int | None = None
    n_repeats: int = 5
    test_size: float = 0.25
    scoring: Any = None
    task: str = "auto"
    random_state: Any = None
    n_features_to_select: Any = "elbow"
    n_jobs: int | None = None

    facts: ClassVar[SelectorFacts] = SelectorFacts(
        summary="Impurity or permutation importance in a forest.",
        tasks=BOTH_TASKS,
        cost="trees T log T sqrt(n)",
        reference="Breiman 2001",
        scope="jointly",
        redundancy="shared among copies",
        nonlinear="yes",
    )

    _constraints: ClassVar[dict[str, Constraint]] = {
        "estimator": Custom(
            lambda value: Choice(("fast", *ENSEMBLES)).allows(value) or hasattr(value, "fit"),
            "'forest', 'fast', 'extra', 'xgboost', 'lightgbm', or an estimator",
        ),
        "importance": Choice(("impurity", "permutation")),
        "n_estimators": Number(int, low=1),
        "max_depth": Number(int, low=1, or_none=True),
        "n_repeats": Number(int, low=1),
        "test_size": Number(float, low=0, high=1, open_low=True, open_high=True),
        "task": TASK,
        "n_jobs": N_JOBS,
    }

    def _score(self, X: Any, y: Any, weight: Floats | None) -> Scores:
        outcome = Target.of(y, self.task, weight, X.shape[0], type(self).__name__)
        self._note_target(outcome)
        statistic = Ranges(X.shape[1])
        ranges = run_pass(statistic, MemoryEngine(X, None, weight), n_jobs=self.n_jobs).finish()
        check_finite_columns(self, ranges.infinite)
        self._check_varies(ranges.constant, X.shape[0])
        varies = ~ranges.constant
        target: Any = outcome.values if outcome.codes is None else outcome.codes
        rows, weight = listed_rows(X, target, weight)
        # Only now, so that sums do not depend on the order that the rows came in.
        X, target = X[rows], target[rows]
        if isinstance(self.estimator, str) and not outcome.is_classes:
            # Squares of large numbers would lose digits.
            target = target - np.average(target, weights=weight)
            target /= np.abs(target).max()
            target /= np.sqrt(np.average(target**2, weights=weight))
        weight = None if weight is None else weight / weight.mean()  # leaves may depend on it
        X = X if varies.all() else X[:, varies]
        if isinstance(self.estimator, str) and self.estimator != "fast":
            # Boosted trees read zeros that are left out in other ways than zeros that are there.
            forest = self.estimator in ("forest", "extra")
            X = unit_table(X, ranges.low[varies], ranges.high[varies], keep_sparse=forest)
        measure = self._gains if self.importance == "impurity" else self._losses
        if self.estimator == "fast":
            measure = self._fast_gains
        random = check_random_state(self.random_state)
        found = measure(X, target, weight, random)
        scores = np.full(varies.size, min(0.0, found.min()))
        scores[varies] = found
        return scores, ~varies

    def _fitted(self, X: Any, target: Any, weight: Floats | None, random: Any) -> Any:
        """The estimator, with a seed, trained."""
        seed = draw_seed(random)
        if isinstance(self.estimator, str):
            model = make_ensemble(
                self.estimator, is_classes=self.task_ == "classification", n_rows=X.shape[0],
                n_estimators=self.n_estimators, max_depth=self.max_depth, seed=seed,
                n_jobs=effective_jobs(self.n_jobs),
            )  # fmt: skip
        else:
            model = clone(self.estimator)
            if model.get_params().get("random_state", 0) is None:
                model.set_params(random_state=seed)
        return model.fit(X, target, **_weights(weight))

    def _gains(self, X: Any, target: Any, weight: Floats | None, random: Any) -> Floats:
        """What the splits on every column gain, as a share of all."""
        for _ in self.steps("trees", [0], 1):
            model = self._fitted(X, target, weight, random)
        gains = np.asarray(getattr(model, "feature_importances_", None), dtype=np.float64)
        if gains.shape != (X.shape[1],):
            raise InputError(
                f"TreeImportance: expected an estimator with feature_importances_, one for each of "
                f"{X.shape[1]} columns, got {model!r}, which has none of that shape. Use "
                "importance='permutation'."
            )
        total = gains.sum()
        return gains / total if total > 0 else gains

    def _fast_gains(self, X: Any, target: Any, weight: Floats | None, random: Any) -> Floats:
        """As `_gains`, by trees of our own."""
        if self.importance != "impurity":
            raise InputError(
                "TreeImportance: expected importance='impurity' for estimator='fast', got "
                f"{self.importance!r}. Use estimator='forest'."
            )
        for _ in self.steps("trees", [0], 1):
            gains = forest_gains(
                X, target, weight, is_classes=self.task_ == "classification",
                n_estimators=self.n_estimators, max_depth=self.max_depth, seed=draw_seed(random),
                n_jobs=self.n_jobs,
            )  # fmt: skip
        total = gains.sum()
        return gains / total if total > 0 else gains

    def _losses(self, X: Any, target: Any, weight: Floats | None, random: Any) -> Floats:
        """What the score on held-out rows loses on average when a column is shuffled."""
        from sklearn.inspection import permutation_importance
        from sklearn.metrics import check_scoring

        train, test = self._split(target, random)
        part = (None, None) if weight is None else (weight[train], weight[test])
        model = self._fitted(X[train], target[train], part[0], random)
        if isinstance(self.estimator, str):
            model.set_params(n_jobs=1)  # the threads of a forest add up its votes in any order
        scorer = check_scoring(model, scoring=self.scoring)
        # Shuffling a column of a sparse matrix is not offered.
        held_out = X[test].toarray() if sparse.issparse(X) else X[test]
        self.held_out_score_ = float(scorer(model, held_out, target[test], **_weights(part[1])))
        losses = []
        for _ in self.steps("shuffles", range(self.n_repeats), self.n_repeats):
            result = permutation_importance(
                model, held_out, target[test], scoring=scorer, n_repeats=1, n_jobs=1,
                random_state=draw_seed(random), sample_weight=part[1],
            )  # fmt: skip
            losses.append(result.importances[:, 0])
        return np.mean(losses, axis=0)

    def _split(self, target: NDArray[Any], random: Any) -> Any:
        """Rows to train on and rows held out."""
        from sklearn.model_selection import train_test_split

        n_rows = target.size
        n_test = int(np.ceil(self.test_size * n_rows))
        if n_test >= n_rows:
            raise InputError(
                f"TreeImportance: expected rows to train on beside test_size={self.test_size!r} of "
                f"them, got {n_rows} rows (n_samples={n_rows}). Lower test_size, or use "
                "importance='impurity'."
            )
        strata = None
        if self.task_ == "classification":
            counts = np.bincount(target)
            if counts.min() >= 2 and min(n_test, n_rows - n_test) >= counts.size:
                # Numbered as they come, so that the names of the classes do not matter.
                _, first = np.unique(target, return_index=True)
                strata = np.argsort(np.argsort(first))[target]
        return train_test_split(
            np.arange(n_rows), test_size=n_test, stratify=strata, random_state=random
        )


def _weights(weight: Floats | None) -> dict[str, Floats]:
    return {} if weight is None else {"sample_weight": weight}


def make_ensemble(
    name: str,
    *,
    is_classes: bool,
    n_rows: int,
    n_estimators: int,
    max_depth: int | None,
    seed: int,
    n_jobs: int,
) -> Any:
    """An unfitted classifier or regressor, to be trained on `n_rows`."""
    package, word = ENSEMBLES[name]
    options: dict[str, Any] = {"n_estimators": n_estimators, "random_state": seed, "n_jobs": n_jobs}
    if max_depth is not None:
        options["max_depth"] = max_depth
    if package == "sklearn.ensemble":
        # All columns in every split, scikit-learn's choice for numbers, would hide the second best.
        options["max_features"] = "sqrt" if is_classes else 1 / 3
    else:
        options["importance_type"] = "gain"
    if package == "lightgbm":
        # Leaves of 20 rows, the default, would leave a small table without any split. The rest
        # makes the result independent of the number of threads.
        options |= {"min_child_samples": max(1, min(20, n_rows // 10)), "verbose": -1}
        options |= {"deterministic": True, "force_col_wise": True}
    try:
        module = import_module(package)
    except ImportError as error:
        raise MissingDependencyError(
            f"TreeImportance: expected the package {package} for estimator={package!r}, got "
            f"{error}. Run pip install {package}, or use estimator='forest'."
        ) from error
    return getattr(module, word + ("Classifier" if is_classes else "Regressor"))(**options)


def unit_table(X: Any, low: Floats, high: Floats, *, keep_sparse: bool) -> Any:
    """The table as float32 between 0 and 1, or between -1 and 1 if it stays sparse.

    scikit-learn's trees cast to float32 and take values within 1e-7 as equal. Of equally good
    splits they find others in sparse tables, so only what would be too large is left sparse.
    """
    if sparse.issparse(X):
        is_large = X.shape[0] * X.shape[1] > MOST_DENSE_CELLS
        if keep_sparse and is_large and not np.isnan(X.data).any():
            size = np.maximum(np.abs(low), np.abs(high))
            data = (X.data / size[X.indices]).astype(np.float32)
            return sparse.csr_matrix((data, X.indices, X.indptr), shape=X.shape)
        X = X.tocsc()
    table = np.empty(X.shape, dtype=np.float32)
    for j in range(X.shape[1]):
        column = X[:, [j]].toarray().ravel() if sparse.issparse(X) else X[:, j]
        table[:, j] = (column.astype(np.float64) - low[j]) / (high[j] - low[j])
    return table
