"""PreparedTable: numbers ready for a selector."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse

from tamis._runtime.wording import counted, listed
from tamis.data.roles import ColumnRole
from tamis.exceptions import InputError


@dataclass(frozen=True, eq=False)
class PreparedTable:
    """Numbers ready for a selector, and the record of how they came about.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_rows, n_features)
        float64, or float32 where that loses nothing. It may share memory with the table it came
        from: do not write to it.
    y : ndarray of shape (n_rows,) or None
        Class labels as given, or float64 for regression; None without a target.
    feature_names : list of str
        Names of the columns of `X`.
    task : str or None
        ``"classification"``, ``"regression"``, or None without a target.
    task_reason : str
        A sentence that says how the task was found.
    roles : tuple of ColumnRole
        One per column of the file, in its order.
    notes : list of str
        Sentences for the user: what was left out, encoded or inferred.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tamis.data import RawTable, prepare
    >>> prepared = prepare(RawTable.from_arrow(pa.table({"a": [1.5, 2.5], "b": ["x", "z"]})))
    >>> prepared.feature_names, prepared.discrete.tolist()
    (['a', 'b'], [False, True])
    """

    X: Any = field(repr=False)
    y: np.ndarray | None = field(repr=False)
    feature_names: list[str]
    task: str | None
    task_reason: str
    roles: tuple[ColumnRole, ...] = field(repr=False)
    notes: list[str] = field(repr=False)

    @property
    def discrete(self) -> np.ndarray:
        """Mask over the columns of `X`: true for booleans and categories."""
        return np.array([r.kind in {"boolean", "category"} for r in self.roles if r.used])

    def without_infinite(self, who: str) -> PreparedTable:
        """Leave out columns that hold infinite values, with a note; `who` is the file."""
        X = self.X.tocsc() if self.is_sparse else self.X
        bad = np.array(
            [
                np.isinf(X[:, [j]].data if self.is_sparse else X[:, j]).any()
                for j in range(X.shape[1])
            ]
        )
        lost = [name for name, is_bad in zip(self.feature_names, bad, strict=True) if is_bad]
        if bad.all():
            raise InputError(
                f"{who}: expected at least one column of finite numbers, got infinite values in "
                f"all: {listed(lost)}. Replace them by empty cells."
            )
        roles = tuple(
            replace(role, used=False, reason="infinite values") if role.name in lost else role
            for role in self.roles
        )
        note = f"left out {counted(len(lost), 'column')} with infinite values: {listed(lost)}"
        names = [name for name in self.feature_names if name not in lost]
        kept = np.flatnonzero(~bad)
        return replace(
            self, X=self.X[:, kept], feature_names=names, roles=roles, notes=[*self.notes, note]
        )

    @property
    def is_sparse(self) -> bool:
        """Whether `X` is a sparse matrix."""
        return sparse.issparse(self.X)
