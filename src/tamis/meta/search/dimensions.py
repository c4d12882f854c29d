"""Dimensions of a space of meta-features: whole numbers, real numbers, ordered values, kinds."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from tamis._validation import Number
from tamis.exceptions import InputError

# A float64 holds every whole number up to here, so that `encode` loses nothing.
LARGEST_INTEGER = 2**53

# More values than this are shown by the first ones and the last.
SHOWN = 8


@dataclass(frozen=True, repr=False)
class Integer:
    """A whole number from `low` to `high`, both included.

    A step adds Gaussian noise with standard deviation ``step * (high - low)`` and goes to the
    nearest whole number in the range: a move beyond the border ends on the border.

    Parameters
    ----------
    low, high : int
        Ends of the range, ``low <= high``. Equal ends make a fixed dimension.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.meta import Integer
    >>> inputs = Integer(1, 8)
    >>> inputs.size
    8
    >>> inputs.near(8, np.random.default_rng(0), step=0.1) in (6, 7, 8)
    True
    """

    low: int
    high: int

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            value = getattr(self, name)
            if not Number(int, -LARGEST_INTEGER, LARGEST_INTEGER).allows(value):
                raise InputError(f"Integer: {name} must be an int within 2**53, got {value!r}.")
            object.__setattr__(self, name, int(value))
        _check_range(self)

    def __repr__(self) -> str:
        return f"Integer({self.low}, {self.high})"

    @property
    def size(self) -> int:
        """Number of values."""
        return self.high - self.low + 1

    def describe(self) -> str:
        """Phrase that completes "must be ..."."""
        return f"an int from {self.low} to {self.high}"

    def check(self, value: Any) -> int:
        """Give the value as an int, or raise."""
        if not Number(int, self.low, self.high).allows(value):
            raise _wrong(self, value)
        return int(value)

    def sample(self, rng: np.random.Generator) -> int:
        """Draw a value; all are equally likely."""
        return int(rng.integers(self.low, self.high, endpoint=True))

    def near(self, value: int, rng: np.random.Generator, step: float) -> int:
        """Make a rounded Gaussian step from `value`; beyond a border it ends on the border."""
        return _near_integer(value, self.low, self.high, rng, step)

    def encode(self, value: int) -> float:
        """Number that stands for the value in an array: the value itself."""
        return float(value)

    def decode(self, number: float) -> int:
        """Value that the number stands for."""
        if not float(number).is_integer():
            raise _wrong(self, number)
        return self.check(int(number))


@dataclass(frozen=True, repr=False)
class Real:
    """A real number from `low` to `high`.

    A step adds Gaussian noise with standard deviation ``step * (high - low)``; a move beyond the
    border ends on the border.

    Parameters
    ----------
    low, high : float
        Ends of the range, finite, ``low <= high``. Equal ends make a fixed dimension.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.meta import Real
    >>> scatter = Real(1, 3.5)
    >>> scatter.size
    inf
    >>> 1 <= scatter.near(3.5, np.random.default_rng(0), step=0.1) <= 3.5
    True
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            value = getattr(self, name)
            if not (Number(float).allows(value) and math.isfinite(value)):
                raise InputError(f"Real: {name} must be a finite number, got {value!r}.")
            object.__setattr__(self, name, float(value))
        _check_range(self)
        if not math.isfinite(self.high - self.low):
            raise InputError(f"Real: high - low must be finite, got {self!r}.")

    def __repr__(self) -> str:
        return f"Real({self.low!r}, {self.high!r})"

    @property
    def size(self) -> float:
        """Number of values: infinite, or 1 if both ends are the same."""
        return math.inf if self.low < self.high else 1

    def describe(self) -> str:
        """Phrase that completes "must be ..."."""
        return f"a number from {self.low!r} to {self.high!r}"

    def check(self, value: Any) -> float:
        """Give the value as a float, or raise."""
        if not Number(float, self.low, self.high).allows(value):
            raise _wrong(self, value)
        return float(value)

    def sample(self, rng: np.random.Generator) -> float:
        """Draw a value from the uniform distribution."""
        return self._clip(self.low + (self.high - self.low) * rng.random())

    def near(self, value: float, rng: np.random.Generator, step: float) -> float:
        """Make a Gaussian step from `value`; beyond a border it ends on the border."""
        return self._clip(value + step * (self.high - self.low) * rng.standard_normal())

    def encode(self, value: float) -> float:
        """Number that stands for the value in an array: the value itself."""
        return float(value)

    def decode(self, number: float) -> float:
        """Value that the number stands for."""
        return self.check(float(number))

    def _clip(self, value: float) -> float:
        return float(min(max(value, self.low), self.high))


