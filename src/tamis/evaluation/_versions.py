"""Versions of everything that results may depend on."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("tamis", "numpy", "scipy", "scikit-learn", "numba")


def versions() -> dict[str, str]:
    """Version of Python and of the packages that compute; "unknown" where there is none."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "unknown"
    return found
