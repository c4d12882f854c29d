"""Values as strict JSON can hold them, and the versions that belong in every record."""

from __future__ import annotations

import math
import platform
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """A value as strict JSON can hold it; NaN and infinity become None, other objects their repr.

    >>> plain({"cut": np.array([1.5, np.nan]), 2: (True, "x")})
    {'cut': [1.5, None], '2': [True, 'x']}
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    return repr(value)


PACKAGES = ("tamis", "numpy", "scipy", "scikit-learn", "numba")


def versions(packages: Iterable[str] = PACKAGES) -> dict[str, str]:
    """Versions of Python and of the packages that compute; "unknown" where there is none."""
    found = {"python": platform.python_version()}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "unknown"
    return found
