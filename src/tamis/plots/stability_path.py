"""StabilityPathDisplay: selection frequency against how many features a half sample chooses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tamis.exceptions import InputError
from tamis.plots._display import (
    RED,
    FittedDisplay,
    column_names,
    details_of,
    finish,
    label_lines,
)

N_NAMED = 10


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

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        Set by :meth:`plot`.

    Examples
    --------
    >>> from tamis.plots import StabilityPathDisplay
    >>> display = StabilityPathDisplay([1, 2], [[0.9, 0.1, 0.0], [1.0, 0.7, 0.3]], threshold=0.8)
    >>> display.shown
    array([0, 1, 2])
    """

    def __init__(
        self,
        numbers: ArrayLike,
        frequencies: ArrayLike,
        *,
        threshold: float | None = None,
        n_per_half: int | None = None,
        names: Sequence[str] | None = None,
    ):
        self.numbers = np.asarray(numbers, dtype=np.int64)
        self.frequencies = np.asarray(frequencies, dtype=np.float64)
        if self.frequencies.ndim != 2 or len(self.frequencies) != self.numbers.size:
            raise InputError(
                "StabilityPathDisplay: expected frequencies of shape (n_points, n_features) for "
                f"{self.numbers.size} numbers, got {self.frequencies.shape}."
            )
        self.threshold, self.n_per_half = threshold, n_per_half
        self.names = column_names(names, self.frequencies.shape[1])

    @classmethod
    def _read(cls, estimator: Any) -> dict[str, Any]:
        details = details_of(estimator, "path_frequencies", cls.__name__, "StabilitySelection")
        ranking = estimator.ranking_record()
        return {
            "numbers": details["path_numbers"],
            "frequencies": details["path_frequencies"],
            "threshold": details["threshold"],
            "n_per_half": details["n_per_half"],
            "names": [ranking.name(j) for j in range(ranking.n_columns)],
        }

    @property
    def shown(self) -> Any:
        """Indices of the features that are named, largest frequency first."""
        return np.argsort(-self.frequencies.sum(axis=0), kind="stable")[:N_NAMED]

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