@dataclass(frozen=True, init=False, repr=False)
class _Listed:
    """One of some listed values, encoded by its place among them."""

    values: tuple[Any, ...]

    def __init__(self, values: Iterable[Any]):
        object.__setattr__(self, "values", _check_values(type(self).__name__, values))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({_show(self.values)})"

    @property
    def size(self) -> int:
        """Number of values."""
        return len(self.values)

    def describe(self) -> str:
        """Phrase that completes "must be ..."."""
        return f"one of {_show(self.values)}"

    def check(self, value: Any) -> Any:
        """Give the value as it was given to the dimension, or raise."""
        return self.values[_place(self, value)]

    def sample(self, rng: np.random.Generator) -> Any:
        """Draw a value; all are equally likely."""
        return self.values[rng.integers(self.size)]

    def encode(self, value: Any) -> float:
        """Number that stands for the value in an array: its place."""
        return float(_place(self, value))

    def decode(self, number: float) -> Any:
        """Value that the number stands for."""
        return _at_place(self, number)


class Ordered(_Listed):
    """One of some values with an order, such as sizes; the order is that given.

    A step is the step of an :class:`Integer` on the places 0 to ``len(values) - 1``.

    Parameters
    ----------
    values : iterable of hashable values
        In their order, all different; they may be numbers, texts or others.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.meta import Ordered
    >>> size = Ordered([4, 8, 12, 16])
    >>> size.near(4, np.random.default_rng(1), step=0.2)
    4
    >>> size.encode(12)
    2.0
    """

    def near(self, value: Any, rng: np.random.Generator, step: float) -> Any:
        """Make a rounded Gaussian step on the places; beyond a border it ends on the border."""
        place = _place(self, value)
        return self.values[_near_integer(place, 0, self.size - 1, rng, step)]


class Categorical(_Listed):
    """One of some values without an order, such as kinds.

    A step goes to another value with probability ``1 - exp(-step)``, about `step` while that is
    small; all the others are equally likely.

    Parameters
    ----------
    values : iterable of hashable values
        All different; they may be texts, numbers or others.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.meta import Categorical
    >>> kind = Categorical(["noun", "verb", "other"])
    >>> kind.near("noun", np.random.default_rng(0), step=0.0)
    'noun'
    >>> kind.encode("verb")
    1.0
    """

    def near(self, value: Any, rng: np.random.Generator, step: float) -> Any:
        """Jump to another value with probability ``1 - exp(-step)``."""
        place = _place(self, value)
        if self.size > 1 and rng.random() < -math.expm1(-step):
            place = (place + 1 + int(rng.integers(self.size - 1))) % self.size
        return self.values[place]


Dimension: TypeAlias = Integer | Real | Ordered | Categorical


def _check_range(dimension: Integer | Real) -> None:
    if dimension.low > dimension.high:
        who = type(dimension).__name__
        raise InputError(
            f"{who}: expected low <= high, got low={dimension.low!r} and high={dimension.high!r}."
        )


def _check_values(who: str, values: Any) -> tuple[Any, ...]:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InputError(f"{who}: expected a list of values, got {values!r}.")
    # Values of numpy become those of Python, which print and save as anyone expects.
    listed = [value.item() if isinstance(value, np.generic) else value for value in values]
    if not listed:
        raise InputError(f"{who}: expected at least one value, got none.")
    seen: set[Any] = set()
    for value in listed:
        try:
            again = value in seen
        except TypeError:
            raise InputError(
                f"{who}: expected hashable values such as texts, numbers or tuples, got {value!r}."
            ) from None
        if again or value != value:
            reason = "it is there twice" if again else "it does not equal itself"
            raise InputError(f"{who}: expected different values, got {value!r}: {reason}.")
        seen.add(value)
    return tuple(listed)


def _place(dimension: _Listed, value: Any) -> int:
    try:
        hash(value)  # an array would be compared with each value, element by element
        return dimension.values.index(value)
    except (TypeError, ValueError):
        raise _wrong(dimension, value) from None


def _at_place(dimension: _Listed, number: float) -> Any:
    last = dimension.size - 1
    if not (float(number).is_integer() and 0 <= number <= last):
        raise InputError(
            f"{type(dimension).__name__}: must be the place of a value, from 0 to {last}, got "
            f"{number!r}."
        )
    return dimension.values[int(number)]


def _wrong(dimension: Dimension | _Listed, value: Any) -> InputError:
    who = type(dimension).__name__
    return InputError(f"{who}: must be {dimension.describe()}, got {value!r}.")


def _near_integer(value: int, low: int, high: int, rng: np.random.Generator, step: float) -> int:
    width = high - low
    move = step * width * rng.standard_normal()
    # No move is longer than the width; cut before rounding, which refuses infinity.
    return min(max(value + round(min(max(move, -width), width)), low), high)


def _show(values: tuple[Any, ...]) -> str:
    if len(values) <= SHOWN:
        return repr(list(values))
    first = ", ".join(repr(value) for value in values[: SHOWN - 2])
    return f"[{first}, ..., {values[-1]!r}]"
