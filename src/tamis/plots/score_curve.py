"""ScoreCurveDisplay: sorted scores, their elbows and the cut."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from tamis.cutoff import find_elbows
from tamis.plots._display import BLUE, RED, FittedDisplay, finish

LOOKS = ("early", "late"), ("-", "--")  # names and lines of the elbows


@dataclass(eq=False, repr=False)
class ScoreCurveDisplay(FittedDisplay):
    """Scores of the columns, best first, with the early and late elbow and the cut.

    `from_estimator` takes any fitted selector.

    Parameters
    ----------
    scores : array-like of shape (n_columns,)
        In descending order.
    n_selected : int or None, default=None
        How many columns were selected.
    elbows : pair of int or None, default=None
        Number of columns before the early and the late elbow.
    name : str or None, default=None
        Name of the method, for the title.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from tamis import DFT
    >>> from tamis.plots import ScoreCurveDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> display = ScoreCurveDisplay.from_estimator(DFT().fit(X, y))
    >>> display.elbows
    (11, 15)
    """

    scores: Any
    _: KW_ONLY
    n_selected: int | None = None
    elbows: tuple[int, int] | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        self._store_floats("scores")

    @classmethod
    def _read(cls, estimator: Any) -> dict[str, Any]:
        ranking = estimator.ranking_record()
        return {
            "scores": ranking.scores[ranking.order],
            "n_selected": estimator.n_selected_,
            "elbows": find_elbows(ranking.curve),
        }

    def _draw(self, ax: Any) -> None:
        ranks = np.arange(1, self.scores.size + 1)
        marker = "o" if self.scores.size <= 60 else None
        ax.plot(ranks, self.scores, color="0.25", marker=marker, markersize=3.5, linewidth=1.4)
        if self.n_selected:
            ax.axvspan(0.5, self.n_selected + 0.5, color=BLUE, alpha=0.15, linewidth=0,
                       label=f"selected: {self.n_selected}")  # fmt: skip
        for count, label, style in zip(self.elbows or (), *LOOKS, strict=False):
            ax.axvline(count + 0.5, color=RED, linestyle=style, linewidth=1.1,
                       label=f"{label} elbow: {count}")  # fmt: skip
        ax.set(xlabel="rank", ylabel="score", xlim=(0.5, self.scores.size + 0.5))
        finish(ax, f"Sorted scores of {self.name}" if self.name else "Sorted scores", "best")
