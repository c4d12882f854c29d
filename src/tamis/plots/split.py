"""SplitDisplay: the loss of one column against the position of its cut."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

from tamis.plots._display import RED, Display, finish


@dataclass(eq=False, repr=False)
class SplitDisplay(Display):
    """Loss of one column for every candidate cut, and the best of them.

    Parameters
    ----------
    thresholds : array-like of shape (n_bins - 1,)
        Candidate cuts.
    losses : array-like of shape (n_bins - 1,)
        Loss of each.
    base : float
        Loss without a cut.
    feature : str
        Name of the column.
    unit : str, default="loss"
        What the loss is, for the axis.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamis import DFT
    >>> from tamis.plots import SplitDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> display = SplitDisplay.from_estimator(DFT().fit(X, y), X, y, feature=3)
    >>> display.best
    (0.7, 0.66)
    """

    thresholds: Any
    losses: Any
    _: KW_ONLY
    base: float
    feature: str
    unit: str = "loss"

    def __post_init__(self) -> None:
        self._store_floats("thresholds", "losses")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        feature: int | str,
        sample_weight: Any = None,
        ax: Any = None,
    ) -> SplitDisplay:
        """Draw the losses of one column under the settings of a fitted DFT or RFT.

        Parameters
        ----------
        estimator : DFT or RFT
            Fitted.
        X, y, sample_weight : array-like
            The data it was fitted on, which it does not keep.
        feature : int or str
            Index or name of the column.
        ax : matplotlib Axes or None, default=None
            Where to draw; ``None`` makes a new figure.
        """
        curve = estimator.loss_curve(X, y, feature=feature, sample_weight=sample_weight)
        names = {"base": curve.base, "feature": curve.feature, "unit": curve.unit}
        return cls(curve.thresholds, curve.losses, **names).plot(ax=ax)

    @property
    def best(self) -> tuple[float, float]:
        """Best cut and its loss."""
        at = int(self.losses.argmin())
        return float(self.thresholds[at]), float(self.losses[at])

    def _draw(self, ax: Any) -> None:
        threshold, loss = self.best
        ax.axhline(self.base, color="0.6", linestyle=":", linewidth=1.1, label="without a cut")
        ax.plot(self.thresholds, self.losses, color="0.25", marker="o", markersize=3.5)
        ax.plot([threshold], [loss], color=RED, marker="o", linestyle="none",
                label=f"best cut: {threshold:.4g}, loss {loss:.4g}")  # fmt: skip
        ax.set(xlabel="cut", ylabel=self.unit)
        finish(ax, f"Loss of {self.feature}".replace("$", r"\$"), "best")
