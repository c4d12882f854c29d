"""Ensembles of trees by name, and tables as they want them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tamis.exceptions import MissingDependencyError

NAMES = ("forest", "extra", "xgboost", "lightgbm")


def make_ensemble(
    name: str, *, is_classes: bool, n_rows: int, n_estimators: int, seed: int, n_jobs: int
) -> Any:
    """An unfitted classifier or regressor.

    Parameters
    ----------
    name : {"forest", "extra", "xgboost", "lightgbm"}
        Which kind.
    is_classes : bool
        Whether the target is classes.
    n_rows : int
        Rows that it will be trained on.
    n_estimators, seed, n_jobs : int
        Trees (rounds of boosting), seed and threads.
    """
    kind = "Classifier" if is_classes else "Regressor"
    options: dict[str, Any] = {
        "n_estimators": n_estimators, "random_state": seed, "n_jobs": n_jobs
    }  # fmt: skip
    if name in ("forest", "extra"):
        ensemble = import_module("sklearn.ensemble")
        word = "RandomForest" if name == "forest" else "ExtraTrees"
        # All columns in every split, scikit-learn's choice for numbers, would hide the second best.
        options["max_features"] = "sqrt" if is_classes else 1 / 3
        return getattr(ensemble, word + kind)(**options)
    if name == "xgboost":
        return getattr(_optional(name), "XGB" + kind)(importance_type="gain", **options)
    # Leaves of 20 rows, the default, would leave a small table without any split. The rest makes
    # the result independent of the number of threads.
    options |= {"min_child_samples": max(1, min(20, n_rows // 10)), "importance_type": "gain"}
    options |= {"verbose": -1, "deterministic": True, "force_col_wise": True}
    return getattr(_optional(name), "LGBM" + kind)(**options)


def _optional(package: str) -> Any:
    try:
        return import_module(package)
    except ImportError as error:
        raise MissingDependencyError(
            f"TreeImportance: expected the package {package} for estimator={package!r}, got "
            f"{error}. Run pip install {package}, or use estimator='forest'."
        ) from error


def unit_table(
    X: Any, low: NDArray[np.float64], high: NDArray[np.float64], *, keep_sparse: bool
) -> Any:
    """The table as float32 between 0 and 1, or between -1 and 1 if it stays sparse.

    Trees look at the order of values only, but scikit-learn's cast them to float32 and take values
    within 1e-7 as equal, which would blind them to columns far from 0 or of small extent.
    """
    if sparse.issparse(X):
        if keep_sparse and not np.isnan(X.data).any():
            size = np.maximum(np.abs(low), np.abs(high))
            data = (X.data / size[X.indices]).astype(np.float32)
            return sparse.csr_matrix((data, X.indices, X.indptr), shape=X.shape)
        X = X.toarray()
    table = np.empty(X.shape, dtype=np.float32)
    for j in range(X.shape[1]):
        table[:, j] = (X[:, j].astype(np.float64) - low[j]) / (high[j] - low[j])
    return table
