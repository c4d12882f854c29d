"""Dimensions of a space of meta-features: whole numbers, real numbers, ordered values, kinds."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np

from tamis._validation import Custom, Number, check_value
from tamis.exceptions import InputError

# A float64 holds every whole number up to here, so that `encode` loses nothing.
LARGEST_INTEGER = 2**53

# More values than this are shown by the first ones and the last.
SHOWN = 8


@dataclass(frozen=True, repr=False)
class _Range:
    """Numbers from `low` to `high`, which stand for themselves in an array."""

    low: Any
    high: Any
    _kind: ClassVar[type[int] | type[float]]
    _ends: ClassVar[Custom]

    def __post_init__(self) -> None:
        who = type(self).__name__
        for name in ("low", "high"):
            value = getattr(self, name)
            check_value(value, self._ends, who=who, name=name)
            object.__setattr__(self, name, self._kind(value))
        if self.low > self.high:
            raise InputError(
                f"{who}: expected low <= high, got low={self.low!r} and high={self.high!r}."
            )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.low!r}, {self.high!r})"

    def describe(self) -> str:
        """Phrase that completes "must be ..."."""
        word = "an int" if self._kind is int else "a number"
        return f"{word} from {self.low!r} to {self.high!r}"

    def check(self, value: Any) -> Any:
        """Give the value as an int or a float, or raise."""
        if not Number(self._kind, self.low, self.high).allows(value):
            raise _wrong(self, value)
        return self._kind(value)

    def encode(self, value: Any) -> float:
        """Number that stands for the value in an array: the value itself."""
        return float(value)

    def decode(self, number: float) -> Any:
        """Value that the number stands for."""
        if self._kind is int and not float(number).is_integer():
            raise _wrong(self, number)
        return self.check(self._kind(number))

    def near(self, value: Any, rng: np.random.Generator, step: float) -> Any:
        """Make a Gaussian step from `value`; beyond a border it ends on the border."""
        width = self.high - self.low
        # No move is longer than the width; cut before rounding, which refuses infinity.
        move = min(max(step * width * rng.standard_normal(), -width), width)
        return self._clip(value + (round(move) if self._kind is int else move))

    def _clip(self, value: Any) -> Any:
        return self._kind(min(max(value, self.low), self.high))


class Integer(_Range):
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

    _kind = int
    _ends = Custom(Number(int, -LARGEST_INTEGER, LARGEST_INTEGER).allows, "an int within 2**53")

    @property
    def size(self) -> int:
        """Number of values."""
        return int(self.high - self.low + 1)

    def sample(self, rng: np.random.Generator) -> int:
        """Draw a value; all are equally likely."""
        return int(rng.integers(self.low, self.high, endpoint=True))


class Real(_Range):
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

    _kind = float
    _ends = Custom(lambda end: Number(float).allows(end) and math.isfinite(end), "a finite number")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not math.isfinite(self.high - self.low):
            raise InputError(f"Real: high - low must be finite, got {self!r}.")

    @property
    def size(self) -> float:
        """Number of values: infinite, or 1 if both ends are the same."""
        return math.inf if self.low < self.high else 1

    def sample(self, rng: np.random.Generator) -> float:
        """Draw a value from the uniform distribution."""
        return float(self._clip(self.low + (self.high - self.low) * rng.random()))


@dataclass(frozen=True, init=False, repr=False)
class _Listed:
    """One of some listed values, encoded by its place among them."""

    values: tuple[Any, ...]

    def __init__(self, values: Iterable[Any]):
        who = type(self).__name__
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
                    f"{who}: expected hashable values such as texts, numbers or tuples, got "
                    f"{value!r}."
                ) from None
            if again or value != value:
                reason = "it is there twice" if again else "it does not equal itself"
                raise InputError(f"{who}: expected different values, got {value!r}: {reason}.")
            seen.add(value)
        object.__setattr__(self, "values", tuple(listed))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._shown()})"

    @property
    def size(self) -> int:
        """Number of values."""
        return len(self.values)

    def describe(self) -> str:
        """Phrase that completes "must be ..."."""
        return f"one of {self._shown()}"

    def check(self, value: Any) -> Any:
        """Give the value as it was given to the dimension, or raise."""
        return self.values[self._place(value)]

    def sample(self, rng: np.random.Generator) -> Any:
        """Draw a value; all are equally likely."""
        return self.values[rng.integers(self.size)]

    def encode(self, value: Any) -> float:
        """Number that stands for the value in an array: its place."""
        return float(self._place(value))

    def decode(self, number: float) -> Any:
        """Value that the number stands for."""
        last = self.size - 1
        if not (float(number).is_integer() and 0 <= number <= last):
            raise InputError(
                f"{type(self).__name__}: must be the place of a value, from 0 to {last}, got "
                f"{number!r}."
            )
        return self.values[int(number)]

    def _place(self, value: Any) -> int:
        try:
            hash(value)  # an array would be compared with each value, element by element
            return self.values.index(value)
        except (TypeError, ValueError):
            raise _wrong(self, value) from None

    def _shown(self) -> str:
        if self.size <= SHOWN:
            return repr(list(self.values))
        first = ", ".join(repr(value) for value in self.values[: SHOWN - 2])
        return f"[{first}, ..., {self.values[-1]!r}]"


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
        return self.values[Integer(0, self.size - 1).near(self._place(value), rng, step)]


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
        place = self._place(value)
        if self.size > 1 and rng.random() < -math.expm1(-step):
            place = (place + 1 + int(rng.integers(self.size - 1))) % self.size
        return self.values[place]


Dimension: TypeAlias = Integer | Real | Ordered | Categorical


def _wrong(dimension: _Range | _Listed, value: Any) -> InputError:
    who = type(dimension).__name__
    return InputError(f"{who}: must be {dimension.describe()}, got {value!r}.")
