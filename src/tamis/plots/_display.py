"""What all displays share: axes to draw on, checks of estimators, names beside lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression
from sklearn.utils.validation import check_is_fitted

from tamis.exceptions import InputError, MissingDependencyError

Floats = NDArray[np.float64]
BLUE, RED = "#4a7fb5", "#c0504d"
LONGEST_NAME = 24


class Display:
    """Base of the displays: the constructor stores numbers, `_draw` of a subclass draws them."""

    ax_: Any
    figure_: Any
    _size = 7.0, 4.2  # width and height of a new figure, in inches

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on a new figure.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw.
        """
        return self._drawn(ax, self._draw)

    def _draw(self, ax: Any) -> None:
        raise NotImplementedError

    def _drawn(self, ax: Any, draw: Callable[[Any], None]) -> Self:
        if ax is None:
            try:
                import matplotlib.pyplot as plt
            except ImportError as error:
                raise MissingDependencyError(
                    "tamis.plots: expected matplotlib to be installed, got an ImportError. Run "
                    "pip install 'tamis[plot]'."
                ) from error
            ax = plt.subplots(figsize=self._size, layout="constrained")[1]
        draw(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self


class FittedDisplay(Display):
    """A display of what a fitted estimator keeps; a subclass also writes `_read`."""

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **options: Any) -> Self:
        """Draw what a fitted estimator found.

        Parameters
        ----------
        estimator : estimator
            Fitted, of a kind that the display is made for.
        ax : matplotlib Axes or None, default=None
            Where to draw; ``None`` makes a new figure.
        **options
            Parameters of the display that do not come from the estimator.
        """
        return cls(**{**cls._read(estimator), **options}).plot(ax=ax)

    @classmethod
    def _read(cls, estimator: Any) -> dict[str, Any]:
        """Parameters of the display, taken from the estimator."""
        raise NotImplementedError


def finish(ax: Any, title: str, legend: str | None = None) -> None:
    """Title, no frame at the top and the right, and a legend at a place if there is one."""
    ax.set_title(title)
    ax.spines[["top", "right"]].set_visible(False)
    if legend is not None and ax.get_legend_handles_labels()[0]:
        ax.legend(frameon=False, loc=legend)


def check_has(estimator: Any, attribute: str, who: str, expected: str, lacks: str) -> str:
    """Name of the class of a fitted estimator; an error if it lacks what is drawn."""
    check_is_fitted(estimator)
    name = type(estimator).__name__
    if getattr(estimator, attribute, None) is None:
        raise InputError(
            f"{who}: expected a fitted {expected}, got {name}, {lacks}. Use ScoreCurveDisplay."
        )
    return name


def details_of(estimator: Any, key: str, who: str, rule: str) -> Any:
    """What the rule of a fitted selector found; an error if it was another rule."""
    check_is_fitted(estimator)
    details = getattr(estimator, "cut_details_", {})
    if key not in details:
        raise InputError(
            f"{who}: expected a selector fitted with {rule}, got {type(estimator).__name__} with "
            f"another rule. Call recut({rule}(), X, y)."
        )
    return details


def column_names(names: Sequence[str] | None, n_columns: int) -> list[str]:
    """Names of all columns; x0, x1, ... if there are none."""
    return [f"x{j}" for j in range(n_columns)] if names is None else [str(name) for name in names]


def short_label(name: str, longest: int = LONGEST_NAME) -> str:
    """Name for a picture: not too long, and no mathematics."""
    short = name if len(name) <= longest else name[: longest - 1] + "…"
    return short.replace("$", r"\$")


def label_lines(ax: Any, heights: Floats, names: Sequence[str]) -> None:
    """Names right of the axes at heights from 0 to 1, moved apart where they would overlap."""
    for k, (height, place) in enumerate(zip(heights, places_of(heights), strict=True)):
        ax.annotate(
            short_label(names[k]), (1.0, height), (1.06, place),
            xycoords="axes fraction", textcoords="axes fraction", color=f"C{k % 10}",
            va="center", fontsize="small", annotation_clip=False,
            arrowprops={
                "arrowstyle": "-", "color": "0.75", "linewidth": 0.7, "shrinkA": 0,
                "shrinkB": 0, "relpos": (0.0, 0.5),
            },
        )  # fmt: skip


def places_of(heights: Floats, gap: float = 0.055) -> Floats:
    """Nearest places at least `gap` apart, in the same order, none outside of the axes."""
    if not heights.size:
        return heights
    gap = min(gap, 0.98 / heights.size)
    order = np.argsort(heights, kind="stable")
    steps = gap * np.arange(heights.size)
    # Without the gaps the places must not fall.
    level = isotonic_regression(heights[order] - steps).x
    places = np.empty_like(heights)
    # Least squares between two bounds is that without them, cut off at the bounds.
    places[order] = np.clip(level, 0.01, 0.99 - steps[-1]) + steps
    return places
