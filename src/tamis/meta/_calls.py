"""One call of a user's function, in this process or in another one; hence it imports little."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class BadResult(Exception):
    """What was measured cannot be used; the message says why."""


def call(function: Callable[[int], Any], index: int, apart: bool) -> tuple[int, Any]:
    """Result of the function, or its exception.

    One that is raised here would take along results that have arrived and were not yet looked at;
    and not every one can travel between processes.
    """
    try:
        return index, function(index)
    except Exception as error:
        return index, BadResult(describe(error)) if apart else error
    except BaseException as stop:  # from the keyboard: raised when its turn comes
        return index, stop


def describe(error: Exception) -> str:
    """Type and first line of an error."""
    if isinstance(error, BadResult):
        return str(error)
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:200]}" if lines else type(error).__name__
