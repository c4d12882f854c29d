"""Ranking: scores and the order they give; the only place that knows ties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tamis.exceptions import InputError


@dataclass(frozen=True)
class Ranking:
    """Scores of all columns and the order they give.

    Parameters
    ----------
    scores : ndarray of shape (n_columns,)
        Larger is better, all finite.
    order : ndarray of shape (n_columns,)
        Column indices, best first; of equal scores the lower index comes first.
    constant : ndarray of bool of shape (n_columns,)
        Columns that never vary (or hold nothing) and so cannot help anybody.
    names : sequence of str or None
        Names of the columns where they are known.
    """

    scores: NDArray[np.float64]
    order: NDArray[np.intp]
    constant: NDArray[np.bool_]
    names: Sequence[str] | None = None

    @classmethod
    def of(
        cls,
        scores: ArrayLike,
        *,
        constant: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        who: str = "Ranking",
    ) -> Ranking:
        """Order `scores`; a score that is not finite is an error that names the column."""
        scores = np.asarray(scores, dtype=np.float64)
        bad = np.flatnonzero(~np.isfinite(scores))
        if bad.size:
            column = int(bad[0]) if names is None else names[bad[0]]
            raise InputError(
                f"{who}: expected a finite score for every column, got {float(scores[bad[0]])!r} "
                f"for column {column!r}. Rescale the column, or leave it out."
            )
        order = np.argsort(-scores, kind="stable")
        mask = np.zeros(scores.size, bool) if constant is None else np.asarray(constant, bool)
        return cls(scores, order, mask, names)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.scores.size

    @property
    def positions(self) -> NDArray[np.intp]:
        """Rank of every column, 1 for the best."""
        positions = np.empty(self.n_columns, dtype=np.intp)
        positions[self.order] = np.arange(1, self.n_columns + 1)
        return positions

    @property
    def useful(self) -> NDArray[np.intp]:
        """Columns that vary, best first."""
        return self.order[~self.constant[self.order]]

    @property
    def curve(self) -> NDArray[np.float64]:
        """Scores of the columns that vary, best first: what an elbow is read from."""
        return self.scores[self.useful]

    @cached_property
    def positions_by_name(self) -> dict[str, int]:
        """Index of every column by its name; of equal names the first."""
        return {self.name(j): j for j in reversed(range(self.n_columns))}

    def name(self, column: int) -> str:
        """Name of a column, in scikit-learn's form ``x0`` where names are not known."""
        return f"x{column}" if self.names is None else str(self.names[column])
