"""Splitter: any scikit-learn splitter, or pairs of row numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.evaluation._rows import fingerprint, frozen_splitter
from tamis.evaluation.protocols._protocol import Parts, Protocol
from tamis.exceptions import InputError


@dataclass(frozen=True, eq=False)
class Splitter(Protocol):
    """Any scikit-learn splitter, or a list of pairs of row numbers.

    A splitter that draws without a seed gets seed 0, so that a comparison can be continued.

    Parameters
    ----------
    splitter : splitter or list of (train, test)
        As in :func:`sklearn.model_selection.check_cv`.
    groups : array-like of shape (n_samples,) or None
        The group of every row, for splitters that ask for it.

    Examples
    --------
    >>> from sklearn.model_selection import KFold
    >>> from tamis.evaluation.protocols import Splitter
    >>> len(Splitter(KFold(4)).splits(None, [0, 1, 0, 1], True))
    4
    """

    splitter: Any
    groups: Any = None

    def _parts(self, X: Any, y: NDArray[Any], is_classes: bool) -> Parts:
        table = np.zeros((y.shape[0], 1)) if X is None else X
        parts = list(frozen_splitter(self.splitter).split(table, y, self.groups))
        if not parts:
            raise InputError(f"{self.who}: expected at least one split, got none.")
        return [f"split {i + 1}" for i in range(len(parts))], parts

    def describe(self) -> str:
        """Say in one sentence what is done."""
        if isinstance(self.splitter, list | tuple):
            return f"{len(self.splitter)} given splits into rows to learn from and rows to score."
        return f"Splits by scikit-learn's {frozen_splitter(self.splitter)!r}."

    def as_dict(self) -> dict[str, Any]:
        """Name, sentence and parameters, as plain values that JSON can hold."""
        groups = None if self.groups is None else fingerprint(self.groups)
        return {"protocol": self.who, "description": self.describe(), "groups": groups}
