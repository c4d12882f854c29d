"""Download a data set from OpenML, check it, and leave nothing bad in the cache."""

from __future__ import annotations

import logging
import os
import shutil
import warnings
from collections.abc import Sequence
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError

import numpy as np
from sklearn.utils import Bunch

from tamis.datasets._catalogue import DatasetInfo
from tamis.datasets._files import check_arrays, computing_type
from tamis.exceptions import InputError

logger = logging.getLogger(__name__)

NETWORK = (URLError, TimeoutError, ConnectionError, HTTPException)
ELSEWHERE = "set TAMIS_DATA to a folder that holds the file"


def cache_folder() -> Path:
    """Folder of downloads: ``TAMIS_CACHE``, else ``tamis`` in the user's cache."""
    if chosen := os.environ.get("TAMIS_CACHE"):
        return Path(chosen).expanduser()
    user_cache = os.environ.get("LOCALAPPDATA" if os.name == "nt" else "XDG_CACHE_HOME")
    return Path(user_cache or Path.home() / ".cache") / "tamis"


def fetch_arrays(info: DatasetInfo) -> dict[str, Any]:
    """Download the OpenML twin of a data set: ``X``, ``y`` in our coding, ``feature_names``.

    scikit-learn compares the file with the MD5 sum that OpenML publishes, tries again after a
    network error, and keeps the file. The sum is OpenML's own, so it does not tell a replaced
    upload from the one we know: the comparison with the catalogue does.
    """
    # One folder per set: what belongs to a bad download can be removed without knowing the layout.
    assert info.openml is not None
    folder = cache_folder() / "openml" / info.name
    origin = f"OpenML data set {info.openml.data_id}"
    try:
        arrays = _to_arrays(_fetch_quietly(info.openml.data_id, folder), info, origin)
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
