"""FeatureGraphDisplay: the best columns as nodes, and which of them repeat each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._columns import find_constant
from tamis._validation import Number, check_value
from tamis.data import checks
from tamis.data.values import check_weight
from tamis.exceptions import InputError
from tamis.graph.feature_graph import GraphSettings, find_deviations, memory_graph
from tamis.plots._display import LONGEST_NAME, RED, Display, Floats, check_has, short_label

# How many of the columns that a column repeats most it may be joined to.
PARTNERS = 2
# Width of a letter, and what separates a node from its name, in inches.
LETTER, GAP = 0.06, 0.15
# Height of the lower half of the picture, with its legends, against the upper.
BELOW = 1.15


@dataclass(eq=False, repr=False)
class FeatureGraphDisplay(Display):
    """The best columns on a circle; lines join those that repeat each other most.

    A node is larger for a higher score and darker for a larger standard deviation; its number is
    its rank. In the graph of Inf-FS every pair has an edge, and strong edges are the rule, so the
    telling ones are drawn: every column is joined to the two that it repeats most, by a line that
    is thicker the less non-redundancy there is. A node without a line repeats no other that is
    shown. Columns that repeat each other stand side by side.

    Parameters
    ----------
    names : sequence of str
        Names of the columns, best first.
    scores : array-like of shape (n_nodes,)
        Scores of the columns, best first.
    non_redundancy : array-like of shape (n_nodes, n_nodes)
        One minus the absolute relation of every pair, in [0, 1].
    deviation : array-like of shape (n_nodes,)
        Standard deviations, as a share of the largest of the whole table.
    alpha : float or None, default=None
        Weight of dispersion against non-redundancy, for the title.
    relation : str, default="relation"
        What non-redundancy is taken from, for the legend.
    min_relation : float, default=0.5
        Smallest absolute relation that is drawn.

    Attributes
    ----------
    edges_ : list of pair of int
        The pairs of nodes joined by a line, most redundant first. Set by :meth:`plot`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamis import InfFS
    >>> from tamis.plots import FeatureGraphDisplay
    >>> X, _ = load_iris(return_X_y=True, as_frame=True)
    >>> display = FeatureGraphDisplay.from_estimator(InfFS().fit(X), X)
    >>> display.names[:2]
    ['petal length (cm)', 'sepal width (cm)']
    >>> display.non_redundancy[0].round(2)
    array([0.  , 0.69, 0.12, 0.06])
    """

    names: Sequence[str]
    scores: Any
    non_redundancy: Any
    _: KW_ONLY
    deviation: Any
    alpha: float | None = None
    relation: str = "relation"
    min_relation: float = 0.5

    _size = 7.5, 7.0

    def __post_init__(self) -> None:
        self.names = [str(name) for name in self.names]
        self._store_floats("scores", "non_redundancy", "deviation")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        n_features: int = 30,
        min_relation: float = 0.5,
        sample_weight: Any = None,
        ax: Any = None,
    ) -> FeatureGraphDisplay:
        """Draw the graph of the best columns of a fitted InfFS or InfFSCV.

        Parameters
        ----------
        estimator : InfFS or InfFSCV
            Fitted.
        X, sample_weight : array-like
            The data it was fitted on, which it does not keep.
        n_features : int, default=30
            Number of columns to show; constant ones are not in the graph.
        min_relation : float, default=0.5
            Smallest absolute relation that is drawn.
        ax : matplotlib Axes or None, default=None
            Where to draw; ``None`` makes a new figure.
        """
        lacks = "which has no relation between columns"
        check_has(estimator, cls.__name__, "relation", "InfFS or InfFSCV", lacks)
        check_value(n_features, Number(int, low=1), who=cls.__name__, name="n_features")
        X = checks.check_table(estimator, X, reset=False)
        weight = check_weight(sample_weight, X.shape[0], type(estimator).__name__)
        varies = ~find_constant(estimator, X, weight)
        ranking = estimator.ranking_record()
        nodes = ranking.useful[varies[ranking.useful]][:n_features]
        if not nodes.size:
            raise InputError(
                "FeatureGraphDisplay: expected the data that the selector was fitted on, got a "
                "table in which no column varies."
            )
        relation = estimator.relation
        display = cls(
            [ranking.name(j) for j in nodes],
            ranking.scores[nodes],
            non_redundancy_of(estimator, X, nodes, weight),
            deviation=deviations_of(estimator, X, varies, weight)[nodes],
            alpha=getattr(estimator, "alpha_", getattr(estimator, "alpha", None)),
            relation=relation.replace("_", " ") if isinstance(relation, str) else "relation",
            min_relation=min_relation,
        )
        return display.plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        angles = self._angles()
        self.edges_ = self._telling_pairs()
        self._draw_edges(ax, angles)
        self._draw_nodes(ax, angles)
        title = "Best columns, and which of them repeat each other"
        ax.set_title(title if self.alpha is None else f"{title} (alpha = {self.alpha:g})")
        ax.set_axis_off()
        reach = self._draw_names(ax, angles)
        # Room for the names around the circle, and for the legends below.
        ax.set(xlim=(-reach, reach), ylim=(-BELOW * reach, reach), aspect="equal")

    def _angles(self) -> Floats:
        """Angle of every node, clockwise from the top; redundant columns become neighbours."""
        n = self.scores.size
        left = set(range(1, n))
        chain = [0] if n else []
        while left:
            nearest = min(left, key=lambda j: (self.non_redundancy[chain[-1], j], j))
            chain.append(nearest)
            left.remove(nearest)
        angles = np.empty(n)
        angles[chain] = np.pi / 2 - 2 * np.pi * np.arange(n) / max(n, 1)
        return angles

    def _telling_pairs(self) -> list[tuple[int, int]]:
        """Every node with the two that it repeats most, where it repeats them enough."""
        distance = self.non_redundancy + np.diag(np.full(self.scores.size, np.inf))
        nearest = np.argsort(distance, axis=1, kind="stable")[:, :PARTNERS]
        pairs = {
            (min(i, j), max(i, j))
            for i, partners in enumerate(nearest.tolist())
            for j in partners
            if 1.0 - distance[i, j] >= self.min_relation
        }
        return sorted(pairs, key=lambda pair: (distance[pair], pair))

    def _draw_edges(self, ax: Any, angles: Floats) -> None:
        points = np.column_stack([np.cos(angles), np.sin(angles)])
        # The weakest first, so that the strongest lie on top.
        for i, j in reversed(self.edges_):
            shared = 1.0 - self.non_redundancy[i, j]
            ax.plot(*_bend(points[i], points[j]).T, **_line(shared), zorder=1)
        shown = sorted({self.min_relation, (1.0 + self.min_relation) / 2, 1.0})
        for shared in shown if self.edges_ else []:
            ax.plot([], [], **_line(shared), label=f"|{self.relation}| = {shared:.2g}")
        if self.edges_:
            ax.legend(frameon=False, loc="lower left", fontsize="small", borderaxespad=0.2)

    def _draw_nodes(self, ax: Any, angles: Floats) -> None:
        extent = float(np.ptp(self.scores)) if self.scores.size else 0.0
        share = (self.scores - self.scores.min(initial=np.inf)) / extent if extent else 0.5
        dots = ax.scatter(
            np.cos(angles), np.sin(angles), s=np.broadcast_to(30 + 190 * share, angles.shape),
            c=self.deviation, cmap="Blues", vmin=0.0, vmax=1.0, edgecolors="0.3", linewidths=0.8,
            zorder=2,
        )  # fmt: skip
        room = ax.inset_axes((0.72, 0.045, 0.26, 0.016))
        bar = ax.figure.colorbar(dots, cax=room, orientation="horizontal", ticks=[0, 0.5, 1])
        bar.set_label("deviation, share of the largest", fontsize="small")
        bar.ax.tick_params(labelsize="small")

    def _draw_names(self, ax: Any, angles: Floats) -> float:
        """Names around the circle, as long as the axes allow; returns how far they reach."""
        if ax.figure.get_layout_engine() is not None:
            ax.figure.draw_without_rendering()  # only then is the size of the axes known
        box = ax.get_window_extent()
        inches = min(box.width / 2, box.height / (1 + BELOW)) / ax.figure.dpi
        longest = int(np.clip(0.45 * inches / LETTER, 6, LONGEST_NAME))
        labels = [f"{k}  {short_label(name, longest)}" for k, name in enumerate(self.names, 1)]
        letters = max((len(label.replace(r"\$", "$")) for label in labels), default=0)
        reach = 1.0 / (1.0 - min((GAP + LETTER * letters) / inches, 0.75))
        start = 1.0 + GAP * reach / inches
        for label, angle in zip(labels, angles, strict=True):
            right = np.cos(angle) >= -1e-9
            text = ax.text(
                start * np.cos(angle), start * np.sin(angle), label,
                rotation=np.degrees(angle) + (0 if right else 180), rotation_mode="anchor",
                ha="left" if right else "right", va="center", fontsize=8,
            )  # fmt: skip
            text.set_in_layout(False)
        return reach


def non_redundancy_of(
    estimator: Any, X: Any, nodes: NDArray[np.intp], weight: Floats | None
) -> Floats:
    """One minus the absolute relations of a few columns, by the relation of a selector."""
    inside = np.zeros(X.shape[1], dtype=bool)
    inside[nodes] = True
    who = type(estimator).__name__
    settings = GraphSettings(estimator.relation, "double", None, estimator.n_jobs, who)
    graph = memory_graph(X, inside, weight, settings, lambda name, items, total: items)
    edges = np.clip(graph.edges(0.0, nodes.tolist()), 0.0, 1.0)
    np.fill_diagonal(edges, 0.0)
    return edges


def deviations_of(
    estimator: Any, X: Any, varies: NDArray[np.bool_], weight: Floats | None
) -> Floats:
    """Standard deviation of every column, as a share of the largest of the whole table."""
    out = np.zeros(X.shape[1])
    rows = slice(None) if weight is None else weight > 0
    weight = None if weight is None else weight[rows]
    out[varies] = find_deviations(X[rows][:, varies], weight, estimator.n_jobs)
    return out


def _line(shared: float) -> dict[str, Any]:
    """Look of a line between columns with this absolute relation."""
    return {
        "color": RED,
        "alpha": 0.25 + 0.6 * shared**2,
        "linewidth": 0.5 + 2.2 * shared**3,
        "solid_capstyle": "round",
    }


def _bend(start: Floats, end: Floats) -> Floats:
    """Points of a curve between two nodes that bends towards the middle of the circle."""
    t = np.linspace(0.0, 1.0, 30)[:, None]
    middle = 0.25 * (start + end)
    return (1 - t) ** 2 * start + 2 * t * (1 - t) * middle + t**2 * end
