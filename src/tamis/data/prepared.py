"""PreparedTable: numbers ready for a selector."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from tamis.data.roles import ColumnRole


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

    @property
    def is_sparse(self) -> bool:
        """Whether `X` is a sparse matrix."""
        return sparse.issparse(self.X)
