"""KnockoffDisplay: how far every feature is ahead of its knockoff copy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tamis.plots._display import (
    BLUE,
    RED,
    FittedDisplay,
    check_has,
    column_names,
    finish,
    short_label,
)

N_NAMED = 8


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

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        Set by :meth:`plot`.

    Examples
    --------
    >>> from tamis.plots import KnockoffDisplay
    >>> display = KnockoffDisplay([0.1, 2.0, -0.4, 1.5], threshold=1.5)
    >>> display.order
    array([1, 3, 2, 0])
    """

    def __init__(
        self,
        statistics: ArrayLike,
        *,
        threshold: float = np.inf,
        names: Sequence[str] | None = None,
        most: int = 40,
    ):
        self.statistics = np.asarray(statistics, dtype=np.float64)
        self.threshold = float(threshold)
        self.names = column_names(names, self.statistics.size)
        self.most = most

    @classmethod
    def _read(cls, estimator: Any) -> dict[str, Any]:
        check_has(
            estimator, "e_values_", "KnockoffDisplay", "selector with knockoffs", "which has none"
        )
        details, ranking = estimator.cut_details_, estimator.ranking_record()
        return {
            "statistics": details["W"][0],
            "threshold": details["thresholds"][0],
            "names": [ranking.name(j) for j in range(ranking.n_columns)],
        }

    @property
    def order(self) -> Any:
        """Indices of the features drawn, largest size first."""
        return np.argsort(-np.abs(self.statistics), kind="stable")[: self.most]

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
