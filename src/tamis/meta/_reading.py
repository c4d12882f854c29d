"""Computed attributes of a class that others derive from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Reading(Generic[T]):
    """A computed attribute that a subclass or an object may replace; a property refuses that."""

    def __init__(self, read: Callable[[Any], T]) -> None:
        self.read = read
        self.__doc__ = read.__doc__

    def __get__(self, source: Any, owner: type | None = None) -> T:
        return self if source is None else self.read(source)  # type: ignore[return-value]
