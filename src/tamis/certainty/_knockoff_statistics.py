"""Statistics of knockoffs: how much more important a feature is than its copy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.certainty.lasso import lasso_cv
from tamis.cutoff.fit_data import FitData
from tamis.data.target import Target
from tamis.exceptions import InputError

Floats = NDArray[np.float64]
# Importances of 2p columns, the first p of which may be features or copies.
Importances = Callable[[Floats, Any, np.random.Generator], Floats]


def statistic_of(X: Floats, copy: Floats, y: Any, importances: Importances, rng: Any) -> Floats:
    """W of every feature; features and copies change places at random, so order cannot matter."""
    n_features = X.shape[1]
    swapped = rng.random(n_features) < 0.5
    both = np.empty((X.shape[0], 2 * n_features), order="F")
    for j in range(n_features):
        first, second = (copy, X) if swapped[j] else (X, copy)
        both[:, j], both[:, n_features + j] = first[:, j], second[:, j]
    found = np.asarray(importances(both, y, rng), dtype=np.float64)
    if found.shape != (2 * n_features,) or not np.isfinite(found).all():
        got = f"shape {found.shape}" if found.ndim != 1 or found.size != 2 * n_features else "NaN"
        raise InputError(
            f"Knockoffs: statistic must return one finite number for each of the {2 * n_features} "
            f"columns, got {got}."
        )
    W = found[:n_features] - found[n_features:]
    return np.where(swapped, -W, W)


class LassoImportances:
    """Sizes of the coefficients at the cross-validated penalty; summed over more than two classes.

    With more than two classes, every class has a lasso of its own against all others.
    """

    def __init__(self, data: FitData, who: str):
        task = getattr(data.selector, "task_", "auto")
        target = Target.of(data.target, task, None, data.X.shape[0], who)
        if target.values is not None:
            self.loss, self.targets = "squared", [target.values]
            return
        assert target.codes is not None
        assert target.classes is not None
        self.loss = "logistic"
        codes, n_classes = target.codes, target.classes.size
        counts = np.bincount(codes)
        if counts.min() < 2:
            label = target.classes.tolist()[counts.argmin()]
            raise InputError(
                f"{who}: expected at least two rows of every class, got one of {label!r}. Leave "
                "the row out, or join classes."
            )
        first = 1 if n_classes == 2 else 0
        self.targets = [(codes == c).astype(np.float64) for c in range(first, n_classes)]

    def __call__(self, both: Floats, y: Any, rng: np.random.Generator) -> Floats:
        """Importances of features and copies."""
        fits = [lasso_cv(both, one, loss=self.loss, random=rng) for one in self.targets]
        return np.sum([np.abs(fit.coef) for fit in fits], axis=0)


class SelectorImportances:
    """Scores of the selector itself, fitted on features and copies."""

    def __init__(self, data: FitData):
        self.data = data

    def __call__(self, both: Floats, y: Any, rng: np.random.Generator) -> Floats:
        """Scores of features and copies."""
        copy = self.data.fresh()
        copy._names_told = None
        weight = self.data.sample_weight
        options = {} if weight is None else {"sample_weight": weight}
        return np.asarray(copy.fit(np.ascontiguousarray(both), y, **options).scores_)
