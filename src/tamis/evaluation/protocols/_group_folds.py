"""GroupFolds: rows of one group stay together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.evaluation._rows import group_folds
from tamis.evaluation.protocols._protocol import Parts, Protocol, check_count, check_enough
from tamis.exceptions import InputError


@dataclass(frozen=True, eq=False)
class GroupFolds(Protocol):
    """Folds in which all rows of a group (a patient, a batch) are on the same side.

    Where every class has at least as many rows as there are folds, the folds also get similar
    shares of the classes, as far as the groups allow.

    Parameters
    ----------
    groups : array-like of shape (n_samples,)
        The group of every row.
    n_folds : int, default=5
        Parts; there must be at least as many groups.

    Examples
    --------
    >>> from tamis.evaluation.protocols import GroupFolds
    >>> protocol = GroupFolds(["ann", "ann", "bob", "bob", "eve", "eve"], n_folds=3)
    >>> [split.test.tolist() for split in protocol.splits(None, [0, 1, 0, 1, 0, 1], True)]
    [[0, 1], [2, 3], [4, 5]]
    """

    groups: Any
    n_folds: int = 5

    def __post_init__(self) -> None:
        check_count(self, "n_folds", 2)

    def _parts(self, X: Any, y: NDArray[Any], is_classes: bool) -> Parts:
        labels, codes = np.unique(np.asarray(self.groups).astype(str), return_inverse=True)
        if codes.shape != y.shape[:1]:
            raise InputError(
                f"{self.who}: groups must have one entry per row ({y.shape[0]}), got "
                f"{codes.shape[0]}."
            )
        check_enough(self, labels.size, self.n_folds, "groups")
        fold = group_folds(codes, y, is_classes, self.n_folds)
        found = range(int(fold.max()) + 1)
        parts = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in found]
        return [f"fold {k + 1}" for k in found], parts

    def describe(self) -> str:
        """Say in one sentence what is done."""
        n_groups = np.unique(np.asarray(self.groups).astype(str)).size
        return (
            f"{self.n_folds}-fold cross-validation in which the rows of each of {n_groups} groups "
            "stay together."
        )
