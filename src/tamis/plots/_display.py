"""What all displays share: axes to draw on, checks of estimators, names beside lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression
from sklearn.utils.validation import check_is_fitted

from tamis.exceptions import InputError, MissingDependencyError

Floats = NDArray[np.float64]
BLUE, RED = "#4a7fb5", "#c0504d"
LONGEST_NAME = 24


class Display:
    """Base of the displays: fields of a dataclass hold what `_draw` of the subclass draws."""

    ax_: Any
    figure_: Any
    _size = 7.0, 4.2  # width and height of a new figure, in inches

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on a new figure; sets `ax_` and `figure_`, which were drawn on.

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

    def _store_floats(self, *names: str) -> None:
        for name in names:
            setattr(self, name, np.asarray(getattr(self, name), dtype=np.float64))


class FittedDisplay(Display):
    """A display of what a fitted estimator keeps; a subclass also writes `_read`."""

    # What `check_has` asks for, or the key of `cut_details_` that a rule leaves, and the rule.
    _needs: ClassVar[tuple[str, str, str] | None] = None
    _rule: ClassVar[tuple[str, str] | None] = None

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
        if cls._needs is not None:
            check_has(estimator, cls.__name__, *cls._needs)
        if cls._rule is not None:
            check_rule(estimator, cls.__name__, *cls._rule)
        name = {"name": type(estimator).__name__} if hasattr(cls, "name") else {}
        return cls(**{**cls._read(estimator), **name, **options}).plot(ax=ax)

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


def check_has(estimator: Any, who: str, attribute: str, expected: str, lacks: str) -> None:
    """Raise unless an estimator is fitted and has the attribute that is drawn."""
    check_is_fitted(estimator)
    if getattr(estimator, attribute, None) is None:
        raise InputError(
            f"{who}: expected a fitted {expected}, got {type(estimator).__name__}, {lacks}. Use "
            "ScoreCurveDisplay."
        )


def check_rule(estimator: Any, who: str, key: str, rule: str) -> None:
    """Raise unless a selector is fitted with the rule whose findings are drawn."""
    check_is_fitted(estimator)
    if key not in getattr(estimator, "cut_details_", {}):
        raise InputError(
            f"{who}: expected a selector fitted with {rule}, got {type(estimator).__name__} with "
            f"another rule. Call recut({rule}(), X, y)."
        )


def column_names(names: Sequence[str] | None, n_columns: int) -> list[str]:
    """Names of all columns; x0, x1, ... if there are none."""
    return [f"x{j}" for j in range(n_columns)] if names is None else [str(name) for name in names]


def largest(values: Floats, count: int) -> NDArray[np.intp]:
    """Indices of the largest values, largest first; of equal ones the lower index."""
    return np.argsort(-values, kind="stable")[:count]


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
