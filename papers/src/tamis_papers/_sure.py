"""Whether repeats decide a claim: what chance alone may have decided is not decided."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tamis_papers.result import Measurement


def surely(differences: Any, error: float | None = None) -> bool | None:
    """Whether the mean of repeats is above 0 (95 %, Student's t); None if that is not sure.

    A single difference is never sure, unless its standard `error` is known: then two of these are.
    """
    values = [float(value) for value in np.ravel(differences)]
    if not values or (len(values) == 1 and error is None):
        return None
    low, high = Measurement({}, values).interval()
    if len(values) == 1 and error is not None:
        low, high = low - 2 * error, high + 2 * error
    return True if low > 0 else False if high < 0 else None


def all_sure(answers: Sequence[bool | None]) -> bool | None:
    """True if all are, False if some are false and none is true, else None."""
    if answers and all(answers):
        return True
    return False if False in answers and True not in answers else None


def within(differences: Any, margin: float) -> bool | None:
    """Whether the mean of repeats is surely no further from 0 than the margin; or surely is."""
    values = np.ravel(differences)
    below, above = surely(margin - values), surely(margin + values)
    if below and above:
        return True
    return False if False in (below, above) else None


def in_part(share: float, enough: float, too_little: float = 0.5) -> bool | None:
    """True from `enough` on, False below `too_little`, None between the two."""
    if share >= enough:
        return True
    return None if share >= too_little else False
