"""Elbow: where the sorted scores bend."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tamis._ranking import Ranking
from tamis._runtime.warning import warn
from tamis._validation import Choice, check_value
from tamis.cutoff.fit_data import FitData
from tamis.cutoff.rule import Cut, CutRule

# A bend smaller than this share of the curve's height is noise of the arithmetic, not an elbow.
SMALLEST_BEND = 1e-9


@dataclass(frozen=True, eq=False)
class Elbow(CutRule):
    """Keep the columns before the bend of the sorted score curve.

    The late elbow is the point farthest below the straight line between the ends of the curve, or,
    where no point is below it, the end of the plateau above it; the early elbow is the same for
    the part of the curve up to the late one. Only columns that vary are on the curve. A flat or
    straight curve has no bend: all of them are kept, with a warning.

    Parameters
    ----------
    which : {"early", "late"}, default="early"
        The steep first part only, or everything up to the flat end.
    keep, groups : optional
        As in :class:`CutRule`.

    Examples
    --------
    >>> import tamis
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selector = tamis.DFT().fit(X, y)
    >>> [selector.recut(tamis.cutoff.Elbow(which)).n_selected_ for which in ("early", "late")]
    [11, 15]
    """

    which: Literal["early", "late"] = "early"

    def __post_init__(self) -> None:
        check_value(self.which, Choice(("early", "late")), who=self.who, name="which")

    def find(self, ranking: Ranking, data: FitData | None) -> Cut:
        """Find both elbows, and cut at the one asked for."""
        early, late = find_elbows(ranking.curve)
        if early == late == ranking.useful.size > 1:
            warn(
                f"{self.who}: the scores have no bend, so all {late} columns that vary are kept. "
                "Give a number or another rule."
            )
        count = early if self.which == "early" else late
        return Cut(ranking.useful[:count], None, {"early": early, "late": late})


def find_elbows(curve: ArrayLike) -> tuple[int, int]:
    """Number of columns before the early and before the late elbow.

    Parameters
    ----------
    curve : array-like of shape (n,)
        Scores in descending order.

    Returns
    -------
    early, late : int
        Counts, ``1 <= early <= late <= n`` for a curve that is not empty.

    Examples
    --------
    >>> from tamis.cutoff import find_elbows
    >>> find_elbows([9.0, 8.5, 8.0, 1.0, 0.9, 0.8, 0.7, 0.6])
    (3, 3)
    """
    curve = np.asarray(curve, dtype=np.float64)
    late = _bend(curve)
    # Up to the late elbow the curve may be straight: then the two elbows are one.
    return min(_bend(curve[: late + 1]), late), late


def _bend(curve: NDArray[np.float64]) -> int:
    """How many points stand before the sharpest bend; all of them when there is none."""
    n = curve.size
    if n < 2 or not curve[0] > curve[-1]:
        return n
    if n == 2:
        return 1
    height = (curve - curve[-1]) / (curve[0] - curve[-1])
    below = 1.0 - np.arange(n) / (n - 1) - height
    # Under the chord, the point itself is already low. Above it (a plateau that ends in a drop),
    # the point is the last one that is still high.
    if below.max() > SMALLEST_BEND:
        return _first_largest(below)
    if below.min() < -SMALLEST_BEND:
        return _first_largest(-below) + 1
    return n


def _first_largest(distance: NDArray[np.float64]) -> int:
    """Position of the largest distance; of those equal but for rounding the first."""
    return int(np.flatnonzero(distance > distance.max() - SMALLEST_BEND)[0])
