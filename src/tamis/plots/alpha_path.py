"""AlphaPathDisplay: how scores or ranks of Inf-FS change with alpha."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from tamis._validation import Choice, check_value
from tamis.data import checks
from tamis.data.frames import is_frame
from tamis.exceptions import InputError
from tamis.graph import InfFS, inf_fs_path
from tamis.plots._display import Display, Floats, check_has, column_names, finish, label_lines

ALPHAS = tuple(round(0.1 * step, 1) for step in range(11))


@dataclass(eq=False, repr=False)
class AlphaPathDisplay(Display):
    """Ranks or scores of the best columns of Inf-FS against alpha.

    At alpha 0 a column is good if it repeats few others, at alpha 1 if it varies much. Shown are
    the columns that come highest at any alpha.

    Parameters
    ----------
    alphas : array-like of shape (n_alphas,)
        Ascending.
    scores : array-like of shape (n_alphas, n_columns)
        One row per alpha, as :func:`~tamis.inf_fs_path` returns them.
    names : sequence of str or None, default=None
        Names of all columns; ``None`` is x0, x1, ...
    n_features : int, default=10
        Number of columns to show.
    kind : {"rank", "score"}, default="rank"
        What to draw; scores are shares of the best score at the same alpha.
    chosen : float or None, default=None
        An alpha to mark.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamis.plots import AlphaPathDisplay
    >>> X, _ = load_iris(return_X_y=True, as_frame=True)
    >>> display = AlphaPathDisplay.from_data(X, alphas=[0.0, 0.5, 1.0])
    >>> display.ranks[:, 1]  # sepal width repeats the others least, and varies least
    array([1, 2, 4])
    """

    alphas: Any
    scores: Any
    names: Any = None
    _: KW_ONLY
    n_features: int = 10
    kind: str = "rank"
    chosen: float | None = None

    def __post_init__(self) -> None:
        check_value(self.kind, Choice(("rank", "score")), who="AlphaPathDisplay", name="kind")
        self._store_floats("alphas", "scores")
        if self.scores.ndim != 2 or self.scores.shape[0] != self.alphas.size:
            raise InputError(
                f"AlphaPathDisplay: expected scores with one row for each of {self.alphas.size} "
                f"alphas, got shape {self.scores.shape}. Pass what inf_fs_path returned."
            )
        self.names = column_names(self.names, self.scores.shape[1])

    @classmethod
    def from_data(
        cls,
        X: Any,
        *,
        alphas: Sequence[float] = ALPHAS,
        n_features: int = 10,
        kind: str = "rank",
        sample_weight: Any = None,
        ax: Any = None,
        **params: Any,
    ) -> AlphaPathDisplay:
        """Score the columns of a table for every alpha, and draw.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            The table.
        alphas : sequence of float, default=(0, 0.1, ..., 1)
            Values of alpha.
        n_features : int, default=10
            Number of columns to show.
        kind : {"rank", "score"}, default="rank"
            What to draw.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        ax : matplotlib Axes or None, default=None
            Where to draw; ``None`` makes a new figure.
        **params
            Other parameters of :class:`~tamis.InfFS`, such as `relation`.
        """
        alphas = sorted(alphas)
        scores = inf_fs_path(X, alphas, sample_weight=sample_weight, **params)
        names = nw.from_native(X, eager_only=True).columns if is_frame(X) else None
        return cls(alphas, scores, names, n_features=n_features, kind=kind).plot(ax=ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        alphas: Sequence[float] = ALPHAS,
        sample_weight: Any = None,
        ax: Any = None,
        **options: Any,
    ) -> AlphaPathDisplay:
        """Draw the path of a fitted InfFSCV or InfFS, with its alpha marked.

        Parameters
        ----------
        estimator : InfFSCV or InfFS
            Fitted.
        X, sample_weight : array-like
            The data it was fitted on, which it does not keep.
        alphas : sequence of float, default=(0, 0.1, ..., 1)
            Values of alpha; that of the estimator is added.
        ax : matplotlib Axes or None, default=None
            Where to draw; ``None`` makes a new figure.
        **options
            `n_features` and `kind` of the display.
        """
        name = "alpha_" if hasattr(estimator, "alpha_") else "alpha"
        check_has(estimator, cls.__name__, name, "InfFS or InfFSCV", "which has no alpha")
        chosen = getattr(estimator, name)
        shared = ("damping", "relation", "memory_limit", "precision", "n_jobs")
        selector = InfFS(**{name: getattr(estimator, name) for name in shared})
        alphas = sorted({*map(float, alphas), float(chosen)})
        scores = selector.path(X, alphas, sample_weight=sample_weight)
        names = checks.names_of(estimator)
        return cls(alphas, scores, names, **{"chosen": chosen, **options}).plot(ax=ax)

    @property
    def ranks(self) -> NDArray[np.intp]:
        """Rank of every column at every alpha, 1 for the best; ties go to the lower column."""
        order = np.argsort(-self.scores, axis=1, kind="stable")
        return np.argsort(order, axis=1, kind="stable") + 1

    @property
    def shares(self) -> Floats:
        """Scores as shares of the best score at the same alpha."""
        best = self.scores.max(axis=1, keepdims=True)
        return np.divide(self.scores, best, out=np.zeros_like(self.scores), where=best > 0)

    @property
    def shown(self) -> NDArray[np.intp]:
        """The columns that are drawn: those that come highest at any alpha, best first."""
        ranks = self.ranks
        order = np.lexsort((ranks.mean(axis=0), ranks.min(axis=0)))
        return order[: self.n_features]

    def _draw(self, ax: Any) -> None:
        rank = self.kind == "rank"
        values = (self.ranks if rank else self.shares)[:, self.shown]
        marker = "o" if self.alphas.size <= 21 else None
        for k, column in enumerate(values.T):
            ax.plot(self.alphas, column, color=f"C{k % 10}", marker=marker, markersize=3.5,
                    linewidth=1.5)  # fmt: skip
        ax.margins(x=0.015)
        ax.set_xlabel("alpha: weight of deviation against non-redundancy")
        ax.set_ylabel("rank" if rank else "share of the best score")
        self._scale(ax, values, rank)
        to_axes = ax.transData + ax.transAxes.inverted()
        ends = np.column_stack([np.full(values.shape[1], self.alphas[-1]), values[-1]])
        label_lines(ax, to_axes.transform(ends)[:, 1], [self.names[j] for j in self.shown])
        if self.chosen is not None:
            ax.axvline(self.chosen, color="0.4", linestyle="--", linewidth=1.1, zorder=0)
        what = "Ranks" if rank else "Scores"
        mark = "" if self.chosen is None else f"; dashed: the alpha chosen, {self.chosen:g}"
        finish(ax, f"{what} of Inf-FS along alpha{mark}")

    def _scale(self, ax: Any, values: NDArray[Any], rank: bool) -> None:
        """Best on top; ranks that spread over a wide table on a logarithmic axis."""
        if not rank:
            ax.set_ylim(min(0.95 * values.min(initial=1.0), 0.95), 1.02)
            return
        worst = int(values.max(initial=1))
        if worst > 40:
            ax.set_yscale("log")
            ax.set_ylim(1.15 * worst, 0.85)
            ticks = [t for t in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10_000) if t <= worst]
        else:
            ax.set_ylim(worst + 0.5, 0.5)
            ticks = list(range(1, worst + 1)) if worst <= 12 else [1, *range(5, worst + 1, 5)]
        ax.set_yticks(ticks, [f"{tick:,}" for tick in ticks], minor=False)
        ax.minorticks_off()
