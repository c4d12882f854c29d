"""QualityMapDisplay: how well the properties of features predict their quality."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from tamis._validation import Choice, check_value
from tamis.exceptions import InputError
from tamis.plots._display import BLUE, FittedDisplay, Floats, finish


@dataclass(eq=False, repr=False)
class QualityMapDisplay(FittedDisplay):
    """Predicted against measured quality of features.

    ``"scatter"`` draws a point for each feature and tells the correlation. ``"top"`` draws the
    mean measured quality of the best ``k`` features, ranked by prediction and ranked by
    measurement: the nearer the two lines, the less is lost by not measuring. The dashed line is
    what features drawn at random have.

    `from_estimator` takes a fitted QualityMap, or an MFPFS, of which it draws the map of the last
    round, with the cross-validated predictions.

    Parameters
    ----------
    measured : array-like of shape (n_features,)
        Measured quality.
    predicted : array-like of shape (n_features,)
        Quality predicted by a map that has not seen the feature.
    kind : {"scatter", "top"}, default="scatter"
        What to draw.

    Examples
    --------
    >>> from tamis.plots.quality_map import QualityMapDisplay
    >>> display = QualityMapDisplay([4.0, 1.0, 2.0], [3.0, 1.0, 4.0])
    >>> round(display.correlation, 2)
    0.5
    >>> display.top_by_prediction, display.top_by_measurement
    (array([2. , 3. , 2.33]), array([4. , 3. , 2.33]))
    """

    measured: Any
    predicted: Any
    _: KW_ONLY
    kind: str = "scatter"

    def __post_init__(self) -> None:
        self._store_floats("measured", "predicted")
        if self.measured.shape != self.predicted.shape or self.measured.ndim != 1:
            raise InputError(
                "QualityMapDisplay: expected measured and predicted of one length, got shapes "
                f"{self.measured.shape} and {self.predicted.shape}."
            )
        if not self.measured.size or not np.isfinite([self.measured, self.predicted]).all():
            raise InputError(
                "QualityMapDisplay: expected at least one feature and finite qualities, got "
                f"{self.measured.size} features."
            )
        check_value(self.kind, Choice(("scatter", "top")), who="QualityMapDisplay", name="kind")

    @classmethod
    def _read(cls, estimator: Any) -> dict[str, Any]:
        check_is_fitted(estimator)
        quality_map = getattr(estimator, "quality_map_", estimator)
        if not hasattr(quality_map, "predicted_"):
            raise InputError(
                "QualityMapDisplay: expected a fitted QualityMap, or an MFPFS that had something "
                f"to choose, got {type(estimator).__name__}."
            )
        return {"measured": quality_map.quality_, "predicted": quality_map.predicted_}

    @property
    def correlation(self) -> float:
        """Pearson's correlation, 0 if one side is constant."""
        if np.ptp(self.measured) == 0 or np.ptp(self.predicted) == 0:
            return 0.0
        return float(np.corrcoef(self.measured, self.predicted)[0, 1])

    @property
    def top_by_prediction(self) -> Floats:
        """Mean measured quality of the k features with the highest prediction, k from 1 on."""
        return self._top(self.predicted)

    @property
    def top_by_measurement(self) -> Floats:
        """Mean measured quality of the k best features: no ranking has more."""
        return self._top(self.measured)

    def _top(self, by: Floats) -> Floats:
        order = np.argsort(-by, kind="stable")
        return np.cumsum(self.measured[order]) / np.arange(1, by.size + 1)

    def _draw(self, ax: Any) -> None:
        if self.kind == "top":
            self._draw_top(ax)
            return
        size = 22 if self.measured.size <= 300 else 8
        ax.scatter(self.measured, self.predicted, s=size, color=BLUE, alpha=0.6, linewidth=0)
        # The diagonal, over what both axes show.
        low = min(self.measured.min(), self.predicted.min())
        high = max(self.measured.max(), self.predicted.max())
        ax.plot([low, high], [low, high], color="0.6", linewidth=0.8, linestyle="--")
        ax.set(xlabel="measured quality", ylabel="predicted quality")
        finish(ax, f"{self.measured.size:,} features: correlation {self.correlation:.2f}")

    def _draw_top(self, ax: Any) -> None:
        count = np.arange(1, self.measured.size + 1)
        ax.plot(count, self.top_by_measurement, color="0.15", linewidth=1.4, label="by measurement")
        ax.plot(count, self.top_by_prediction, color=BLUE, linewidth=1.6,
                label="by prediction")  # fmt: skip
        ax.axhline(self.measured.mean(), color="0.6", linewidth=0.8, linestyle="--", label="random")
        ax.set(xlabel="k top ranked features", ylabel="mean measured quality")
        finish(ax, "Mean quality of the top ranked features", "best")
