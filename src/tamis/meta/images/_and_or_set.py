"""A set of AND/OR patterns: layout and checks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tamis._validation import N_JOBS, Constraint, Custom, Number
from tamis.exceptions import InputError

Integers = NDArray[np.int64]

MOST_INPUTS = 8

# Features that `repr` writes out.
SHOWN = 2


@dataclass(frozen=True, eq=False, repr=False)
class AndOrSet:
    """Features made of pixels: AND of the inputs, OR over ``shift * shift`` shifted copies.

    Sets compare by value, can be stored as JSON with `to_dict`, and give sets again for an index,
    a mask or a slice. The inputs of a feature are kept sorted by row, then by column.

    Attributes
    ----------
    rows, columns : ndarray of int of shape (n_features, 8)
        Pixels of the inputs; 0 beyond the number of inputs.
    positive : ndarray of bool of shape (n_features, 8)
        False where the pixel is negated, and beyond the number of inputs.
    n_inputs : ndarray of int of shape (n_features,)
        Number of inputs, 1 to 8.
    shift : ndarray of int of shape (n_features,)
        Side of the square of shifts, 1 for none.
    """

    rows: Integers
    columns: Integers
    positive: NDArray[np.bool_]
    n_inputs: Integers
    shift: Integers

    @classmethod
    def of(cls, table: Integers, n_inputs: Integers, shift: Integers) -> AndOrSet:
        """Make a set of row, column and sign of inputs in any order, (n_features, 8, 3)."""
        used = np.arange(MOST_INPUTS) < n_inputs[:, None]
        order = np.lexsort((table[..., 1], table[..., 0], ~used), axis=1)
        ordered = np.take_along_axis(table, order[..., None], axis=1)
        rows, columns, signs = np.moveaxis(np.where(used[..., None], ordered, 0), 2, 0).copy()
        return cls._frozen(rows, columns, signs == 1, n_inputs.copy(), shift.copy())

    @classmethod
    def from_inputs(cls, inputs: Iterable[Any], shift: ArrayLike = 1) -> AndOrSet:
        """Make a set by hand, see :meth:`tamis.meta.AndOrFeatures.features`."""
        lists = [_check_feature(feature) for feature in inputs]
        table = np.zeros((len(lists), MOST_INPUTS, 3), dtype=np.int64)
        for row, feature in zip(table, lists, strict=True):
            row[: len(feature)] = feature
        n_inputs = np.array([len(feature) for feature in lists], dtype=np.int64)
        shifts = _check_shifts(shift, len(lists))
        return cls.of(table, n_inputs, shifts)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> AndOrSet:
        """Make the set again of what `to_dict` gave."""
        if not isinstance(record, Mapping) or set(record) != {"inputs", "shift"}:
            raise InputError(
                f"AndOrSet.from_dict: expected a dict with 'inputs' and 'shift', got {record!r}."
            )
        return cls.from_inputs(record["inputs"], record["shift"])

    def to_dict(self) -> dict[str, Any]:
        """Lists of ints for JSON: ``[row, column, 1 or 0]`` of every input, and ``"shift"``."""
        table = np.stack([self.rows, self.columns, self.positive.astype(np.int64)], axis=2)
        inputs = [part[:n].tolist() for part, n in zip(table, self.n_inputs, strict=True)]
        return {"inputs": inputs, "shift": self.shift.tolist()}

    @property
    def used(self) -> NDArray[np.bool_]:
        """Which places of `rows`, `columns` and `positive` hold an input."""
        return np.arange(MOST_INPUTS) < self.n_inputs[:, None]

    def centre(self) -> NDArray[np.float64]:
        """Row and column of the centre of gravity of each feature, (n_features, 2)."""
        n = self.n_inputs.astype(np.float64)
        return np.column_stack([self.rows.sum(axis=1) / n, self.columns.sum(axis=1) / n])

    def scatter(self) -> NDArray[np.float64]:
        """Mean distance of the inputs of each feature from their centre of gravity."""
        centre = self.centre()
        distance = np.hypot(self.rows - centre[:, :1], self.columns - centre[:, 1:])
        return np.asarray(np.where(self.used, distance, 0.0).sum(axis=1) / self.n_inputs)

    def __len__(self) -> int:
        return len(self.shift)

    def __getitem__(self, chosen: Any) -> AndOrSet:
        if isinstance(chosen, int | np.integer) and not isinstance(chosen, bool):
            if not -len(self) <= chosen < len(self):
                raise IndexError(f"AndOrSet: no feature {chosen} in a set of {len(self)}.")
            chosen = [int(chosen)]
        if not isinstance(chosen, slice):
            chosen = _check_chosen(chosen, len(self))
        return self._frozen(*(part[chosen].copy() for part in self._arrays()))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AndOrSet):
            return NotImplemented
        pairs = zip(self._arrays(), other._arrays(), strict=True)
        return all(np.array_equal(mine, theirs) for mine, theirs in pairs)

    def __hash__(self) -> int:
        return hash(tuple(part.tobytes() for part in self._arrays()))

    def __reduce__(self) -> tuple[Any, ...]:
        return AndOrSet._frozen, self._arrays()

    def __repr__(self) -> str:
        count = f"{len(self)} feature{'' if len(self) == 1 else 's'}"
        if not len(self):
            return f"AndOrSet({count})"
        shown = [self._formula(number) for number in range(min(len(self), SHOWN))]
        more = ", ..." if len(self) > SHOWN else ""
        return f"AndOrSet({count}: {', '.join(shown)}{more})"

    def _formula(self, number: int) -> str:
        parts = zip(self.rows[number], self.columns[number], self.positive[number], strict=True)
        signed = [f"{'' if sign else 'not '}({row}, {column})" for row, column, sign in parts]
        text = " and ".join(signed[: self.n_inputs[number]])
        shift = self.shift[number]
        return text if shift == 1 else f"[{text}] shifted {shift} x {shift}"

    def _arrays(self) -> tuple[NDArray[Any], ...]:
        return self.rows, self.columns, self.positive, self.n_inputs, self.shift

    @classmethod
    def _frozen(cls, *arrays: NDArray[Any]) -> AndOrSet:
        for part in arrays:
            part.flags.writeable = False
        return cls(*arrays)


def _check_feature(items: Iterable[Any]) -> list[tuple[int, int, int]]:
    feature = []
    for item in items:
        values = list(item) if isinstance(item, Iterable) and not isinstance(item, str) else []
        whole = [v for v in values if isinstance(v, int | np.integer | np.bool_)]
        if len(whole) != len(values) or len(values) not in (2, 3):
            raise InputError(
                f"AndOrSet: expected (row, column) or (row, column, positive) in whole numbers for "
                f"an input, got {item!r}."
            )
        row, column, sign = [*map(int, values), 1][:3]
        if row < 0 or column < 0 or sign not in (0, 1):
            raise InputError(
                "AndOrSet: expected row and column >= 0, and 1 or 0 for a negated pixel, got "
                f"{item!r}."
            )
        feature.append((row, column, sign))
    if not 1 <= len(feature) <= MOST_INPUTS:
        raise InputError(
            f"AndOrSet: expected 1 to {MOST_INPUTS} inputs for a feature, got {len(feature)}."
        )
    if len({(row, column) for row, column, _ in feature}) < len(feature):
        raise InputError(f"AndOrSet: expected different pixels in a feature, got {feature}.")
    return feature


def _check_shifts(shift: ArrayLike, n: int) -> Integers:
    shifts = np.asarray(shift)
    if n == 0 and shifts.size == 0:
        return np.zeros(0, dtype=np.int64)
    if shifts.dtype.kind not in "iu" or shifts.shape not in ((), (n,)) or (shifts < 1).any():
        raise InputError(
            f"AndOrSet: shift must be an int of at least 1, or {n} of them, got {shift!r}."
        )
    return np.broadcast_to(shifts.astype(np.int64), (n,)).copy()


def _check_chosen(chosen: Any, n: int) -> NDArray[Any]:
    array = np.asarray(chosen)
    if array.size == 0 and array.dtype.kind != "b":
        array = array.astype(np.int64)
    if array.ndim != 1 or array.dtype.kind not in "biu":
        raise InputError(
            f"AndOrSet: expected a mask or a list of indices, got {type(chosen).__name__} with "
            f"shape {array.shape} and dtype {array.dtype}."
        )
    if array.dtype.kind == "b" and len(array) != n:
        raise InputError(f"AndOrSet: expected a mask of {n} bools, got {len(array)}.")
    if array.dtype.kind != "b" and array.size and not (-n <= array.min() and array.max() < n):
        raise InputError(
            f"AndOrSet: expected indices below {n}, got {array.min()} to {array.max()}."
        )
    return array


# The four meta-features of the paper, and the place of a feature in the image.
FOUR = ("num_inputs", "percent_pos", "shift", "scatter")
NAMES = (*FOUR, "row", "column")


def _are_two(number: Number, value: Any) -> bool:
    pair = isinstance(value, tuple | list) and len(value) == 2
    return pair and all(map(number.allows, value))


def _is_range(value: Any) -> bool:
    return _are_two(Number(float, 0.0, open_high=True), value) and value[0] <= value[1]


CONSTRAINTS: dict[str, Constraint] = {
    "image_shape": Custom(
        lambda value: _are_two(Number(int, 1), value), "(height, width) in ints of at least 1"
    ),
    "threshold": Custom(Number(float, open_low=True, open_high=True).allows, "a finite number"),
    "max_inputs": Number(int, low=1, high=MOST_INPUTS),
    "max_shift": Number(int, low=1, high=64),
    "min_share": Number(float, low=0, high=0.5),
    "scatter": Custom(_is_range, "two numbers (low, high) of at least 0, low <= high"),
    "meta_features": Custom(
        lambda value: (
            isinstance(value, tuple | list)
            and len(set(value)) == len(value) > 0
            and set(value) <= set(NAMES)
        ),
        f"one or several of {', '.join(map(repr, NAMES))}",
    ),
    "fixed": Custom(
        lambda value: value is None or (isinstance(value, Mapping) and set(value) <= set(NAMES)),
        f"a dict with values of some of {', '.join(map(repr, NAMES))}, or None",
    ),
    "window": Number(int, low=1),
    "n_jobs": N_JOBS,
}
