"""KnockoffDisplay: how far every feature is ahead of its knockoff copy."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from tamis.data import checks
from tamis.plots._display import (
    BLUE,
    RED,
    FittedDisplay,
    column_names,
    finish,
    largest,
    short_label,
)

N_NAMED = 8


@dataclass(eq=False, repr=False)
class KnockoffDisplay(FittedDisplay):
    """Statistics W of the features, largest size first, with the threshold.

    W is the importance of a feature less that of its copy. Features that do not matter are ahead of
    or behind their copies by chance, with equal probability: the negative ones show how many of the
    positive ones are by chance. Those at or above the threshold are selected.

    Parameters
    ----------
    statistics : array-like of shape (n_features,)
        W of every feature, of one copy; `from_estimator` takes the first.
    threshold : float, default=inf
        Smallest W that is selected; infinite if nothing is.
    names : sequence of str or None, default=None
        Names of the features; those of the largest W are shown.
    most : int, default=40
        Number of features drawn, those of the largest size.

    Examples
    --------
    >>> from tamis.plots import KnockoffDisplay
    >>> display = KnockoffDisplay([0.1, 2.0, -0.4, 1.5], threshold=1.5)
    >>> display.order
    array([1, 3, 2, 0])
    """

    statistics: Any
    _: KW_ONLY
    threshold: float = np.inf
    names: Any = None
    most: int = 40

    _needs = "e_values_", "selector with knockoffs", "which has none"

    def __post_init__(self) -> None:
        self._store_floats("statistics")
        self.threshold = float(self.threshold)
        self.names = column_names(self.names, self.statistics.size)

    @classmethod
    def _read(cls, estimator: Any) -> dict[str, Any]:
        details = estimator.cut_details_
        return {
            "statistics": details["W"][0],
            "threshold": details["thresholds"][0],
            "names": checks.names_of(estimator),
        }

    @property
    def order(self) -> Any:
        """Indices of the features drawn, largest size first."""
        return largest(np.abs(self.statistics), self.most)

    def _draw(self, ax: Any) -> None:
        drawn = self.statistics[self.order]
        chosen = drawn >= self.threshold
        places = np.arange(1, drawn.size + 1)
        for mask, color, label in (
            (chosen, BLUE, f"selected: {int((self.statistics >= self.threshold).sum())}"),
            (~chosen & (drawn >= 0), "0.6", "ahead of the copy"),
            (drawn < 0, RED, "behind the copy"),
        ):
            if mask.any():
                ax.vlines(places[mask], 0, drawn[mask], color=color, linewidth=1.6, label=label)
        for place in np.flatnonzero(chosen)[:N_NAMED]:
            ax.annotate(
                short_label(self.names[self.order[place]]), (places[place], drawn[place]), (0, 3),
                textcoords="offset points", rotation=90, fontsize="small", ha="center",
            )  # fmt: skip
        if np.isfinite(self.threshold):
            ax.axhline(self.threshold, color="0.25", linestyle="--", linewidth=1)
            ax.axhline(-self.threshold, color="0.25", linestyle=":", linewidth=1)
        ax.axhline(0, color="0.25", linewidth=0.8)
        ax.set(xlabel="features, largest |W| first", ylabel="W: feature less copy")
        ax.margins(y=0.18)
        n = self.statistics.size
        shown = f", {drawn.size:,} of {n:,} shown" if drawn.size < n else ""
        finish(ax, f"Features against their knockoff copies{shown}", "upper right")
