"""Small helpers for claims."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tamis_papers._sure import surely


def sign_of(values: Any) -> int:
    """1 or -1 if the mean of repeats is clearly on one side of 0 (95 %), else 0.

    A single repeat is never clear.
    """
    return {True: 1, False: -1, None: 0}[surely(values)]


def is_positive(sign: int) -> bool | None:
    """None for a sign that is not clear."""
    return {1: True, 0: None, -1: False}[sign]


def all_positive(signs: Sequence[int]) -> bool | None:
    """Whether all signs are clear and positive; False if some are negative and none positive."""
    if all(sign > 0 for sign in signs):
        return True
    return False if min(signs) < 0 and max(signs) <= 0 else None
