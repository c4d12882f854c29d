"""StabilityPathDisplay: selection frequency against how many features a half sample chooses."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from tamis.data import checks
from tamis.exceptions import InputError
from tamis.plots._display import RED, FittedDisplay, column_names, finish, label_lines, largest

N_NAMED = 10


@dataclass(eq=False, repr=False)
class StabilityPathDisplay(FittedDisplay):
    """Share of half samples that choose a feature, for different numbers of features per half.

    Lines that rise at once and stay up belong to features that every half sample agrees on. The
    numbers of :class:`~tamis.certainty.StabilitySelection` are those at the vertical line.

    Parameters
    ----------
    numbers : array-like of shape (n_points,)
        How many features are chosen on a half sample, ascending.
    frequencies : array-like of shape (n_points, n_features)
        Selection frequencies.
    threshold : float or None, default=None
        The threshold in force.
    n_per_half : int or None, default=None
        The number per half sample in force.
    names : sequence of str or None, default=None
        Names of the features; those of the ten largest frequencies are shown.

    Examples
    --------
    >>> from tamis.plots import StabilityPathDisplay
    >>> display = StabilityPathDisplay([1, 2], [[0.9, 0.1, 0.0], [1.0, 0.7, 0.3]], threshold=0.8)
    >>> display.shown
    array([0, 1, 2])
    """

    numbers: Any
    frequencies: Any
    _: KW_ONLY
    threshold: float | None = None
    n_per_half: int | None = None
    names: Any = None

    _rule = "path_frequencies", "StabilitySelection"

    def __post_init__(self) -> None:
        self.numbers = np.asarray(self.numbers, dtype=np.int64)
        self._store_floats("frequencies")
        if self.frequencies.ndim != 2 or len(self.frequencies) != self.numbers.size:
            raise InputError(
                "StabilityPathDisplay: expected frequencies of shape (n_points, n_features) for "
                f"{self.numbers.size} numbers, got {self.frequencies.shape}."
            )
        self.names = column_names(self.names, self.frequencies.shape[1])

    @classmethod
    def _read(cls, estimator: Any) -> dict[str, Any]:
        details = estimator.cut_details_
        return {
            "numbers": details["path_numbers"],
            "frequencies": details["path_frequencies"],
            "threshold": details["threshold"],
            "n_per_half": details["n_per_half"],
            "names": checks.names_of(estimator),
        }

    @property
    def shown(self) -> Any:
        """Indices of the features that are named, largest frequency first."""
        return largest(self.frequencies.sum(axis=0), N_NAMED)

    def _draw(self, ax: Any) -> None:
        others = np.setdiff1d(np.flatnonzero(self.frequencies.any(axis=0)), self.shown)
        ax.plot(self.numbers, self.frequencies[:, others], color="0.8", linewidth=0.6, zorder=1)
        for k, j in enumerate(self.shown):
            ax.plot(self.numbers, self.frequencies[:, j], color=f"C{k % 10}", linewidth=1.4)
        ax.set(xlabel="features chosen on a half sample", ylabel="selection frequency")
        ax.set(xlim=(self.numbers[0], max(self.numbers[-1], self.numbers[0] + 1)), ylim=(0, 1.02))
        if self.threshold is not None:
            ax.axhline(self.threshold, color=RED, linestyle="--", linewidth=1.1)
        if self.n_per_half is not None:
            ax.axvline(self.n_per_half, color="0.4", linestyle=":", linewidth=1.1)
        label_lines(
            ax, self.frequencies[-1, self.shown] / 1.02, [self.names[j] for j in self.shown]
        )
        finish(ax, "Selection frequency on half samples")
