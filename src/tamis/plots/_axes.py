"""The one place that imports matplotlib."""

from __future__ import annotations

from typing import Any

from tamis.exceptions import MissingDependencyError


def new_axes(ax: Any = None) -> Any:
    """Axes to draw on: those given, or those of a new figure."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingDependencyError(
            "tamis.plots: expected matplotlib to be installed, got an ImportError. Run "
            "pip install 'tamis[plot]'."
        ) from error
    return plt.subplots(figsize=(7, 4.2), layout="constrained")[1]
