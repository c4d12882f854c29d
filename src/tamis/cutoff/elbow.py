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
# Points this close to the farthest one, as a share of the height, may be the elbow as well.
NEARLY = 0.02
# There is no clear elbow if the numbers that may be it lie further apart than this factor.
WIDEST = 3


# A number of columns, and the smallest and largest that may be meant as well.
Bend = tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class Elbow(CutRule):
    """Keep the columns before the bend of the sorted score curve.

    The late elbow is the point farthest from the straight line between the ends of the curve: if it
    lies below the line, the columns before it are kept; if above, it ends a plateau and is kept,
    too. The early elbow is the same for the part of the curve up to the late one. Only columns that
    vary are on the curve. A flat or straight curve has no bend: all of them are kept, with a
    warning.

    `cut_details_` has both elbows and, as ``early_range`` and ``late_range``, the smallest and the
    largest number whose point is within 2% of the curve's height of the farthest one. Scores that
    change by less than 0.25% of the height leave the late elbow within its range. If the
    largest number is more than three times the smallest, there is no clear elbow: the farthest
    point still decides, with a warning.

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
        early, late = _bends(ranking.curve)
        count, low, high = early if self.which == "early" else late
        if early[0] == late[0] == ranking.useful.size > 1:
            warn(
                f"{self.who}: the scores have no bend, so all {count} columns that vary are kept. "
                "Give a number or another rule."
            )
        elif high > WIDEST * low:
            warn(
                f"{self.who}: the scores have no clear elbow; it may be anywhere from {low} to "
                f"{high} columns, and {count} are kept. Give a number or another rule."
            )
        details = {"early": early[0], "late": late[0]}
        ranges = {"early_range": early[1:], "late_range": late[1:]}
        return Cut(ranking.useful[:count], None, details | ranges)


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
    early, late = _bends(np.asarray(curve, dtype=np.float64))
    return early[0], late[0]


def _bends(curve: NDArray[np.float64]) -> tuple[Bend, Bend]:
    """The early and the late elbow."""
    late = _bend(curve)
    early = _bend(curve[: late[0] + 1])
    # Up to the late elbow the curve may be straight: then the two elbows are one.
    return (early if early[0] < late[0] else late), late


def _bend(curve: NDArray[np.float64]) -> Bend:
    """How many points stand before the sharpest bend; all of them when there is none."""
    n = curve.size
    if n < 2 or not curve[0] > curve[-1]:
        return n, n, n
    if n == 2:
        return 1, 1, 1
    height = (curve - curve[-1]) / (curve[0] - curve[-1])
    below = 1.0 - np.arange(n) / (n - 1) - height
    # Under the chord, the point itself is already low. Above it (a plateau that ends in a drop),
    # the point is the last one that is still high.
    count = np.arange(n) + (below < 0.0)
    distance = np.abs(below)
    farthest = distance.max()
    if farthest <= SMALLEST_BEND:
        return n, n, n
    # Of points equally far but for rounding the first.
    best = int(count[np.flatnonzero(distance > farthest - SMALLEST_BEND)[0]])
    nearly = count[distance >= farthest - NEARLY]
    return best, max(1, int(nearly.min())), int(nearly.max())
