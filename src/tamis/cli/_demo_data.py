"""The data of the demo: real measurements, and a shuffled copy of each that means nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tamis.data import RawTable

TARGET = "diagnosis"
NOISE = "shuffled "
N_FOLDS = 5


def demo_table() -> RawTable:
    """Build the breast cancer table of scikit-learn with 30 noise columns beside the 30 real ones.

    A shuffled column has the values of the real one and no relation to the diagnosis, so a good
    ranking puts every one of them below the cut.

    Examples
    --------
    >>> from tamis.cli._demo_data import demo_table
    >>> table = demo_table()
    >>> table.n_rows, len(table.names), table.names[0], table.names[30]
    (569, 60, 'mean radius', 'shuffled mean radius')
    """
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    noise = np.random.default_rng(0).permuted(data.data, axis=0)
    names = [str(name) for name in data.feature_names]
    labels = np.asarray(data.target_names, dtype=str)[data.target]
    table = RawTable.from_matrix(
        np.hstack([data.data, noise]),
        labels,
        [*names, *(NOISE + name for name in names)],
        "breast_cancer",
    )
    return replace(table, target_name=TARGET)


@dataclass(frozen=True)
class Evaluation:
    """What a model achieved on rows that neither it nor the selection had seen, fold by fold.

    Parameters
    ----------
    accuracy : ndarray of shape (n_folds,)
        Share of rows told right.
    n_columns, n_noise : ndarray of shape (n_folds,)
        Columns that the model used, and how many of them were shuffled.
    """

    accuracy: np.ndarray
    n_columns: np.ndarray
    n_noise: np.ndarray


def evaluate(table: RawTable, selector: Any) -> Evaluation:
    """Cross-validate logistic regression on the columns selected in each fold.

    Parameters
    ----------
    table : RawTable
        From :func:`demo_table`.
    selector : BaseSelector
        Fitted anew on the training rows of every fold.

    Returns
    -------
    Evaluation
        One value per fold.
    """
    from sklearn.base import clone
    from sklearn.model_selection import StratifiedKFold, cross_validate
    from sklearn.pipeline import make_pipeline

    result = cross_validate(
        make_pipeline(clone(selector), _classifier()),
        table.matrix,
        table.target,
        cv=StratifiedKFold(N_FOLDS, shuffle=True, random_state=0),
        return_estimator=True,
    )
    supports = np.array([model[0].support_ for model in result["estimator"]])
    is_noise = np.array([name.startswith(NOISE) for name in table.names])
    return Evaluation(
        accuracy=result["test_score"],
        n_columns=supports.sum(axis=1),
        n_noise=supports[:, is_noise].sum(axis=1),
    )


def _classifier() -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
