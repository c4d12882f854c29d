"""Parameter constraints and the one template of their messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from tamis._runtime.byte_sizes import PHRASE, given_bytes
from tamis.exceptions import InputError


class Constraint(Protocol):
    """What a parameter may be: a test and a phrase that completes "must be ..."."""

    def allows(self, value: Any) -> bool:
        """Whether the value is acceptable."""

    def describe(self) -> str:
        """Phrase for messages and help."""


@dataclass(frozen=True)
class Number:
    """An int or a float in an interval; a bool is no number.

    Examples
    --------
    >>> from tamis.base import Number
    >>> Number(int, low=2).describe()
    'an int of at least 2'
    """

    kind: type[int] | type[float]
    low: float = -np.inf
    high: float = np.inf
    open_low: bool = False
    open_high: bool = False
    or_none: bool = False

    def allows(self, value: Any) -> bool:
        """Whether the value is such a number; fractions and half precision are not compiled."""
        if value is None:
            return self.or_none
        kinds = (int, np.integer) if self.kind is int else (int, float, np.integer, np.float32)
        too_long = isinstance(value, int) and abs(value) >= 2**63
        if not isinstance(value, kinds) or isinstance(value, bool) or too_long:
            return False
        above = self.low < value if self.open_low else self.low <= value
        return bool(above and (value < self.high if self.open_high else value <= self.high))

    def describe(self) -> str:
        """Phrase such as "an int of at least 2"."""
        word = "an int" if self.kind is int else "a float"
        if np.isfinite(self.high):
            ends = "(" if self.open_low else "[", ")" if self.open_high else "]"
            word += f" in {ends[0]}{self.low:g}, {self.high:g}{ends[1]}"
        elif np.isfinite(self.low):
            word += f" {'above' if self.open_low else 'of at least'} {self.low:g}"
        return f"{word} or None" if self.or_none else word


@dataclass(frozen=True)
class Choice:
    """One of a few values.

    Examples
    --------
    >>> from tamis.base import Choice
    >>> Choice(("early", "late")).allows("late")
    True
    """

    values: tuple[Any, ...]

    def allows(self, value: Any) -> bool:
        """Whether the value is one of them, type included."""
        return any(type(value) is type(known) and value == known for known in self.values)

    def describe(self) -> str:
        """Phrase such as "'early' or 'late'"."""
        return " or ".join(repr(value) for value in self.values)


@dataclass(frozen=True)
class Custom:
    """Anything that a function accepts, with the phrase for it.

    Examples
    --------
    >>> from tamis.base import Custom
    >>> Custom(callable, "a function").allows(len)
    True
    """

    test: Any
    phrase: str

    def allows(self, value: Any) -> bool:
        """Ask the function."""
        return bool(self.test(value))

    def describe(self) -> str:
        """The phrase as given."""
        return self.phrase


N_JOBS = Custom(
    lambda value: value is None or (Number(int).allows(value) and value != 0),
    "a non-zero int, or None for all cores",
)

MEMORY_LIMIT = Custom(
    lambda value: value is None or given_bytes(value) is not None,
    PHRASE,
)


def check_value(value: Any, constraint: Constraint, *, who: str, name: str) -> None:
    """Raise unless the constraint allows the value."""
    if not constraint.allows(value):
        raise InputError(f"{who}: {name} must be {constraint.describe()}, got {value!r}.")


def check_parameters(estimator: Any, constraints: Mapping[str, Constraint]) -> None:
    """Check every parameter of an estimator that has a constraint."""
    for name, constraint in constraints.items():
        check_value(getattr(estimator, name), constraint, who=type(estimator).__name__, name=name)
