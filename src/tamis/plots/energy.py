"""EnergyDisplay: how the error of OFW fell while it learned."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from tamis.exceptions import InputError
from tamis.plots._display import BLUE, FittedDisplay, Floats, finish

# Share of the points that the line drawn on top averages over.
SMOOTH = 0.05


@dataclass(eq=False, repr=False)
class EnergyDisplay(FittedDisplay):
    """Mean error of the classifiers that OFW trained, against how many there were.

    Each point is the mean over some evaluations, with a band of one standard error. The line on
    top, drawn if there are many, averages over a twentieth of the points. While it falls, more
    evaluations will help. `from_estimator` takes a fitted OFW.

    Parameters
    ----------
    evaluations : array-like of shape (n_points,)
        Evaluations up to each point, ascending.
    energy : array-like of shape (n_points,)
        Mean error of the evaluations since the point before.
    energy_error : array-like of shape (n_points,) or None, default=None
        Standard errors of the means.
    log_x : bool, default=False
        Logarithmic axis of the evaluations.
    name : str or None, default=None
        Name of the method, for the title.

    Examples
    --------
    >>> from tamis.plots import EnergyDisplay
    >>> display = EnergyDisplay([200, 400, 600], [0.4, 0.3, 0.2], [0.02, 0.02, 0.01])
    >>> display.ends
    (0.4, 0.2)
    """

    evaluations: Any
    energy: Any
    energy_error: Any = None
    _: KW_ONLY
    log_x: bool = False
    name: str | None = None

    _needs = "energy_", "OFW", "which has no energy"

    def __post_init__(self) -> None:
        if self.energy_error is None:
            self.energy_error = np.zeros(np.shape(self.energy))
        self._store_floats("evaluations", "energy", "energy_error")
        shapes = {self.evaluations.shape, self.energy.shape, self.energy_error.shape}
        if len(shapes) > 1 or self.energy.ndim != 1 or not self.energy.size:
            raise InputError(
                "EnergyDisplay: expected evaluations, energy and energy_error of one length, at "
                f"least 1, got shapes {self.evaluations.shape}, {self.energy.shape} and "
                f"{self.energy_error.shape}."
            )

    @classmethod
    def _read(cls, estimator: Any) -> dict[str, Any]:
        return {
            "evaluations": estimator.energy_evaluations_,
            "energy": estimator.energy_,
            "energy_error": estimator.energy_error_,
        }

    @property
    def smooth(self) -> Floats:
        """Means over a twentieth of the points, those around each one; over fewer at the ends."""
        half = int(SMOOTH * self.energy.size / 2)
        total = np.concatenate([[0.0], np.cumsum(self.energy)])
        places = np.arange(self.energy.size)
        # As many points on either side, or a falling curve would be bent; few where it falls fast.
        reach = np.minimum(half, np.minimum(places // 3, places[::-1]))
        return (total[places + reach + 1] - total[places - reach]) / (2 * reach + 1)

    @property
    def ends(self) -> tuple[float, float]:
        """Mean error of the first point, and of the last twentieth of the points."""
        last = self.energy[-max(1, int(SMOOTH * self.energy.size)) :]
        return float(self.energy[0]), float(last.mean())

    def _draw(self, ax: Any) -> None:
        few = self.energy.size <= 40
        if self.energy_error.any():
            low, high = self.energy - self.energy_error, self.energy + self.energy_error
            ax.fill_between(self.evaluations, low, high, color=BLUE, alpha=0.22, linewidth=0,
                            label="one standard error")  # fmt: skip
        ax.plot(self.evaluations, self.energy, color=BLUE, linewidth=1.4 if few else 0.7,
                marker="o" if few else None, markersize=3.5, alpha=1.0 if few else 0.6,
                label="mean error")  # fmt: skip
        if not few:
            ax.plot(self.evaluations, self.smooth, color="0.15", linewidth=1.6, label="smoothed")
        ax.set(xlabel="classifiers trained", ylabel="error")
        if self.log_x:
            ax.set_xscale("log")
        ax.xaxis.set_major_formatter("{x:,.0f}")
        ax.yaxis.set_major_formatter(lambda y, _: f"{100 * y:.3g}%")
        ax.set_ylim(bottom=max(0.0, ax.get_ylim()[0]))
        first, last = self.ends
        finish(ax, f"{self.name or 'OFW'}: mean error from {first:.1%} to {last:.1%}", "best")
