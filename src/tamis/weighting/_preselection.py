"""Columns that take part in a costly method, chosen by a cheap score beforehand."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from tamis.exceptions import InputError
from tamis.passes import MemoryEngine, run_pass
from tamis.statistics import ClassMoments
from tamis.statistics.class_moments import ClassMomentsResult

Floats = NDArray[np.float64]


def preselect(
    selector: Any, X: Any, y: Any, codes: Any, weight: Floats | None, varies: NDArray[np.bool_]
) -> NDArray[np.intp]:
    """Indices of the columns that vary and pass ``selector.preselect``."""
    wanted = selector.preselect
    if wanted is None:
        return np.flatnonzero(varies)
    if hasattr(wanted, "fit"):
        inner = clone(wanted)
        weighted = weight is not None and has_fit_parameter(inner, "sample_weight")
        options = {"sample_weight": weight} if weighted else {}
        mask = np.asarray(inner.fit(X, y, **options).get_support()) & varies
    else:
        moments = ClassMoments(X.shape[1], int(codes.max()) + 1)
        run_pass(moments, MemoryEngine(X, codes, weight), n_jobs=selector.n_jobs)
        scores = np.where(varies, fisher_ratio(moments.finish()), -np.inf)
        mask = scores > wanted
        if isinstance(wanted, Integral):
            mask = np.zeros(varies.size, dtype=bool)
            mask[np.argsort(-scores, kind="stable")[: int(wanted)]] = True
            mask &= varies
    if not mask.any():
        raise InputError(
            f"{type(selector).__name__}: expected preselect to keep a column, got none of "
            f"{varies.size} with preselect={wanted!r}. Choose a more generous one, or None."
        )
    return np.flatnonzero(mask)


def fisher_ratio(moments: ClassMomentsResult) -> Floats:
    """Squared distances of the class means from the mean over the variances within, by column."""
    table = moments.compare()
    weight = table.weight
    factor = np.divide(weight, weight - 1.0, out=np.zeros_like(weight), where=weight > 1.0)
    between, within = (table.gap**2).sum(axis=0), (table.variance * factor).sum(axis=0)
    return np.divide(between, within, out=np.where(between > 0, np.inf, 0.0), where=within > 0)
