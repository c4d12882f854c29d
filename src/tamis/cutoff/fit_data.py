"""FitData: the training data, for rules that fit again on parts of it."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from tamis._runtime.callbacks import report_to
from tamis.exceptions import InputError

Indices = NDArray[np.intp]


class FitData(NamedTuple):
    """What a rule that looks at the training data needs: the unfitted selector and its input."""

    selector: Any
    X: Any
    y: Any
    sample_weight: Any = None

    @property
    def target(self) -> NDArray[Any]:
        """The target as a 1d array."""
        target = np.asarray(self.y)
        return target[:, 0] if target.ndim == 2 and target.shape[1] == 1 else target

    def fresh(self) -> Any:
        """An unfitted copy that keeps every column and reports to nobody."""
        copy = clone(self.selector).set_params(n_features_to_select="all")
        if copy.get_params(deep=False).get("task") == "auto":  # a few rows may look different
            copy.set_params(task=getattr(self.selector, "task_", "auto"))
        copy._names_told = getattr(self.selector, "feature_names_in_", None)
        return report_to(copy)

    def fit(self, X: Any, y: Any, rows: Any = slice(None)) -> Any:
        """Fit a fresh selector on (a part of) the data, with the weights that belong to it."""
        options = {}
        if self.sample_weight is not None:
            options["sample_weight"] = self.sample_weight[rows]
        return self.fresh().fit(X, y, **options)

    def fit_learner(self, estimator: Any, columns: Indices, rows: Indices) -> Any:
        """Fit a copy of an estimator on some columns and rows, with weights if it takes any."""
        name = _weight_parameter(estimator)
        options = {}
        if self.sample_weight is not None and name is not None:
            options[name] = self.sample_weight[rows]
        return clone(estimator).fit(self.X[rows][:, columns], self.target[rows], **options)

    def score_learner(self, scorer: Any, model: Any, columns: Indices, rows: Indices) -> float:
        """Score a model on some columns and rows, with weights if the scorer takes any."""
        options = {}
        if self.sample_weight is not None and _takes_weight(scorer):
            options["sample_weight"] = self.sample_weight[rows]
        return float(scorer(model, self.X[rows][:, columns], self.target[rows], **options))


@contextmanager
def cross_validating(who: str) -> Iterator[None]:
    """Name the parameters behind what scikit-learn says about folds, scores and estimators."""
    try:
        yield
    except InputError:
        raise
    except (ValueError, TypeError, IndexError) as error:
        raise InputError(
            f"{who}: expected cv, scoring and estimator that suit the table and its target, got: "
            f"{str(error).strip().splitlines()[0][:300]}"
        ) from error


def _takes_weight(scorer: Any) -> bool:
    parameters = inspect.signature(scorer).parameters.values()
    return any(p.name == "sample_weight" or p.kind == p.VAR_KEYWORD for p in parameters)


def _weight_parameter(estimator: Any) -> str | None:
    """Name under which fit takes weights; for a pipeline, that of its last step."""
    if has_fit_parameter(estimator, "sample_weight"):
        return "sample_weight"
    if hasattr(estimator, "steps") and not get_config()["enable_metadata_routing"]:
        name, last = estimator.steps[-1]
        if has_fit_parameter(last, "sample_weight"):
            return f"{name}__sample_weight"
    return None
