"""Labels of rows in the settings of a rule, and whether two settings are equal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._ranking import Ranking
from tamis.cutoff.fit_data import FitData
from tamis.cutoff.groups import Teams
from tamis.exceptions import InputError


class RowLabelsMixin:
    """What `strata` and `groups` of a rule mean: labels of rows, or features kept together."""

    def teams(self: Any, ranking: Ranking) -> Teams:
        """Features that `keep` and `groups` describe; labels of rows describe none."""
        groups = None if self.labels_rows(ranking.n_columns) else self.groups
        return Teams.of(self.keep, groups, ranking, self.who)

    def row_labels(self: Any, data: FitData) -> tuple[NDArray[Any] | None, NDArray[Any] | None]:
        """Codes of the strata and of the groups of rows; None where there are none."""
        n_rows, n_columns = data.X.shape
        groups = self.groups if self.labels_rows(n_columns) else None
        strata = codes_of(self.strata, n_rows, self.who, "strata")
        return strata, codes_of(groups, n_rows, self.who, "groups")

    def _is_flat(self: Any) -> bool:
        """Whether `groups` holds labels rather than lists of features."""
        if self.groups is None or isinstance(self.groups, Mapping | str):
            return False
        return not any(np.ndim(one) for one in self.groups)

    def labels_rows(self: Any, n_columns: int) -> bool:
        """Whether `groups` holds one label per row."""
        return self._is_flat() and len(self.groups) != n_columns


def same(one: Any, other: Any) -> bool:
    """Whether two settings are equal, arrays included."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return bool(np.array_equal(one, other))
    return bool(one is other or one == other)


def codes_of(labels: Any, n_rows: int, who: str, name: str) -> NDArray[np.intp] | None:
    """One code per row, None without labels; raise for labels of anything else."""
    if labels is None:
        return None
    labels = np.asarray(labels)
    if labels.shape != (n_rows,):
        raise InputError(
            f"{who}: {name} must hold one label per row ({n_rows}), got an array of shape "
            f"{labels.shape}."
        )
    return np.unique(labels, return_inverse=True)[1]
