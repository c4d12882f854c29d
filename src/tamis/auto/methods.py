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
# Seconds per cell to find the features that are related to the target.
SECONDS_TO_RELATE = 3e-8


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
    # Memory it takes, in copies of the rows that it ranks by.
    copies: float = 1.0
    tasks: tuple[str, ...] = ("classification", "regression")
    # Whether it can rank features that tell nothing on their own. The others look only at features
    # that are related to the target, if any are: of thousands that are not, some always seem to.
    beyond_related: bool = False

    def rank(
        self, problem: Problem, rows: Rows, most: int, seed: int, related: Rows | None = None
    ) -> Rows:
        """The best features by these rows, best first; those that never vary are left out.

        `related` is what `related_features` says of the same rows, where it is known already.
        """
        if self.beyond_related:
            columns = None
        else:
            columns = related_features(problem, rows) if related is None else related
        selector = self.make(problem, most, seed)
        selector = _fitted(selector, problem, rows, columns)
        order = selector.order_[~selector.constant_[selector.order_]][:most]
        return order if columns is None else columns[order]

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


def _fitted(selector: Any, problem: Problem, rows: Rows, columns: Rows | None) -> Any:
    options = {}
    if problem.is_weighted and has_fit_parameter(selector, "sample_weight"):
        options["sample_weight"] = problem.weight[rows]
    X = problem.X[rows] if columns is None else problem.rectangle(rows, columns)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return selector.fit(X, problem.y[rows], **options)


def related_features(problem: Problem, rows: Rows) -> Rows:
    """Features whose ranks or bins are related to the target at the level, or all if none is.

    By the laws of the two scores; without a law, as for weighted rows, all.
    """
    fitted = [_fitted(method.make(problem, 1, 0), problem, rows, None) for method in METHODS[:2]]
    everything = np.arange(problem.X.shape[1])
    if not all(hasattr(selector, "p_values_") for selector in fitted):
        return everything
    p_values = [selector.p_values_ for selector in fitted]
    q_values = false_discovery_control(np.minimum(2.0 * np.min(p_values, axis=0), 1.0))
    found = np.flatnonzero((q_values <= problem.level) & ~fitted[0].constant_)
    return found if found.size else everything


METHODS = (
    Method(
        "Spearman correlation", "marginal", "correlation", {"kind": "spearman"},
        lambda t, n: 1e-8 * t * n,
    ),
    Method(
        "mutual information", "marginal, any shape", "mutualinformation",
        {"estimator": "binned"}, lambda t, n: 1e-8 * t * n,
    ),
    Method("MRMR", "redundancy-aware", "mrmr", {}, lambda t, n: 2e-8 * t * n),
    Method(
        "lasso path", "linear model", "lassopath", {}, lambda t, n: 6e-8 * t * n,
        copies=3.0, beyond_related=True,
    ),
    Method(
        "ReliefF", "interactions", "relieff", {}, lambda t, n: (4e-8 + 2e-10 * t) * t * n,
        beyond_related=True,
    ),
    Method(
        "random forest", "interactions", "treeimportance",
        {"estimator": "fast", "n_estimators": N_TREES},
        lambda t, n: 5e-9 * N_TREES * t * np.log2(t + 1) * np.sqrt(n) + 3e-8 * t * n,
        copies=2.0, tasks=("classification",), beyond_related=True,
    ),
    Method(
        "random forest", "interactions", "treeimportance",
        {"estimator": "fast", "n_estimators": N_TREES},
        lambda t, n: 4e-9 * N_TREES * t * np.log2(t + 1) * n + 3e-8 * t * n,
        copies=2.0, tasks=("regression",), beyond_related=True,
    ),
)  # fmt: skip


def methods_for(problem: Problem) -> tuple[Method, ...]:
    """Methods that suit the task."""
    task = "classification" if problem.n_classes else "regression"
    return tuple(method for method in METHODS if task in method.tasks)
