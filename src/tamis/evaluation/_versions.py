"""Versions of everything that results may depend on."""

from __future__ import annotations

from tamis.manifest import _plain

PACKAGES = ("tamis", "numpy", "scipy", "scikit-learn", "numba")


def versions() -> dict[str, str]:
    """Version of Python and of the packages that compute; "unknown" where there is none."""
    return _plain.versions(PACKAGES)
