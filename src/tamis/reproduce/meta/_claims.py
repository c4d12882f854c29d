"""Small helpers for claims."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tamis.reproduce.outcome import Measurement


def sign_of(values: Any) -> int:
    """1 or -1 if the mean of repeats is clearly on one side of 0 (95 %), else 0."""
    low, high = Measurement({}, list(values)).interval()
    return int(low > 0) - int(high < 0)


def is_positive(sign: int) -> bool | None:
    """None for a sign that is not clear."""
    return {1: True, 0: None, -1: False}[sign]


def all_positive(signs: Sequence[int]) -> bool | None:
    """Whether all signs are clear and positive; False if some are negative and none positive."""
    if all(sign > 0 for sign in signs):
        return True
    return False if min(signs) < 0 and max(signs) <= 0 else None


def all_or_some(parts: Sequence[bool]) -> bool | None:
    """Whether all hold; None if only some do."""
    return True if all(parts) else None if any(parts) else False
