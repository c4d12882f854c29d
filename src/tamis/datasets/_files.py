"""Find and read ``<name>.npz``, damaged or not, and compare arrays with the catalogue."""

from __future__ import annotations

import math
import os
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from tamis.datasets._catalogue import DatasetInfo
from tamis.exceptions import InputError

# What numpy, zipfile and zlib raise on a file that is truncated, altered or something else.
UNREADABLE = (
    *(OSError, EOFError, ValueError, KeyError, TypeError, RuntimeError, SyntaxError),
    *(zipfile.BadZipFile, zlib.error, struct.error),
)


def file_path(name: str, data_home: str | os.PathLike[str] | None) -> Path | None:
    """Where the file should be, in `data_home` or ``TAMIS_DATA``; None if neither is given."""
    folder = os.environ.get("TAMIS_DATA") if data_home is None else data_home
    return Path(folder).expanduser() / f"{name}.npz" if folder else None


def read_arrays(path: Path) -> dict[str, Any]:
    """Read every array of an ``.npz`` file, the four of a CSR matrix joined as ``X``."""
    try:
        # Opened here and not by numpy, which leaves the handle open when the archive is damaged.
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        return _join_sparse(arrays)
    except UNREADABLE as error:
        reason = f"{type(error).__name__}: {error}"
        raise InputError(
            f"tamis.datasets.load: {path} must be a readable .npz data file, got {reason}. "
            "The file is truncated or damaged: copy it again, or remove it."
        ) from error


def computing_type(stored: np.dtype | str) -> np.dtype:
    """Float type that holds the stored values exactly."""
    stored = np.dtype(stored)
    if stored.kind == "f":
        return stored
    # float32 counts exactly up to 2**24, so it holds 16 bits but not 32.
    return np.dtype(np.float32 if stored.itemsize <= 2 else np.float64)


def _join_sparse(arrays: dict[str, Any]) -> dict[str, Any]:
    if "X" not in arrays:
        parts = [arrays.pop(part) for part in ("data", "indices", "indptr")]
        X = sparse.csr_array(tuple(parts), shape=tuple(arrays.pop("shape").tolist()))
        # Indices out of range would only crash later, in compiled code.
        X.check_format(full_check=True)
        arrays["X"] = X
    for name in ("X", "y"):
        if arrays[name].dtype.kind not in "biuf":
            raise TypeError(f"{name} holds {arrays[name].dtype}, not numbers")
    return arrays


# Copies of one table differ in their last printed digit (float32 files, ARFF text), never by more.
MAGNITUDE_TOLERANCE = 1e-4
ROWS_PER_BLOCK = 1024


def check_arrays(arrays: dict[str, Any], info: DatasetInfo, origin: str, remedy: str) -> None:
    """Raise if the arrays are not the data set of the catalogue, with `origin` and `remedy`."""
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
