"""The methods that are tried, one or two of every kind, and what a ranking by each costs."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import false_discovery_control
from sklearn.utils.validation import has_fit_parameter

from tamis.auto.problem import Problem, Rows
from tamis.selectors import make_selector

# Trees of the forest.
N_TREES = 200
# False discovery rate of the features that some methods choose among.
RELATED = 0.1
ALL = slice(None)


@dataclass(frozen=True, eq=False)
class Method:
    """A way to rank features.

    `seconds` estimates the time of a ranking of so many rows and features from fixed rates, not by
    a clock: what is tried must not depend on how busy the machine is.
    """

    name: str
    kind: str
    selector: str
    params: dict[str, Any]
    seconds: Callable[[float, float], float]
    tasks: tuple[str, ...] = ("classification", "regression")
    # Whether it looks only at features that are related to the target on their own, if any are: of
    # thousands that are not, some always seem to complement the others.
    among_related: bool = False

    def rank(self, problem: Problem, rows: Rows, most: int, seed: int) -> Rows:
        """The best features by these rows, best first; those that never vary are left out."""
        columns = related_features(problem, rows) if self.among_related else ALL
        selector = self.make(problem, most, seed)
        selector = _fitted(selector, problem, rows, columns)
        order = selector.order_[~selector.constant_[selector.order_]][:most]
        return order if columns is ALL else np.asarray(columns)[order]

    def make(self, problem: Problem, most: int, seed: int) -> Any:
        """The selector, which ranks `most` features at least."""
        n_columns = problem.X.shape[1]
        selector = make_selector(self.selector, **self.params)
        known = selector.get_params(deep=False)
        given = {
            "task": "classification" if problem.n_classes else "regression",
            "random_state": seed,
            "n_jobs": 1,
            # A selection of some would be compared with chance; a greedy search ends early.
            "n_features_to_select": min(most, n_columns) if "full_order" in known else "all",
        }
        return selector.set_params(**{name: v for name, v in given.items() if name in known})


def _fitted(selector: Any, problem: Problem, rows: Rows, columns: Any) -> Any:
    options = {}
    if problem.is_weighted and has_fit_parameter(selector, "sample_weight"):
        options["sample_weight"] = problem.weight[rows]
    X = problem.X[rows] if columns is ALL else problem.X[rows][:, columns]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return selector.fit(X, problem.y[rows], **options)


def related_features(problem: Problem, rows: Rows) -> Any:
    """Features whose ranks are related to the target at the level, or all if none is."""
    selector = _fitted(METHODS[0].make(problem, 1, 0), problem, rows, ALL)
    q_values = false_discovery_control(np.clip(selector.p_values_, 0.0, 1.0))
    found = np.flatnonzero((q_values <= RELATED) & ~selector.constant_)
    return found if found.size else ALL


METHODS = (
    Method(
        "Spearman correlation", "marginal", "correlation", {"kind": "spearman"},
        lambda t, n: 3e-8 * t * n,
    ),
    Method(
        "mutual information", "marginal, any shape", "mutualinformation",
        {"estimator": "binned"}, lambda t, n: 1e-8 * t * n,
    ),
    Method(
        "MRMR", "redundancy-aware", "mrmr", {}, lambda t, n: 5e-8 * t * n, among_related=True
    ),
    Method("ReliefF", "interactions", "relieff", {}, lambda t, n: 4e-10 * t * t * n),
    Method(
        "linear SVM", "linear model", "svmrfe", {"step": 0.2, "scale": True},
        lambda t, n: 5e-9 * t * n * min(t, n), ("classification",), among_related=True,
    ),
    Method(
        "random forest", "interactions", "treeimportance",
        {"estimator": "fast", "n_estimators": N_TREES},
        lambda t, n: 4e-9 * N_TREES * t * np.log2(t + 1) * np.sqrt(n) + 3e-8 * t * n,
        ("classification",),
    ),
    Method(
        "random forest", "interactions", "treeimportance",
        {"estimator": "fast", "n_estimators": N_TREES},
        lambda t, n: 4e-9 * N_TREES * t * np.log2(t + 1) * n / 3 + 3e-8 * t * n,
        ("regression",),
    ),
)  # fmt: skip


def methods_for(problem: Problem) -> tuple[Method, ...]:
    """Methods that suit the task."""
    task = "classification" if problem.n_classes else "regression"
    return tuple(method for method in METHODS if task in method.tasks)
