"""Errors about rows of a file say which file and rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.data.partitioned import PartitionedTable, RawBlock
from tamis.exceptions import InputError


@contextmanager
def located(source: PartitionedTable, part: int, n_before: int) -> Iterator[None]:
    """Add the place to messages about a block; `n_before` rows of the part come before it."""
    try:
        yield
    except InputError as error:
        place = source.where(part)
        after = f", counted from its row {n_before}" if n_before else ""
        raise type(error)(f"{error} (In {place}{after}.)") from error


def checked_weight(raw: RawBlock, who: str) -> NDArray[np.float64] | None:
    """Weights of a block as numbers that are finite and not negative; all may be 0."""
    if raw.weight is None:
        return None
    try:
        weight = np.asarray(raw.weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{who}: expected weights that are numbers, got text.") from error
    bad: Any = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if bad.size:
        raise InputError(
            f"{who}: expected weights that are finite and not negative, got "
            f"{float(weight[bad[0]])!r} in row {int(bad[0])}."
        )
    return weight
