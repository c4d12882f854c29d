"""PublishedSplit: the split that others used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from tamis.evaluation.protocols._protocol import Parts, Protocol


@dataclass(frozen=True, eq=False)
class PublishedSplit(Protocol):
    """One given split, so that numbers can be set beside published ones.

    Parameters
    ----------
    train, test : array-like of int or of bool
        Row numbers, or masks with one entry per row. No row may be in both.

    Examples
    --------
    >>> from tamis.evaluation.protocols import PublishedSplit
    >>> split, = PublishedSplit([0, 1, 2], [3, 4]).splits(None, [0, 1, 0, 1, 0], True)
    >>> split.test.tolist()
    [3, 4]
    """

    train: Any
    test: Any

    def _parts(self, X: Any, y: NDArray[Any], is_classes: bool) -> Parts:
        return ["published"], [(self.train, self.test)]

    def describe(self) -> str:
        """Say in one sentence what is done."""
        return "One given split into rows to learn from and rows to score."
