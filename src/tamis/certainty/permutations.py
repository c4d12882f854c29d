"""Permutations: the orders of the rows that are as likely as the given one, and draws of them."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.threads import run_kernel, split_evenly, threads_for
from tamis.exceptions import InputError
from tamis.statistics.permuted import Orders, Rotations

Codes = NDArray[np.intp]
# Bytes that the orders of a batch may take.
BATCH_BYTES = 2**25
# Orders of a batch at least, if memory allows, and cells of their targets, which stay in the cache.
FEW_ORDERS, CACHED_CELLS = 256, 2**16
# Rotations pay from this many rows per order.
ROWS_PER_ORDER = 2


class TooFewOrders(InputError):
    """The target has too few different orders for any p-value to reach the level."""


class Permutations(NamedTuple):
    """Units of rows that exchange their targets with others of their kind.

    A unit is a row, or all rows of a group. Rows of weight 0 take no part.
    """

    n_rows: int
    members: NDArray[np.int32]
    size: NDArray[np.int32]
    bounds: NDArray[np.int64]
    plain: bool

    @classmethod
    def of(
        cls, n_rows: int, weight: Any, strata: Codes | None, groups: Codes | None, who: str
    ) -> Permutations:
        """Units within strata; groups of rows move as a whole, among groups of equal size."""
        rows = np.arange(n_rows) if weight is None else np.flatnonzero(weight > 0)
        kind = np.zeros(rows.size, np.intp) if strata is None else strata[rows]
        if groups is None:
            order = np.argsort(kind, kind="stable")
            members, size, kinds = rows[order], np.ones(rows.size, np.intp), kind[order]
        else:
            members, size, kinds = _whole_groups(rows, groups[rows], kind, who)
        bounds = np.concatenate([[0], np.flatnonzero(np.diff(kinds)) + 1, [kinds.size]])
        return cls(
            n_rows, members.astype(np.int32), size.astype(np.int32), bounds.astype(np.int64),
            strata is None and groups is None,
        )  # fmt: skip

    def check(self, target: NDArray[Any], level: float, who: str) -> None:
        """Raise if too few orders of the target differ for a p-value to reach the level."""
        if self.plain and level * self.members.size >= 1:
            seen = target[self.members]
            if (seen != seen[0]).any():  # one row may exchange its target with any other
                return
        logarithm = self._log_distinct(target)
        if np.exp(-logarithm) <= level * (1 + 1e-9):
            return
        count = round(np.exp(logarithm))
        largest = int(np.diff(self.bounds).max())
        raise TooFewOrders(
            f"{who}: expected at least {ceil(1 / level - 1e-9)} different orders of the target for "
            f"level={level!r}, got {count}: strata, groups, sample_weight and equal targets leave "
            f"{self.bounds.size - 1} kinds of rows or groups that exchange their targets, the "
            f"largest with {largest}. Merge strata, or take groups of equal sizes or a larger "
            "level."
        )

    def _log_distinct(self, target: NDArray[Any]) -> float:
        """Logarithm of the number of different targets that the orders give."""
        from scipy.special import gammaln

        codes = np.unique(target[self.members], return_inverse=True)[1]
        start = np.concatenate([[0], np.cumsum(self.size)])
        total = 0.0
        for a, b in zip(self.bounds[:-1], self.bounds[1:], strict=True):
            blocks = codes[start[a] : start[b]].reshape(b - a, -1)
            alike = np.unique(blocks, axis=0, return_counts=True)[1]
            total += float(gammaln(b - a + 1) - gammaln(alike + 1).sum())
        return total

    def rotations(self, count: int, random: np.random.Generator) -> Rotations | None:
        """At least so many rotations, for many rows of one kind; None if they would not pay.

        Orbits are as long as leaves the fewest rows over, of lengths with a fast transform.
        """
        from scipy.fft import next_fast_len

        n = self.members.size
        if not self.plain or n < ROWS_PER_ORDER * (count + 1) or n < self.n_rows:
            return None
        lengths, longest = [next_fast_len(count + 1, real=True)], n // (n // (count + 1))
        while (longer := next_fast_len(lengths[-1] + 1, real=True)) <= longest:
            lengths.append(longer)
        best = min(lengths, key=lambda one: n % one)
        return Rotations(random.permutation(n).astype(np.int32), n // best, best)

    def batches(self, states: NDArray[np.uint64], n_jobs: int | None) -> Iterator[Orders]:
        """Orders, one per state, some at a time; the states decide them, not the batches."""
        for first, last in split_evenly(0, states.size, self.n_batches(states.size)):
            yield self.orders(states[first:last], n_jobs)

    def n_batches(self, count: int) -> int:
        """How many batches there are for so many orders."""
        cached = max(FEW_ORDERS, CACHED_CELLS // self.n_rows)
        return ceil(count / min(self.batch_size, cached))

    @property
    def batch_size(self) -> int:
        """Orders that are looked at together."""
        return max(16, BATCH_BYTES // (4 * self.n_rows))

    def orders(self, states: NDArray[np.uint64], n_jobs: int | None = 1) -> Orders:
        """One order of the rows per state."""
        from tamis.certainty._permutation_kernels import shuffle_units

        out = np.empty((states.size, self.n_rows), np.int32)

        def work(first: int, last: int) -> None:
            shuffle_units(self.members, self.size, self.bounds, states[first:last], out[first:last])

        threads = threads_for(out.size, n_jobs)
        run_kernel(shuffle_units, work, split_evenly(0, states.size, threads), threads)
        return out


def draw_states(random: np.random.Generator, count: int) -> NDArray[np.uint64]:
    """States that orders are drawn from."""
    return random.integers(2**64, size=count, dtype=np.uint64)


def _whole_groups(
    rows: Codes, groups: Codes, strata: Codes, who: str
) -> tuple[Codes, Codes, Codes]:
    """Rows sorted by group, size of every group, and its kind: groups of a kind come together."""
    _, groups = np.unique(groups, return_inverse=True)
    size = np.bincount(groups)
    stratum = np.zeros(size.size, np.intp)
    stratum[groups] = strata
    mixed = np.flatnonzero(stratum[groups] != strata)
    if mixed.size:
        raise InputError(
            f"{who}: expected groups of rows that lie within one stratum, got a group whose row "
            f"{int(rows[mixed[0]])} is in another. Leave out strata, or make groups smaller."
        )
    _, kind = np.unique(np.column_stack([size, stratum]), axis=0, return_inverse=True)
    kind = kind.reshape(-1)
    order = np.argsort(kind, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    members = rows[np.argsort(place[groups], kind="stable")]
    return members, size[order], kind[order]
