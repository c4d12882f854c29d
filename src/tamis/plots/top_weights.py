"""TopWeightsDisplay: the columns that OFW draws most often, and how sure that is."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._validation import Number, check_value
from tamis.data import checks
from tamis.exceptions import InputError
from tamis.plots._display import BLUE, FittedDisplay, Floats, column_names, largest, short_label


@dataclass(eq=False, repr=False)
class TopWeightsDisplay(FittedDisplay):
    """Largest weights as bars, with their spread over restarts and their cumulative mass.

    The percentage behind a bar is the share of all weight that this column and those above it
    hold together; a `Mass` cut keeps columns up to a share. `from_estimator` takes a fitted OFW, or
    anything with `weights_` that are not negative.

    Parameters
    ----------
    weights : array-like of shape (n_columns,)
        Of all columns, not negative.
    spread : array-like of shape (n_columns,) or None, default=None
        Standard deviation of the weights; drawn where not 0.
    names : sequence of str or None, default=None
        Names of all columns; ``None`` is x0, x1, ...
    n_features : int, default=15
        Number of columns to show.
    name : str or None, default=None
        Name of the method, for the title.

    Examples
    --------
    >>> from tamis.plots import TopWeightsDisplay
    >>> display = TopWeightsDisplay([0.1, 0.6, 0.3], names=["age", "dose", "site"])
    >>> display.shown, display.mass
    (array([1, 2, 0]), array([0.6, 0.9, 1. ]))
    """

    weights: Any
    spread: Any = None
    names: Any = None
    _: KW_ONLY
    n_features: int = 15
    name: str | None = None

    _needs = "weights_", "OFW", "which has no weights"

    def __post_init__(self) -> None:
        who = type(self).__name__
        check_value(self.n_features, Number(int, low=1), who=who, name="n_features")
        if self.spread is None:
            self.spread = np.zeros(np.shape(self.weights))
        self._store_floats("weights", "spread")
        if self.weights.ndim != 1 or not (self.weights >= 0).all() or not self.weights.any():
            raise InputError(
                f"{who}: expected one weight per column, none negative and one positive, got "
                f"{self.weights!r}. Pass weights_ of a fitted OFW."
            )
        if self.spread.shape != self.weights.shape:
            raise InputError(
                f"{who}: expected a spread for each of {self.weights.size} weights, got shape "
                f"{self.spread.shape}."
            )
        self.names = column_names(self.names, self.weights.size)

    @classmethod
    def _read(cls, estimator: Any) -> dict[str, Any]:
        return {
            "weights": estimator.weights_,
            "spread": getattr(estimator, "weights_spread_", None),
            "names": checks.names_of(estimator),
        }

    @property
    def shown(self) -> NDArray[np.intp]:
        """The columns that are drawn: those with the largest weights, largest first."""
        return largest(self.weights, self.n_features)

    @property
    def mass(self) -> Floats:
        """Share of all weight that each of them and those before hold together."""
        return np.cumsum(self.weights[self.shown]) / self.weights.sum()

    @property
    def _size(self) -> tuple[float, float]:  # type: ignore[override]
        return 7.0, max(4.2, 1.1 + 0.22 * self.shown.size)  # every bar needs room for its name

    def _draw(self, ax: Any) -> None:
        values, spread = self.weights[self.shown], self.spread[self.shown]
        rows = np.arange(values.size)
        ax.barh(rows, values, height=0.72, color=BLUE)
        if spread.any():
            ax.errorbar(values, rows, xerr=(np.minimum(spread, values), spread), fmt="none",
                        ecolor="0.2", elinewidth=1.0, capsize=2.5)  # fmt: skip
        for row, (end, mass) in enumerate(zip(values + spread, self.mass, strict=True)):
            ax.annotate(f"{mass:.0%}", (end, row), (5, 0), textcoords="offset points", va="center",
                        fontsize="small", color="0.35",
                        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6})  # fmt: skip
        uniform = self.weights.sum() / max(1, int((self.weights > 0).sum()))
        ax.axvline(uniform, color="0.4", linestyle=":", linewidth=1.3, zorder=0.5)
        labels = [short_label(self.names[column]) for column in self.shown]
        ax.set_yticks(rows, labels, fontsize="small" if rows.size > 8 else "medium")
        ax.set_ylim(rows.size - 0.4, -0.6)
        ax.set_xlim(0.0, 1.12 * float((values + spread).max()))
        note = "; lines: deviation over restarts" if spread.any() else ""
        ax.set_xlabel(f"weight (dotted: all equal{note})")
        ax.set_title(f"Largest weights of {self.name or 'OFW'}, and the share they hold together")
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.tick_params(axis="y", length=0)
