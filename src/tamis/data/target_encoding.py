"""Encoding: how the stored target of a block becomes what statistics count with."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.data import checks
from tamis.data.partitioned import RawBlock
from tamis.statistics.block import Block, as_kernel_input


class Encoding(NamedTuple):
    """What is known of the target; nothing at all if it is not used.

    Parameters
    ----------
    who : str
        Name of the selector, for messages.
    labels : ndarray or None
        Values that have a code, sorted.
    codes : ndarray of int32 or None
        Code of each of them; None counts them from 0.
    centre : float or None
        Taken off a numeric target.
    """

    who: str
    labels: NDArray[Any] | None = None
    codes: NDArray[np.int32] | None = None
    centre: float | None = None

    @property
    def uses_target(self) -> bool:
        """Whether blocks get a target."""
        return self.labels is not None or self.centre is not None

    def block(self, raw: RawBlock, weight: NDArray[np.float64] | None) -> Block:
        """Rows of `raw` that carry weight, with the target as codes or centred numbers."""
        X, target = raw.X, raw.target if self.uses_target else None
        assert X is not None
        if weight is not None and not (weight > 0).all():
            kept = weight > 0
            X, weight = X[kept], weight[kept]
            target = None if target is None else target[kept]
        encoded = None if target is None else self._encoded(target)
        return Block.of(as_kernel_input(X), encoded, weight)

    def _encoded(self, target: NDArray[Any]) -> NDArray[Any]:
        if self.labels is None:
            assert self.centre is not None
            return checks.check_numbers(target, target.size, self.who) - self.centre
        places = np.searchsorted(self.labels, target.astype(self.labels.dtype, copy=False))
        if self.codes is not None:
            return self.codes[places]
        return places.astype(np.int32)
