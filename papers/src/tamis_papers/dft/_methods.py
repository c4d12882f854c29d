"""Selectors and learners of the DFT paper."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

N_BINS = 16
MOST_OF_MRMR = 100
WITHOUT_XGBOOST = (
    "xgboost is not installed: its importance and its learner are left out "
    "(pip install 'tamis-papers[repro]')."
)
LEARNER_REMARK = (
    "The paper names no parameter of its learners: here the defaults of scikit-learn and XGBoost. "
    "Logistic regression and SVM get columns at mean 0 and variance 1, by the training rows."
)
IMPORTANCE_REMARK = (
    "Importance comes from 300 boosted trees of depth one, as the paper says where it reports "
    "times; its measure is XGBoost's own default, the mean gain of a column's splits."
)


def has_xgboost() -> bool:
    """Whether the package is installed."""
    return find_spec("xgboost") is not None


def known(names: Any) -> tuple[str, ...]:
    """The methods or learners among `names` that can run here."""
    needs_xgboost = {"importance", "importance_50", "importance_50_deep", "XGBoost"}
    return tuple(name for name in names if has_xgboost() or name not in needs_xgboost)


def remarks_on_packages() -> list[str]:
    """What is left out for lack of a package."""
    return [] if has_xgboost() else [WITHOUT_XGBOOST]


def make_selector(method: str, seed: int, n_columns: int, *, n_bins: int = N_BINS) -> Any:
    """A selector that ranks all columns, mRMR the first hundred of them, on one thread."""
    import tamis

    rest: dict[str, Any] = {"n_features_to_select": "all", "n_jobs": 1}
    if method == "anova":
        return tamis.AnovaF(**rest)
    if method == "correlation":  # with the number of the class, as the paper has it
        return tamis.Correlation(task="regression", **rest)
    if method == "variance":
        return tamis.Variance(**rest)
    if method == "dft":
        return tamis.DFT(n_bins=n_bins, **rest)
    if method == "rft":
        return tamis.RFT(n_bins=n_bins, **rest)
    if method.startswith("mrmr"):
        return tamis.MRMR(
            measure="mutual_information", combine=method.removeprefix("mrmr_"),
            n_features_to_select=min(MOST_OF_MRMR, n_columns), n_jobs=1,
        )  # fmt: skip
    task = "classification" if method == "importance" else "regression"
    return tamis.TreeImportance(estimator=_boosted(method, seed), task=task, **rest)


def _boosted(method: str, seed: int, n_trees: int = 50) -> Any:
    if method == "importance":
        return boosted_trees("XGBClassifier", seed, n_estimators=300, max_depth=1)
    depth = 6 if method == "importance_50_deep" else 1
    return boosted_trees("XGBRegressor", seed, n_estimators=n_trees, max_depth=depth)


def boosted_trees(kind: str, seed: int, **options: Any) -> Any:
    """A model of XGBoost on one thread."""
    return getattr(import_module("xgboost"), kind)(random_state=seed, n_jobs=1, **options)


def fitted(method: str, X: Any, y: NDArray[Any], seed: int, *, n_bins: int = N_BINS) -> Any:
    """A selector after `fit`."""
    return make_selector(method, seed, X.shape[1], n_bins=n_bins).fit(X, y)


def order_by(method: str, X: Any, y: NDArray[Any], seed: int) -> list[int]:
    """Columns from best to worst; as they come for "all"."""
    if method == "all":
        return list(range(X.shape[1]))
    return [int(column) for column in fitted(method, X, y, seed).order_]


def make_learner(name: str, seed: int) -> Any:
    """A learner by the paper's name, on one thread."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression, RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    if name == "XGBoost":
        return boosted_trees("XGBClassifier", seed)
    if name == "XGBoost regressor":
        return boosted_trees("XGBRegressor", seed)
    if name == "RF":
        return RandomForestClassifier(random_state=seed)
    scaled = {
        "LR": LogisticRegression(max_iter=2000),
        "SVM (RBF)": SVC(),
        "SVM (linear)": SVC(kernel="linear"),
        "ridge": RidgeCV(alphas=np.logspace(-3, 5, 9)),
    }
    return make_pipeline(StandardScaler(), scaled[name])
