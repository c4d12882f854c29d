"""ShadowDisplay: scores of the features over all rounds, beside those of their shadows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from tamis.exceptions import InputError
from tamis.plots._display import (
    BLUE,
    RED,
    FittedDisplay,
    column_names,
    finish,
    largest,
    short_label,
)

COLORS = {"confirmed": BLUE, "tentative": "#e0b040", "rejected": RED, "shadow": "0.6"}


@dataclass(eq=False, repr=False)
class ShadowDisplay(FittedDisplay):
    """Box plot of the scores of the best features and of the shadows (Boruta's plot).

    Parameters
    ----------
    scores : array-like of shape (n_rounds, n_features)
        Scores in every round.
    shadow_scores : array-like of shape (n_rounds, 3)
        The least, the mean and the best score of the shadows.
    status : sequence of str
        "confirmed", "tentative" or "rejected", for every feature.
    names : sequence of str or None, default=None
        Names of the features.
    most : int, default=20
        Number of features drawn, those of the largest median.

    Examples
    --------
    >>> from tamis.plots import ShadowDisplay
    >>> display = ShadowDisplay(
    ...     [[3.0, 0.2], [2.5, 0.4]], [[0.0, 0.1, 0.5], [0.0, 0.2, 0.6]], ["confirmed", "rejected"]
    ... )
    >>> display.order
    array([0, 1])
    """

    scores: Any
    shadow_scores: Any
    status: Sequence[str]
    _: KW_ONLY
    names: Any = None
    most: int = 20

    _rule = "score_history", "Shadows"

    def __post_init__(self) -> None:
        self._store_floats("scores", "shadow_scores")
        self.status = [str(word) for word in self.status]
        n_rounds, n_features = self.scores.shape
        if self.shadow_scores.shape != (n_rounds, 3) or len(self.status) != n_features:
            raise InputError(
                f"ShadowDisplay: expected shadow_scores of shape ({n_rounds}, 3) and {n_features} "
                f"words in status, got {self.shadow_scores.shape} and {len(self.status)}."
            )
        self.names = column_names(self.names, n_features)

    @classmethod
    def _read(cls, estimator: Any) -> dict[str, Any]:
        details, ranking = estimator.cut_details_, estimator.ranking_record()
        features = details["history_features"]
        return {
            "scores": details["score_history"],
            "shadow_scores": details["shadow_scores"],
            "status": details["status"][features],
            "names": [ranking.name(int(j)) for j in features],
        }

    @property
    def order(self) -> Any:
        """Indices of the features drawn, largest median first."""
        return largest(np.median(self.scores, axis=0), self.most)

    def _draw(self, ax: Any) -> None:
        words = ["least shadow", "mean shadow", "best shadow"]
        columns = [*self.shadow_scores.T, *self.scores[:, self.order].T]
        kinds = ["shadow"] * 3 + [self.status[j] for j in self.order]
        labels = words + [short_label(self.names[j]) for j in self.order]
        by_median = np.argsort([np.median(column) for column in columns], kind="stable")
        boxes = ax.boxplot(
            [columns[k] for k in by_median], orientation="horizontal", patch_artist=True,
            widths=0.7, flierprops={"markersize": 2}, medianprops={"color": "0.15"},
        )  # fmt: skip
        for box, k in zip(boxes["boxes"], by_median, strict=True):
            box.set_facecolor(COLORS[kinds[k]])
        for kind in dict.fromkeys(kinds):
            ax.plot([], [], "s", color=COLORS[kind], label=kind)
        ax.set_yticks(np.arange(1, by_median.size + 1), [labels[k] for k in by_median])
        ax.set(xlabel="score")
        finish(ax, f"Scores in {len(self.scores)} rounds, features and shadows", "lower right")

    @property
    def _size(self) -> tuple[float, float]:  # type: ignore[override]
        return 7.0, 1.4 + 0.24 * (min(self.most, self.scores.shape[1]) + 3)
