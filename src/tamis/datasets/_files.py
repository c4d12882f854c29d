"""Read ``<name>.npz`` or download its OpenML twin, and compare the arrays with the catalogue."""

from __future__ import annotations

import logging
import math
import os
import shutil
import struct
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError

import numpy as np
from scipy import sparse
from sklearn.utils import Bunch

from tamis.datasets._catalogue import DatasetInfo
from tamis.exceptions import InputError

logger = logging.getLogger(__name__)

# What numpy, zipfile and zlib raise on a file that is truncated, altered or something else.
UNREADABLE = (
    *(OSError, EOFError, ValueError, KeyError, TypeError, RuntimeError, SyntaxError),
    *(zipfile.BadZipFile, zlib.error, struct.error),
)
NETWORK = (URLError, TimeoutError, ConnectionError, HTTPException)
ELSEWHERE = "set TAMIS_DATA to a folder that holds the file"
# Copies of one table differ in their last printed digit (float32 files, ARFF text), never by more.
MAGNITUDE_TOLERANCE = 1e-4
ROWS_PER_BLOCK = 1024


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


def cache_folder() -> Path:
    """Folder of downloads: ``TAMIS_CACHE``, else ``tamis`` in the user's cache."""
    if chosen := os.environ.get("TAMIS_CACHE"):
        return Path(chosen).expanduser()
    user_cache = os.environ.get("LOCALAPPDATA" if os.name == "nt" else "XDG_CACHE_HOME")
    return Path(user_cache or Path.home() / ".cache") / "tamis"


def fetch_arrays(info: DatasetInfo) -> dict[str, Any]:
    """Download the OpenML twin of a data set: ``X``, ``y`` in our coding, ``feature_names``."""
    assert info.openml is not None
    # One folder per set: what belongs to a bad download can be removed without knowing the layout.
    folder = cache_folder() / "openml" / info.name
    origin = f"OpenML data set {info.openml.data_id}"
    try:
        arrays = _to_arrays(_fetch_quietly(info.openml.data_id, folder), info, origin)
        # The MD5 sum that scikit-learn checks is OpenML's own, also of a replaced upload.
        check_arrays(arrays, info, origin, f"OpenML may have replaced it: {ELSEWHERE}.")
        return arrays
    except NETWORK as error:
        if isinstance(error, HTTPError):
            error.close()
        raise InputError(
            f"tamis.datasets.load: {info.name!r} must come from {origin}, which could not be "
            f"reached: {error}. Try again with a network, or {ELSEWHERE}."
        ) from error
    except InputError:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    except Exception as error:
        # Anything: the exceptions of scikit-learn's ARFF reader and of its check sum have no
        # public name. Whatever it was, the files in the cache can no longer be trusted.
        shutil.rmtree(folder, ignore_errors=True)
        raise InputError(
            f"tamis.datasets.load: {origin} must be downloaded into {folder} as published, got "
            f"{type(error).__name__}: {error}. The download was removed: try again, choose "
            f"another folder with TAMIS_CACHE, or {ELSEWHERE}."
        ) from error


def _fetch_quietly(data_id: int, folder: Path) -> Bunch:
    # Imported here: sklearn.datasets is slow to import and rarely needed.
    from sklearn.datasets import fetch_openml

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        bunch = fetch_openml(
            data_id=data_id, data_home=str(folder), as_frame=False, parser="liac-arff"
        )
    # They tell of retries and renewed files: progress, for the log.
    for warning in caught:
        logger.info("OpenML data set %d: %s", data_id, warning.message)
    return bunch


def _to_arrays(bunch: Bunch, info: DatasetInfo, origin: str) -> dict[str, Any]:
    assert info.openml is not None
    name = bunch.details["name"]
    if name.lower() != info.openml.name.lower():
        raise InputError(
            f"tamis.datasets.load: {origin} must be named {info.openml.name!r}, got {name!r}: "
            f"OpenML has changed. Please report it, and {ELSEWHERE}."
        )
    X = _decode_categories(bunch.data, bunch.feature_names, bunch.categories or {})
    return {
        "X": X.astype(computing_type(info.stored)),
        "y": _translate(bunch.target, info, origin),
        "feature_names": np.asarray(bunch.feature_names, dtype=str),
    }


def _decode_categories(
    X: np.ndarray, names: Sequence[str], categories: dict[str, Any]
) -> np.ndarray:
    """Put back the numbers of nominal columns, which scikit-learn replaces by their position."""
    X = X.copy()
    for name, values in categories.items():
        column = X[:, names.index(name)]
        known = ~np.isnan(column)
        column[known] = np.asarray(values, dtype=float)[column[known].astype(int)]
    return X


def _translate(labels: np.ndarray, info: DatasetInfo, origin: str) -> np.ndarray:
    texts, codes, counts = np.unique(labels.astype(str), return_inverse=True, return_counts=True)
    assert info.openml is not None
    assert info.classes is not None
    known = info.openml.labels
    if known is None:
        by_count = {count: label for label, count in info.classes.items()}
        known = {
            text: by_count[count]
            for text, count in zip(texts.tolist(), counts.tolist(), strict=True)
            if count in by_count
        }
    if strange := sorted(set(texts.tolist()) - set(known)):
        raise InputError(
            f"tamis.datasets.load: the classes of {origin} must be those of {info.name!r}, "
            f"{info.classes!r}, got also {strange!r}: OpenML may have replaced it. "
            f"Please report it, and {ELSEWHERE}."
        )
    return np.array([known[text] for text in texts], dtype=np.int8)[codes]
