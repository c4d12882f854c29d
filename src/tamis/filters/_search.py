"""Searches for sets of columns, and the scores that their orders give."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis._base import Scores

Floats = NDArray[np.float64]
# Agreement of one column with all others.
AgreementOf = Callable[[int], Floats]

# Values that differ by less are equal: other orders of summation must not decide.
TIE = 1e-12


def order_as_scores(
    order: NDArray[np.intp], criterion: Floats, constant: NDArray[np.bool_]
) -> Scores:
    """Scores that count down the order; behind it the other columns follow by their criterion.

    Of the followers, those with equal criteria share a score. Constant columns get 0.
    """
    scores = np.zeros(constant.size)
    varying = constant.size - int(constant.sum())
    scores[order] = np.arange(varying, varying - order.size, -1)
    rest = ~constant
    rest[order] = False
    # The place of the last of those that tie, so that nobody is lifted over a better column.
    values = rounded(criterion[rest])
    scores[rest] = values.size - _better_or_equal(values) + 1
    return scores, constant


def _better_or_equal(values: Floats) -> NDArray[np.intp]:
    """How many values are at least as large, for every value."""
    ascending = np.sort(values)
    return values.size - np.searchsorted(ascending, values, side="left")


def rounded(values: Floats) -> Floats:
    """Values to 40 binary digits, so that those equal up to rounding are equal."""
    mantissa, exponent = np.frexp(np.where(np.abs(values) < TIE, 0.0, values))
    return np.ldexp(np.round(mantissa * 2.0**40), exponent - 40)


class Subset(NamedTuple):
    """A set of columns in the order of entry, and sums that its merit is made of."""

    columns: tuple[int, ...]
    with_target: float
    among: float
    load: Floats  # agreement of every column with all members


# Heap of sets that were expanded: minus the merit of the next extension, number of the set, place
# of that extension in the order of extensions, the set, that order, and the merits.
Front = list[tuple[float, int, int, Subset, NDArray[np.intp], Floats]]


class MeritSearch:
    """Best-first search for the set of columns with the highest merit (Hall 1999).

    The merit of k columns is ``k a / sqrt(k + k (k - 1) b)`` with the mean agreement a of a column
    and the target, and b of two columns. The agreements of a column with the others are asked for
    when it first enters a set that is expanded.

    Parameters
    ----------
    relevance : ndarray of shape (n_columns,)
        Agreement of every column with the target, above 0.
    agreement_of : callable
        Agreements of one column with all columns.
    max_stale : int
        The search ends after this many expansions in a row without a better set.
    """

    def __init__(self, relevance: Floats, agreement_of: AgreementOf, max_stale: int):
        self.relevance, self.agreement_of, self.max_stale = relevance, agreement_of, max_stale
        self.rows: dict[int, Floats] = {}
        nothing = np.zeros(relevance.size)
        self.best = Subset((), 0.0, 0.0, nothing)
        self.best_merit = 0.0

    def expansions(self) -> Iterator[int]:
        """Walk from expansion to expansion; yields how many were made without a better set."""
        # The best child not yet taken, of every set expanded: the whole front, lazily.
        front: Front = []
        seen: set[frozenset[int]] = set()
        stale, number = 0, 0
        node: Subset | None = self.best
        while node is not None and stale < self.max_stale:
            merits = self.merits(node)
            order = np.argsort(-rounded(merits), kind="stable")[: merits.size - len(node.columns)]
            stale += 1
            if order.size and merits[order[0]] > self.best_merit + TIE:
                self.best, self.best_merit = self.enter(node, int(order[0])), merits[order[0]]
                stale = 0
            if order.size:
                heapq.heappush(front, (-merits[order[0]], number, 0, node, order, merits))
            number += 1
            yield stale
            node = self._next(front, seen)

    def _next(self, front: Front, seen: set[frozenset[int]]) -> Subset | None:
        """The best set that was not expanded yet."""
        while front:
            _, number, place, parent, order, merits = heapq.heappop(front)
            column = int(order[place])
            if place + 1 < order.size:
                after = -merits[order[place + 1]]
                heapq.heappush(front, (after, number, place + 1, parent, order, merits))
            members = frozenset((*parent.columns, column))
            if members not in seen:
                seen.add(members)
                return self.enter(parent, column)
        return None

    def enter(self, subset: Subset, column: int) -> Subset:
        """The set with one more column."""
        if column not in self.rows:
            self.rows[column] = self.agreement_of(column)
        return Subset(
            (*subset.columns, column),
            subset.with_target + self.relevance[column],
            subset.among + subset.load[column],
            subset.load + self.rows[column],
        )

    def merits(self, subset: Subset) -> Floats:
        """Merit of the set with each other column added; -1 for its members."""
        k = len(subset.columns) + 1
        merits = (subset.with_target + self.relevance) / np.sqrt(
            k + 2.0 * (subset.among + subset.load)
        )
        merits[list(subset.columns)] = -1.0
        return merits

    def path(self, columns: tuple[int, ...]) -> Floats:
        """Merit after the entry of each of some columns, in their order."""
        subset = Subset((), 0.0, 0.0, np.zeros(self.relevance.size))
        out = np.empty(len(columns))
        for place, column in enumerate(columns):
            out[place] = self.merits(subset)[column]
            subset = self.enter(subset, column)
        return out
