"""SearchDisplay: how a search of meta-features went, and where it ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from tamis.exceptions import InputError
from tamis.plots._display import BLUE, FittedDisplay, Floats, finish


@dataclass(eq=False, repr=False)
class SearchDisplay(FittedDisplay):
    """Quality of the sets that a search tried, the best so far, and the meta-features chosen.

    A dot is a set; those that became the best are filled. The line is the best so far. A search
    of points in a space of meta-features (Mufasa) also has a second picture, drawn by
    :meth:`plot_points`: the best point so far, each meta-feature on its own scale.
    `from_estimator` takes a fitted Mufasa or RandomSearch.

    Parameters
    ----------
    history : sequence of dict
        Records with ``step`` and ``quality``; ``restart``, ``accepted`` and ``point`` are used if
        they are there. Sets without a finite quality are left out.
    name : str or None, default=None
        Name of the method, for the title.
    space : MetaSpace or None, default=None
        Gives the ranges of the meta-features; ``None`` takes those that occur.

    Examples
    --------
    >>> from tamis.plots.search import SearchDisplay
    >>> history = [{"step": 1, "quality": 0.7}, {"step": 2, "quality": 0.9},
    ...            {"step": 3, "quality": 0.8}]
    >>> SearchDisplay(history).best_so_far
    array([0.7, 0.9, 0.9])
    """

    history: Sequence[Mapping[str, Any]]
    _: KW_ONLY
    name: str | None = None
    space: Any = None

    def __post_init__(self) -> None:
        self.history = [dict(record) for record in self.history]
        if not all({"step", "quality"} <= set(record) for record in self.history):
            raise InputError(
                "SearchDisplay: expected records with 'step' and 'quality', such as history_ of "
                "a fitted Mufasa."
            )
        self.history = [r for r in self.history if np.isfinite(r["quality"])]
        if not self.history:
            raise InputError(
                "SearchDisplay: expected at least one record with a finite quality, got none."
            )

    @classmethod
    def _read(cls, estimator: Any) -> dict[str, Any]:
        check_is_fitted(estimator)
        history = getattr(estimator, "history_", None)
        if not history or "quality" not in history[0]:
            raise InputError(
                "SearchDisplay: expected a fitted Mufasa or RandomSearch, got "
                f"{type(estimator).__name__}, which has no history of sets."
            )
        space = getattr(getattr(estimator, "generator_", None), "space", None)
        return {"history": history, "space": space}

    @property
    def steps(self) -> NDArray[np.int64]:
        """Step of every record."""
        return np.array([record["step"] for record in self.history], dtype=np.int64)

    @property
    def qualities(self) -> Floats:
        """Quality of every record."""
        return np.array([record["quality"] for record in self.history], dtype=np.float64)

    @property
    def best_so_far(self) -> Floats:
        """Largest quality up to the end of each step that has a record, over all restarts."""
        last = [self.qualities[self.steps <= step].max() for step in np.unique(self.steps)]
        return np.array(last)

    @property
    def best_points(self) -> dict[str, list[Any]]:
        """Meta-features of the best set so far, one value per step that has a record."""
        found: dict[str, list[Any]] = {}
        for step in np.unique(self.steps):
            until = [r for r in self.history if r["step"] <= step]
            # Of equal ones the last: a search accepts a set that equals the best.
            best = max(enumerate(until), key=lambda pair: (pair[1]["quality"], pair[0]))[1]
            for name, value in (best.get("point") or {}).items():
                found.setdefault(name, []).append(value)
        return found

    def _draw(self, ax: Any) -> None:
        accepted = np.array([bool(record.get("accepted")) for record in self.history])
        ax.plot(self.steps[~accepted], self.qualities[~accepted], "o", color=BLUE,
                markersize=4, fillstyle="none", label="set")  # fmt: skip
        if accepted.any():
            ax.plot(self.steps[accepted], self.qualities[accepted], "o", color=BLUE,
                    markersize=5, label="became the best")  # fmt: skip
        ax.step(np.unique(self.steps), self.best_so_far, where="post", color="0.15",
                linewidth=1.6, label="best so far")  # fmt: skip
        ax.set(xlabel="step", ylabel="quality (cross-validated)")
        finish(ax, f"{self.name or 'search'}: {self._where()}", "lower right")

    def plot_points(self, ax: Any = None) -> SearchDisplay:
        """Draw the meta-features of the best set so far; as :meth:`plot` otherwise.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw.
        """
        if not self.best_points:
            raise InputError(
                "SearchDisplay: expected records with points of meta-features, got none; only "
                "Mufasa has them."
            )
        return self._drawn(ax, self._draw_points)

    def _draw_points(self, ax: Any) -> None:
        steps = np.unique(self.steps)
        for name, values in self.best_points.items():
            low, high, places = self._scale(name, values)
            height = np.divide(places - low, high - low, out=np.full(steps.size, 0.5),
                               where=high > low)  # fmt: skip
            ax.step(steps, height, where="post", linewidth=1.6,
                    label=f"{name}: {_short(values[-1])}")  # fmt: skip
        ax.set(xlabel="step", ylabel="share of the range", ylim=(-0.03, 1.03))
        finish(ax, f"{self.name or 'search'}: meta-features of the best set so far", "best")

    def _scale(self, name: str, values: list[Any]) -> tuple[float, float, Floats]:
        """Ends of the range of a meta-feature, and the values as numbers on it."""
        kind = None if self.space is None else self.space.dimensions.get(name)
        if kind is not None and hasattr(kind, "low"):
            return float(kind.low), float(kind.high), np.array(values, dtype=np.float64)
        known = list(kind.values) if kind is not None else sorted({*values}, key=str)
        numbers = all(isinstance(value, int | float) for value in values)
        if kind is None and numbers:
            return float(min(values)), float(max(values)), np.array(values, dtype=np.float64)
        places = np.array([known.index(value) for value in values], dtype=np.float64)
        return 0.0, float(len(known) - 1), places

    def _where(self) -> str:
        """Best quality and its meta-features, in words."""
        point = {name: values[-1] for name, values in self.best_points.items()}
        words = ", ".join(f"{name} {_short(value)}" for name, value in point.items())
        return f"best {self.qualities.max():.3f}" + (f" at {words}" if words else "")


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
