"""WeightsPathDisplay: how the probability of OFW came to favour some columns."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._validation import Number, check_value
from tamis.data import checks
from tamis.exceptions import InputError
from tamis.plots._display import FittedDisplay, column_names, finish, label_lines, largest


@dataclass(eq=False, repr=False)
class WeightsPathDisplay(FittedDisplay):
    """Weights of the columns that end highest, against the classifiers trained up to then.

    All columns start equal, at the dotted line. Lines that still climb at the end have not
    settled. `from_estimator` takes a fitted OFW; of several restarts, it draws the first.

    Parameters
    ----------
    evaluations : array-like of shape (n_points,)
        Evaluations up to each point, ascending.
    weights : array-like of shape (n_points, n_columns)
        The probability at each point.
    names : sequence of str or None, default=None
        Names of all columns; ``None`` is x0, x1, ...
    n_features : int, default=10
        Number of columns to show.
    name : str or None, default=None
        Name of the method, for the title.

    Examples
    --------
    >>> from tamis.plots import WeightsPathDisplay
    >>> display = WeightsPathDisplay([0, 200], [[0.5, 0.5], [0.1, 0.9]], ["age", "dose"])
    >>> display.shown
    array([1, 0])
    """

    evaluations: Any
    weights: Any
    names: Any = None
    _: KW_ONLY
    n_features: int = 10
    name: str | None = None

    _needs = "weights_path_", "OFW", "whose scores have no path"

    def __post_init__(self) -> None:
        who = type(self).__name__
        check_value(self.n_features, Number(int, low=1), who=who, name="n_features")
        self._store_floats("evaluations", "weights")
        if self.weights.ndim != 2 or self.weights.shape[0] != self.evaluations.size:
            raise InputError(
                f"{who}: expected weights with one row for each of {self.evaluations.size} points, "
                f"got shape {self.weights.shape}. Pass weights_path_ of a fitted OFW."
            )
        if not self.weights.size:
            raise InputError(f"{who}: expected at least one point and one column, got none.")
        self.names = column_names(self.names, self.weights.shape[1])

    @classmethod
    def _read(cls, estimator: Any) -> dict[str, Any]:
        return {
            "evaluations": estimator.path_evaluations_,
            "weights": estimator.weights_path_,
            "names": checks.names_of(estimator),
        }

    @property
    def shown(self) -> NDArray[np.intp]:
        """The columns that are drawn: those with the largest last weights, largest first."""
        return largest(self.weights[-1], self.n_features)

    @property
    def uniform(self) -> float:
        """Weight of a column if all that take part had the same."""
        return 1.0 / max(1, int((self.weights[0] > 0).sum()))

    def _draw(self, ax: Any) -> None:
        values = self.weights[:, self.shown]
        for k, column in enumerate(values.T):
            ax.plot(self.evaluations, column, color=f"C{k % 10}", linewidth=1.6,
                    linestyle=("-", "--")[k // 10 % 2])  # fmt: skip
        ax.axhline(self.uniform, color="0.3", linestyle=":", linewidth=1.4, zorder=3)
        ax.set(xlabel="classifiers trained", ylabel="weight (dotted: all equal)")
        if self.evaluations[-1] > self.evaluations[0]:
            ax.set_xlim(self.evaluations[0], self.evaluations[-1])
        ax.set_ylim(0.0, 1.05 * max(values.max(), self.uniform))
        ax.xaxis.set_major_formatter("{x:,.0f}")
        label_lines(ax, values[-1] / ax.get_ylim()[1], [self.names[j] for j in self.shown])
        together = values[-1].sum()
        count = f"{values.shape[1]} of {self.weights.shape[1]:,} columns"
        finish(ax, f"Weights of {self.name or 'OFW'}: {count} hold {together:.0%} at the end")
