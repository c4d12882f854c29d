"""RawTable: a table as it was in its file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tamis._runtime.wording import counted, listed
from tamis.exceptions import InputError

if TYPE_CHECKING:
    import pyarrow as pa

    from tamis.data.formats.dialect import TextDialect


@dataclass(frozen=True, eq=False)
class RawTable:
    """A table as it was in its file: an Arrow table, or the arrays of an NPZ file.

    Make one with :func:`read_table`, :meth:`from_arrow` or :meth:`from_matrix`.

    Parameters
    ----------
    path : Path
        Where it came from; its name starts every message.
    names : tuple of str
        The columns, all different; the target of an NPZ file is not among them.
    arrow : pyarrow.Table or None
        The data, unless it came from an NPZ file.
    matrix : ndarray, CSR matrix or None, shape (n_rows, n_columns)
        The data of an NPZ file, in the type it was stored in.
    target : ndarray or None, shape (n_rows,)
        The array ``y`` of an NPZ file.
    target_name : str or None
        ``"y"`` where `target` is; else the column that :func:`reduce_table` kept as target.
    extras : mapping of str to ndarray
        The other arrays of an NPZ file.
    dialect : TextDialect or None
        How a CSV or TSV file is written; None for other formats.
    notes : tuple of str
        What a reader of the result should know about the reading.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.data import RawTable
    >>> table = RawTable.from_matrix(np.eye(3), y=np.array([0, 1, 1]), names=["a", "b", "c"])
    >>> table.n_rows, table.column_names
    (3, ('a', 'b', 'c', 'y'))
    """

    path: Path
    names: tuple[str, ...]
    arrow: Any = field(default=None, repr=False)
    matrix: Any = field(default=None, repr=False)
    target: np.ndarray | None = field(default=None, repr=False)
    target_name: str | None = None
    extras: Mapping[str, np.ndarray] = field(default_factory=dict, repr=False)
    dialect: TextDialect | None = None
    notes: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.arrow.num_rows if self.arrow is not None else self.matrix.shape[0]

    @property
    def column_names(self) -> tuple[str, ...]:
        """Every name that can be asked for, the ``y`` of an NPZ file included."""
        return self.names if self.target is None else (*self.names, str(self.target_name))

    @property
    def who(self) -> str:
        """The name of the file, with which messages start."""
        return self.path.name

    @classmethod
    def from_arrow(
        cls,
        arrow: pa.Table,
        path: str | Path = "table",
        *,
        dialect: TextDialect | None = None,
        notes: Sequence[str] = (),
    ) -> RawTable:
        """Wrap an Arrow table.

        Parameters
        ----------
        arrow : pyarrow.Table
            At least one row and one column, all names different.
        path, dialect, notes : optional
            As for the class.

        Examples
        --------
        >>> import pyarrow as pa
        >>> from tamis.data import RawTable
        >>> RawTable.from_arrow(pa.table({"a": [1, 2]})).names
        ('a',)
        """
        path = Path(path)
        names = tuple(arrow.column_names)
        _check_shape(path.name, arrow.num_rows, len(names))
        check_names(path.name, names)
        return cls(path, names, arrow=arrow, dialect=dialect, notes=tuple(notes))

    @classmethod
    def from_matrix(
        cls,
        X: Any,
        y: np.ndarray | None = None,
        names: Sequence[str] | None = None,
        path: str | Path = "matrix",
    ) -> RawTable:
        """Wrap a numeric matrix, dense or CSR, and its target.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_rows, n_columns)
            Kept as it is, not copied.
        y : ndarray of shape (n_rows,) or None, default=None
            The target, which gets the name ``"y"``.
        names : sequence of str or None, default=None
            Column names; None means ``x0``, ``x1``, ...
        path : str or Path, default="matrix"
            As for the class.

        Examples
        --------
        >>> import numpy as np
        >>> from tamis.data import RawTable
        >>> RawTable.from_matrix(np.zeros((4, 2))).names
        ('x0', 'x1')
        """
        path = Path(path)
        n_rows, n_columns = X.shape
        names = tuple(names) if names is not None else tuple(f"x{j}" for j in range(n_columns))
        _check_shape(path.name, n_rows, n_columns)
        check_names(path.name, names if y is None else (*names, "y"))
        return cls(path, names, matrix=X, target=y, target_name=None if y is None else "y")


def _check_shape(who: str, n_rows: int, n_columns: int) -> None:
    if n_columns == 0:
        raise InputError(f"{who}: expected at least one column, got none; check the file.")
    if n_rows == 0:
        raise InputError(
            f"{who}: expected at least one row of data, got {counted(n_columns, 'column name')} "
            "and no rows; check that the file was written to the end."
        )


def check_names(who: str, names: Sequence[str]) -> None:
    """Raise if there are no columns, or two have one name."""
    _check_shape(who, 1, len(names))
    if len(set(names)) == len(names):
        return
    repeated = [name for name, count in Counter(names).items() if count > 1]
    raise InputError(
        f"{who}: expected every column name once, got {listed(repeated)} more than once; "
        "rename them (if the first line of the file is data, put a line of names above it)."
    )
