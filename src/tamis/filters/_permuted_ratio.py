"""Permuted scores of ratios of the variance between classes to that within."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.data.target import Target
from tamis.statistics.law_of_f import PERFECT
from tamis.statistics.permuted_sums import (
    PermutedSums,
    PermutedVariances,
    class_vectors,
    value_vector,
)

Floats = NDArray[np.float64]


def permuted_f(selector: Any, X: Any, y: Any) -> PermutedSums:
    """Permuted scores of `AnovaF` for either task."""
    outcome = Target.of(y, selector.task_, None, X.shape[0], "AnovaF")
    if outcome.values is not None:
        return permuted_ratio(selector, X, value_vector(outcome.values), X.shape[0] - 2.0)
    assert outcome.codes is not None
    freedom = (X.shape[0] - outcome.n_classes) / (outcome.n_classes - 1)
    return permuted_ratio(selector, X, class_vectors(outcome.codes), freedom)


def permuted_fisher(selector: Any, X: Any, y: Any) -> PermutedSums:
    """Permuted scores of `Fisher` in either form."""
    codes = Target.of(y, "classification", None, X.shape[0], "Fisher").codes
    assert codes is not None
    sizes = np.bincount(codes)
    if selector.form == "plain" and sizes.min() < sizes.max():
        return PermutedVariances(
            X, codes, selector.constant_, scores=odds, inverse=share, n_jobs=selector.n_jobs
        )
    factor = 1.0 if selector.form == "weighted" else 1.0 - 1.0 / sizes[0]
    return permuted_ratio(selector, X, class_vectors(codes), factor)


def permuted_ratio(selector: Any, X: Any, vectors: Floats, factor: float) -> PermutedSums:
    """Permuted scores of ``factor R^2 / (1 - R^2)``, with the correlation R with the target."""
    return PermutedSums(
        X, vectors, selector.constant_, scores=partial(odds, factor=factor),
        inverse=partial(share, factor=factor), n_jobs=selector.n_jobs,
    )  # fmt: skip


def odds(root: Floats, factor: float = 1.0) -> Floats:
    """Ratio of a share to the rest, from the root of the share."""
    left = 1.0 - root**2
    ratio = np.divide(factor * root**2, left, out=np.full_like(root, PERFECT), where=left > 0)
    return np.minimum(ratio, PERFECT)


def share(ratio: Floats, factor: float = 1.0) -> Floats:
    """Root of the share that has this ratio to the rest."""
    return np.sqrt(ratio / (ratio + factor))
