"""Small helpers for claims."""

from __future__ import annotations


def in_part(share: float, enough: float, too_little: float = 0.5) -> bool | None:
    """True from `enough` on, False below `too_little`, None between the two."""
    if share >= enough:
        return True
    return None if share >= too_little else False


def is_near_share(share: float) -> bool:
    """Whether a late elbow keeps 25 to 37.5 % of the features, give or take ten points.

    The paper reads its elbows by eye and in round numbers.
    """
    return 0.15 <= share <= 0.475
