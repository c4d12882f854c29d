"""HalfSamples: pairs of disjoint half samples, by class, strata and groups of rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.exceptions import InputError

Indices = NDArray[np.intp]
# Fewer rows, or groups of rows, leave a half sample with a single one.
FEWEST = 4


class HalfSamples(NamedTuple):
    """What is drawn: units of rows, one or a whole group each, in cells that are split evenly.

    A cell holds the units of one class and one stratum.
    """

    rows: Indices
    units: list[Indices]
    cells: list[Indices]
    # Labels to look at in every half, where the cells do not see to them.
    classes: NDArray[Any] | None
    who: str

    @classmethod
    def of(
        cls,
        rows: Indices,
        classes: NDArray[Any] | None,
        strata: NDArray[Any] | None,
        groups: NDArray[Any] | None,
        who: str,
    ) -> HalfSamples:
        """Plan for `rows`, those that carry weight; labels are those of all rows of the table."""
        if groups is None:
            units = list(rows[:, np.newaxis])
        else:
            units = [rows[groups[rows] == code] for code in np.unique(groups[rows])]
        if len(units) < FEWEST:
            word = "rows" if groups is None else "groups of rows"
            raise InputError(
                f"{who}: expected at least {FEWEST} {word} for two half samples, got {len(units)} "
                f"(n_samples={rows.size}). Pass more rows."
            )
        if strata is not None and not _are_uniform(strata, units):
            raise InputError(
                f"{who}: expected every group of rows within one stratum, got a group with rows of "
                "several. Merge these strata, or leave strata out."
            )
        named = {"stratum": strata}
        if classes is not None and _are_uniform(classes, units):
            named["class"], classes = classes, None
        return cls(rows, units, _cells(units, named, who), classes, who)

    def draw(self, random: np.random.Generator) -> tuple[Indices, Indices]:
        """Two disjoint halves, their rows in order; of an odd cell one unit is left out."""
        halves: tuple[list[Indices], list[Indices]] = ([], [])
        for cell in self.cells:
            mixed, size = random.permutation(cell), cell.size // 2
            halves[0].append(mixed[:size])
            halves[1].append(mixed[size : 2 * size])
        first, second = (self._rows_of(np.concatenate(half)) for half in halves)
        if self.classes is not None:
            self._check_classes(first, second)
        return first, second

    def _rows_of(self, drawn: Indices) -> Indices:
        if len(self.units) == self.rows.size:
            return np.sort(self.rows[drawn])
        return np.sort(np.concatenate([self.units[unit] for unit in drawn]))

    def _check_classes(self, *halves: Indices) -> None:
        assert self.classes is not None
        for half in halves:
            present = np.unique(self.classes[half])
            if present.size < 2:
                raise InputError(
                    f"{self.who}: expected two classes in every half sample, got only "
                    f"{present.tolist()[0]!r} in one of {half.size} rows. Use smaller groups of "
                    "rows, or more of them for every class."
                )


def _are_uniform(labels: NDArray[Any], units: list[Indices]) -> bool:
    """Whether all rows of a unit have the same label, in every unit."""
    return all(unit.size == 1 or bool((labels[unit] == labels[unit[0]]).all()) for unit in units)


def _cells(units: list[Indices], named: dict[str, NDArray[Any] | None], who: str) -> list[Indices]:
    """Units with the same labels; at least two of each kind."""
    known = {name: labels for name, labels in named.items() if labels is not None}
    if not known:
        return [np.arange(len(units))]
    first = np.array([unit[0] for unit in units])
    codes = [np.unique(labels[first], return_inverse=True)[1] for labels in known.values()]
    _, at, kind = np.unique(np.column_stack(codes), axis=0, return_index=True, return_inverse=True)
    # In the order that they come in, so that names of classes do not matter.
    cells = [np.flatnonzero(kind == code) for code in np.argsort(at)]
    for cell in cells:
        if cell.size < 2:
            row = int(first[cell[0]])
            labels = [f"{name} {labels[[row]].tolist()[0]!r}" for name, labels in known.items()]
            raise InputError(
                f"{who}: expected at least two rows (or groups of rows) of every class and "
                f"stratum, one for each half sample, got one of {' and '.join(labels)}. Leave it "
                "out, or merge it with another."
            )
    return cells
