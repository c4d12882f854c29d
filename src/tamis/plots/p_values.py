"""PValueDisplay and QValueDisplay: what a test of every feature found, at every level."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from tamis.exceptions import InputError
from tamis.plots._display import BLUE, RED, FittedDisplay, finish

N_BINS = 20


@dataclass(eq=False, repr=False)
class PValueDisplay(FittedDisplay):
    """Histogram of p-values, with the height it would have if no feature mattered.

    Without any relation to the target, p-values are spread evenly. A peak at 0 above the line means
    that there are discoveries to be made. Another shape, such as a slope towards 1, says that the
    assumptions of the test do not hold, or that values are discrete.

    Parameters
    ----------
    p_values : array-like of shape (n_features,)
        In (0, 1]; those of constant features are better left out.
    name : str or None, default=None
        Name of the method, for the title.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.plots import PValueDisplay
    >>> PValueDisplay(np.linspace(0.001, 1, 1000)).counts[:3]
    array([50, 50, 50])
    """

    p_values: Any
    _: KW_ONLY
    name: str | None = None

    _needs = "p_values_", "selector with p-values", "which has none"

    def __post_init__(self) -> None:
        self._store_floats("p_values")
        if self.p_values.ndim != 1 or not ((self.p_values > 0) & (self.p_values <= 1)).all():
            raise InputError(
                "PValueDisplay: expected one p-value in (0, 1] per feature, got an array of shape "
                f"{self.p_values.shape} with values outside."
            )

    @classmethod
    def _read(cls, estimator: Any) -> dict[str, Any]:
        return {"p_values": estimator.p_values_[~estimator.constant_]}

    @property
    def counts(self) -> Any:
        """Number of p-values in each of 20 bins."""
        # A p-value at the end of a bin belongs to it: with few permutations many are there.
        edges = np.linspace(0.0, 1.0, N_BINS + 1)
        return np.bincount(np.searchsorted(edges, self.p_values) - 1, minlength=N_BINS)

    def _draw(self, ax: Any) -> None:
        left = np.arange(N_BINS) / N_BINS
        ax.bar(left, self.counts, width=1 / N_BINS, align="edge", color=BLUE, edgecolor="white")
        ax.axhline(self.p_values.size / N_BINS, color=RED, linestyle="--", linewidth=1.2,
                   label="expected if no feature mattered")  # fmt: skip
        ax.set(xlabel="p-value", ylabel="features", xlim=(0, 1))
        n_small, n = int((self.p_values <= 0.05).sum()), self.p_values.size
        of = f" of {self.name}" if self.name else ""
        expected = f"{0.05 * n:,.0f} expected by chance"
        finish(ax, f"p-values{of}: {n_small:,} of {n:,} up to 0.05, {expected}", "best")


@dataclass(eq=False, repr=False)
class QValueDisplay(FittedDisplay):
    """Number of features that are selected at every false discovery rate.

    Parameters
    ----------
    q_values : array-like of shape (n_features,)
        The smallest rate at which each feature is selected.
    level : float or None, default=None
        The level in force, marked by a line.
    name : str or None, default=None
        Name of the method, for the title.

    Examples
    --------
    >>> from tamis.plots import QValueDisplay
    >>> QValueDisplay([0.01, 0.3, 0.05], level=0.1).n_selected(0.1)
    2
    """

    q_values: Any
    _: KW_ONLY
    level: float | None = None
    name: str | None = None

    _needs = "q_values_", "selector with q-values", "which has none"

    def __post_init__(self) -> None:
        self.q_values = np.sort(np.asarray(self.q_values, dtype=np.float64))

    @classmethod
    def _read(cls, estimator: Any) -> dict[str, Any]:
        return {"q_values": estimator.q_values_, "level": estimator.cut_details_["level"]}

    def n_selected(self, level: float) -> int:
        """Number of features with a q-value of at most `level`."""
        return int(np.searchsorted(self.q_values, level, side="right"))

    def _draw(self, ax: Any) -> None:
        ax.step(self.q_values, np.arange(1, self.q_values.size + 1), where="post", color=BLUE)
        ax.set(xlabel="false discovery rate", ylabel="features selected", ylim=(0, None))
        ax.set_xlim(0, min(1.0, max(0.5, 2 * (self.level or 0.0))))
        of = f" of {self.name}" if self.name else ""
        title = f"q-values{of}"
        if self.level is not None:
            ax.axvline(self.level, color=RED, linestyle="--", linewidth=1.2)
            title += f": {self.n_selected(self.level):,} features at {self.level:g}"
        shown = self.n_selected(ax.get_xlim()[1])
        ax.set_ylim(0, max(1, shown) * 1.05)
        finish(ax, title)
