"""Warnings that point at the line of the user who can do something about them."""

from __future__ import annotations

import sys
import warnings

from tamis.exceptions import SelectionWarning

_INSIDE = ("tamis", "sklearn", "joblib", "contextlib", "functools")


def warn(message: str, category: type[Warning] = SelectionWarning) -> None:
    """Warn as if from the first line outside Tamis and scikit-learn."""
    level = 2
    frame = sys._getframe(1)
    while frame.f_back is not None and _package(frame) in _INSIDE:
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level)


def _package(frame: object) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]  # type: ignore[attr-defined]
