"""Average ranks of the arena, and two methods compared set by set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from tamis.evaluation.significance import friedman, nemenyi, paired_t

# Result of a selector on a table, see `unit.run_selector`.
Cell = Mapping[str, Any]
Cells = Mapping[tuple[str, str], Cell]
LEVEL = 0.05


class Standing(NamedTuple):
    """Average ranks of the methods, best first, and how far apart methods must be to differ."""

    methods: tuple[str, ...]
    ranks: tuple[float, ...]
    groups: tuple[tuple[int, ...], ...]
    difference: float
    p_value: float
    n_sets: int

    @property
    def as_good(self) -> tuple[str, ...]:
        """The best method and all that are not shown to differ from it."""
        return tuple(
            method
            for method, rank in zip(self.methods, self.ranks, strict=True)
            if self.p_value > LEVEL or rank - self.ranks[0] < self.difference
        )


class Duel(NamedTuple):
    """Sets on which one method is shown to be better than another, worse, or neither."""

    better: tuple[str, ...]
    worse: tuple[str, ...]
    equal: tuple[str, ...]


def is_complete(cell: Cell, n_splits: int) -> bool:
    """Whether every split was finished in time."""
    return len(cell["splits"]) == n_splits


def scores_of(cell: Cell) -> list[float]:
    """Scores of the splits."""
    return [split["score"] for split in cell["splits"]]


def ranks_on(cells: Cells, data: str, methods: Sequence[str], n_splits: int) -> NDArray[np.float64]:
    """Ranks on one table, 1 is best; who did not finish shares the last places."""
    means = [
        np.mean(scores_of(cells[data, method]))
        if is_complete(cells[data, method], n_splits)
        else -np.inf
        for method in methods
    ]
    return np.asarray(rankdata([-mean for mean in means]), dtype=np.float64)


def standing(
    cells: Cells, groups_of_sets: Sequence[Sequence[str]], methods: Sequence[str], n_splits: int
) -> Standing:
    """Average ranks over groups of sets; the sets of a group count as one."""
    table = np.array(
        [
            np.mean([ranks_on(cells, data, methods, n_splits) for data in group], axis=0)
            for group in groups_of_sets
        ]
    )
    # Ranks are ranked again, since means over a group need not be whole numbers.
    overall = friedman(table, greater_is_better=False)
    pairs = nemenyi(table, LEVEL, greater_is_better=False)
    order = np.argsort(pairs.average_ranks, kind="stable")
    place = {int(index): position for position, index in enumerate(order)}
    return Standing(
        methods=tuple(methods[index] for index in order),
        ranks=tuple(pairs.average_ranks[index] for index in order),
        groups=tuple(tuple(place[index] for index in group) for group in pairs.groups),
        difference=pairs.critical_difference,
        p_value=overall.p_value,
        n_sets=len(table),
    )


def duel(
    cells: Cells, sets: Sequence[str], one: str, other: str, n_splits: int, test_share: float
) -> Duel:
    """Compare two methods on every set, paired over the splits; not finishing loses."""
    found: dict[int, list[str]] = {1: [], -1: [], 0: []}
    for data in sets:
        mine, theirs = cells[data, one], cells[data, other]
        complete = is_complete(mine, n_splits), is_complete(theirs, n_splits)
        if all(complete):
            found[_winner(scores_of(mine), scores_of(theirs), test_share)].append(data)
        else:
            found[complete[0] - complete[1]].append(data)
    return Duel(tuple(found[1]), tuple(found[-1]), tuple(found[0]))


def _winner(mine: list[float], theirs: list[float], test_share: float) -> int:
    """1 or -1 if one is better beyond what other splits would change, else 0.

    A single split does not tell.
    """
    if len(mine) < 2 or np.array_equal(mine, theirs):
        return 0
    test = paired_t(mine, theirs, test_share)
    return int(np.sign(test.mean)) if test.p_value < LEVEL else 0
