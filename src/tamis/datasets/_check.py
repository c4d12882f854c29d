"""Compare what was read with the catalogue, so that a wrong table never passes unseen."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from tamis.datasets._info import DatasetInfo
from tamis.exceptions import InputError

__all__ = ["check_arrays"]

# Copies of one table differ in their last printed digit (float32 files, ARFF text), never by more.
MAGNITUDE_TOLERANCE = 1e-4
ROWS_PER_BLOCK = 1024


def check_arrays(arrays: dict[str, Any], info: DatasetInfo, origin: str, remedy: str) -> None:
    """Raise if the arrays are not the data set of the catalogue.

    Parameters
    ----------
    arrays : dict of str to array
        At least ``X`` and ``y``.
    info : DatasetInfo
        What they should be.
    origin : str
        The file or address they come from, for the message.
    remedy : str
        What the user can do, one sentence.

    Raises
    ------
    InputError
        On the first difference.
    """
    for what, expected, found in _facts(arrays, info):
        if found != expected:
            raise InputError(
                f"tamis.datasets.load: {origin} is not {info.name!r} as catalogued: "
                f"{what} must be {expected!r}, got {found!r}. {remedy}"
            )


def _facts(arrays: dict[str, Any], info: DatasetInfo) -> Iterator[tuple[str, Any, Any]]:
    # Lazy on purpose: each fact relies on the ones before it, and the last ones read all of X.
    X, y = arrays["X"], arrays["y"]
    yield "the shape of X", (info.n_samples, info.n_features), X.shape
    yield "the shape of y", (info.n_samples,), y.shape
    if info.classes is None:
        yield "the number of values in y that are not finite", 0, int(np.sum(~np.isfinite(y)))
    else:
        yield "the rows per class", info.classes, _count(y)
    for name in ("split", "fold"):
        if name in arrays:
            yield f"the shape of {name}", (info.n_samples,), arrays[name].shape
    if "split" in arrays:
        sizes = None if info.split_sizes is None else dict(enumerate(info.split_sizes))
        yield "the rows per part of the split", sizes, _count(arrays["split"])
    if "feature_names" in arrays:
        yield "the shape of feature_names", (info.n_features,), arrays["feature_names"].shape
    magnitude, n_missing = _magnitude(X)
    yield "the number of missing cells", info.n_missing, n_missing
    close = math.isclose(magnitude, info.magnitude, rel_tol=MAGNITUDE_TOLERANCE)
    yield (
        "the sum of the absolute values of X",
        info.magnitude,
        info.magnitude if close else magnitude,
    )


def _count(labels: np.ndarray) -> dict[Any, int]:
    values, counts = np.unique(labels, return_counts=True)
    return dict(zip(values.tolist(), counts.tolist(), strict=True))


def _magnitude(X: Any) -> tuple[float, int]:
    values = X.data[:, None] if sparse.issparse(X) else X
    magnitude, n_missing = 0.0, 0
    # By blocks, as float64: unsigned bytes would wrap, and all of mnist at once takes 440 MB.
    for start in range(0, len(values), ROWS_PER_BLOCK):
        block = values[start : start + ROWS_PER_BLOCK].astype(np.float64)
        magnitude += float(np.nansum(np.abs(block)))
        n_missing += int(np.isnan(block).sum())
    return magnitude, n_missing
