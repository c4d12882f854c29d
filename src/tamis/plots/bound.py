"""BoundDisplay: how the bound on the error grows with the search, its space and the features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tamis import bounds as formulas
from tamis._validation import Choice, check_value
from tamis.exceptions import InputError
from tamis.plots._display import BLUE, RED, Display, finish

# What may be on the axis: its label, and the range that is shown if no values are given.
AXES = {
    "n_steps": ("steps of the search, J", 1, 1_000),
    "n_meta_values": ("points of the meta-feature space, |MF|", 1, 1e18),
    "n_selected": ("features selected, n", 1, 10_000),
}
# What may be drawn: title and label.
QUANTITIES = {
    "bound": ("Bounds on the error of new samples", "bound on the error"),
    "nats": ("What the choice of features adds to the bound", "added inside the root, nats"),
}
COLORS = (BLUE, RED, "0.15", "#5f9e5f", "#8064a2")
STYLES = ("-", "-", ":", "-", "-")


@dataclass(eq=False, repr=False)
class BoundDisplay(Display):
    """Bounds of :mod:`tamis.bounds` on the error of new samples, against J, ``|MF|`` or n.

    It shows what a search of meta-features costs in confidence beside a free choice of features,
    and beside features fixed beforehand. Above the dashed line at 1 a bound says nothing. The
    curves of Mufasa and of fixed features are often too close to tell apart: ``quantity="nats"``
    shows what each choice adds inside the root of the bound, g(J) or n ln N.

    Parameters
    ----------
    values : array-like of shape (n_points,)
        Places on the axis, above 0.
    bounds : mapping of str to array-like of shape (n_points,)
        Name of each curve -> its bounds, or its nats.
    against : {"n_steps", "n_meta_values", "n_selected"}, default="n_steps"
        What `values` are.
    quantity : {"bound", "nats"}, default="bound"
        What `bounds` are. Nats are drawn on a logarithmic axis.

    Examples
    --------
    >>> from tamis.plots.bound import BoundDisplay
    >>> display = BoundDisplay.from_parameters(
    ...     n_samples=1_000_000, n_selected=100, n_meta_values=1408, values=[1, 50, 1000])
    >>> display.bounds["Mufasa"].round(4)
    array([0.2841, 0.2841, 0.2842])
    >>> display.bounds["direct selection"].round(4)
    array([0.286 , 0.2976, 0.4693])
    """

    values: Any
    bounds: Mapping[str, Any]
    _: KW_ONLY
    against: str = "n_steps"
    quantity: str = "bound"

    def __post_init__(self) -> None:
        _check_choices(self.against, self.quantity)
        self._store_floats("values")
        self.bounds = {name: np.asarray(curve, np.float64) for name, curve in self.bounds.items()}
        shapes = [curve.shape for curve in self.bounds.values()]
        if self.values.ndim != 1 or not self.values.size or not shapes:
            raise InputError(
                "BoundDisplay: expected at least one value and one curve, got values of shape "
                f"{self.values.shape} and {len(shapes)} curves."
            )
        if set(shapes) != {self.values.shape}:
            raise InputError(
                f"BoundDisplay: expected {self.values.size} numbers in each curve, as many as "
                f"values, got shapes {shapes}."
            )
        right = np.isfinite(self.values) & (self.values > 0)
        if not right.all():
            wrong = float(self.values[~right][0])
            raise InputError(f"BoundDisplay: expected finite values above 0, got {wrong!r}.")

    @classmethod
    def from_parameters(
        cls,
        *,
        n_samples: float,
        n_selected: float = 1000,
        n_steps: float = 50,
        n_meta_values: float | None = None,
        n_candidates: float | None = None,
        fat_dimension: float | None = None,
        train_error: float = 0.0,
        margin: float = 1.0,
        confidence: float = 0.95,
        against: str = "n_steps",
        quantity: str = "bound",
        values: ArrayLike | None = None,
        ax: Any = None,
    ) -> BoundDisplay:
        """Compute and draw the bounds of features that are fixed, found by Mufasa, or free.

        Parameters
        ----------
        n_samples : float
            Number m of training samples.
        n_selected : float, default=1000
            Number n of features; it sets `fat_dimension`, and counts in direct selection.
        n_steps : float, default=50
            Number J of steps of Mufasa.
        n_meta_values : float or None, default=None
            Number ``|MF|`` of points of the meta-feature space; ``None``: infinite.
        n_candidates : float or None, default=None
            Number N of candidates of direct selection; ``None`` is n 2^J, as in the paper.
        fat_dimension : float or None, default=None
            Fat-shattering dimension of the classifiers; ``None`` is n + 1, for linear ones.
        train_error : float, default=0.0
            Share of training samples that are wrong or have too small a margin.
        margin : float, default=1.0
            The margin.
        confidence : float, default=0.95
            Probability with which the bounds hold.
        against : {"n_steps", "n_meta_values", "n_selected"}, default="n_steps"
            Which of the parameters to vary.
        quantity : {"bound", "nats"}, default="bound"
            Draw the bounds, or what the choice adds inside their root.
        values : array-like or None, default=None
            Its values; ``None`` is a wide range. The parameter itself is then not used.
        ax : matplotlib Axes or None, default=None
            Where to draw; ``None`` makes a new figure.
        """
        _check_choices(against, quantity)
        if values is None:
            values = np.unique(np.round(np.geomspace(*AXES[against][1:], 61)))
        places = np.asarray(values, np.float64)
        numbers = {"n_selected": n_selected, "n_steps": n_steps, "n_meta_values": n_meta_values}
        varied: dict[str, Any] = {**numbers, against: places}
        curves = _nats(varied, n_candidates)
        if quantity == "bound":
            fat = varied["n_selected"] + 1 if fat_dimension is None else fat_dimension
            common = (train_error, n_samples, fat, margin, confidence)
            terms = {**curves, "fixed features": 0.0}
            curves = {name: formulas.union_bound(*common, term) for name, term in terms.items()}
        full = {name: np.broadcast_to(curve, places.shape) for name, curve in curves.items()}
        return cls(places, full, against=against, quantity=quantity).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        few = self.values.size <= 40
        for place, (name, curve) in enumerate(self.bounds.items()):
            ax.plot(self.values, curve, color=COLORS[place % len(COLORS)], linewidth=1.6,
                    linestyle=STYLES[place % len(STYLES)], marker="o" if few else None,
                    markersize=3.5, label=name)  # fmt: skip
        ax.set_xscale("log")
        ax.set(xlabel=AXES[self.against][0], ylabel=QUANTITIES[self.quantity][1])
        if self.quantity == "nats":
            ax.set_yscale("log")
        else:
            largest = max(curve.max() for curve in self.bounds.values())
            ax.set_ylim(0.0, 1.08 * largest)
            if largest > 1:
                ax.axhline(1.0, color="0.15", linewidth=0.9, linestyle="--")
        finish(ax, QUANTITIES[self.quantity][0], "best")


def _nats(varied: dict[str, Any], n_candidates: float | None) -> dict[str, Any]:
    steps, chosen = varied["n_steps"], varied["n_selected"]
    mufasa = formulas.selection_term(steps, varied["n_meta_values"])
    if n_candidates is None:
        # n ln(n 2^J), taken apart because 2^J need not fit into a float.
        direct = formulas.direct_selection_term(chosen, chosen) + chosen * steps * np.log(2)
    else:
        direct = formulas.direct_selection_term(n_candidates, chosen)
    return {"Mufasa": mufasa, "direct selection": direct}


def _check_choices(against: str, quantity: str) -> None:
    check_value(against, Choice(tuple(AXES)), who="BoundDisplay", name="against")
    check_value(quantity, Choice(tuple(QUANTITIES)), who="BoundDisplay", name="quantity")
