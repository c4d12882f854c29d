"""PartitionedTable: a table that is not in memory, read part by part."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis._validation import Custom, Number
from tamis.data.values import check_weight_sizes
from tamis.exceptions import InputError
from tamis.statistics import Ranges

# Columns that are wanted: all (None), none (an empty array), or these indices, in this order.
Wanted = NDArray[np.intp] | None


def is_cluster(value: Any) -> bool:
    """Whether `value` names workers, without asking them."""
    return (
        value is None
        or isinstance(value, str)
        or Number(int, low=1).allows(value)
        or hasattr(value, "scheduler_info")
        or hasattr(value, "scheduler_address")
    )


CLUSTER = Custom(
    is_cluster,
    "the address of a scheduler such as 'tcp://host:8786', a number of local workers, 'threads', a "
    "Client or cluster of Dask, or None",
)


class RawBlock(NamedTuple):
    """Some rows as they are stored: cells as numbers, target and weight as they came.

    `X` is a C- or Fortran-ordered float32 or float64 array, or None where no columns were asked
    for; missing cells are NaN.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.passes import RawBlock
    >>> RawBlock(np.ones((2, 3)), np.array(["a", "b"]), None, n_rows=2).X.shape
    (2, 3)
    """

    X: NDArray[Any] | None
    target: NDArray[Any] | None
    weight: NDArray[Any] | None
    n_rows: int


class PartitionedTable:
    """What goes where X goes when the table is larger than memory.

    A table is a sequence of parts (a row group of a file, a chunk of a Dask array), and a part a
    sequence of blocks small enough for memory. Parts are what is retried, what a checkpoint
    counts, what a cluster shares out and what error messages name. Sources can be pickled.

    A subclass writes ``n_parts``, ``blocks`` and ``where``, and sets the attributes.

    Attributes
    ----------
    names : tuple of str or None
        Names of the columns, without target and weight.
    n_columns : int
        How many there are.
    n_rows : int or None
        Number of rows; None where only reading all of them would tell.
    dtype : dtype
        float32 if all columns are, else float64.
    has_target, has_weight : bool
        Whether rows come with a target and a weight.
    checkpoint : path-like or None
        Where the statistics of a fit that is not through are kept.
    cluster : Client, str, int or None
        Who does the work: a client of Dask, the address of a scheduler, ``"threads"`` of Dask, so
        many local processes, or this process.

    Examples
    --------
    >>> import numpy as np
    >>> import tamis
    >>> from tamis.passes import RawBlock, PartitionedTable
    >>> class Halves(PartitionedTable):
    ...     names, n_columns, n_rows, dtype = ("noise", "signal"), 2, 8, np.dtype(float)
    ...     has_target, has_weight, n_parts = True, False, 2
    ...     def blocks(self, part, columns=None):
    ...         y = np.arange(4) % 2
    ...         X = np.column_stack([np.arange(4.0), y + part])
    ...         yield RawBlock(X if columns is None else X[:, columns], y, None, 4)
    ...     def where(self, part):
    ...         return f"half {part}"
    >>> tamis.Fisher(n_features_to_select=1).fit(Halves()).get_feature_names_out()
    array(['signal'], dtype=object)
    """

    names: tuple[str, ...] | None
    n_columns: int
    n_rows: int | None
    dtype: np.dtype[Any]
    has_target: bool
    has_weight: bool
    checkpoint: Any = None
    cluster: Any = None
    # Whether rows without a target are left out, with a warning, rather than an error.
    leaves_out_missing: ClassVar[bool] = False
    # Whether a worker opens what it is told of, rather than being handed the data.
    is_read_by_workers: ClassVar[bool] = True

    @property
    def shape(self) -> tuple[int | None, int]:
        """Rows and columns; None where the number of rows is not known."""
        return self.n_rows, self.n_columns

    @property
    def n_parts(self) -> int:
        """Number of parts."""
        raise NotImplementedError

    def blocks(self, part: int, columns: Wanted = None) -> Iterator[RawBlock]:
        """Blocks of a part, in order, with all columns or with those that are wanted."""
        raise NotImplementedError

    def reader(self) -> PartitionedTable:
        """What a worker needs to read a piece."""
        return self

    def piece(self, part: int, columns: Wanted = None) -> Any:
        """What is sent to a worker, or is there already, to stand for a part."""
        return None

    def pieces(self, part: int, piece: Any, columns: Wanted = None) -> Iterator[RawBlock]:
        """Blocks of a part, on a worker."""
        return self.blocks(part, columns)

    def groups_in_place(self, parts: range) -> list[list[int]] | None:
        """Parts that a worker has in memory, in groups for one task each; None if it has none."""
        return None

    def where(self, part: int) -> str:
        """Name of a part for messages: a file, and the rows in it."""
        raise NotImplementedError

    def select(self, columns: Any) -> PartitionedTable:
        """The same table with some columns only, by mask, numbers or names."""
        raise NotImplementedError

    def to_numpy(self) -> tuple[NDArray[Any], NDArray[Any] | None, NDArray[Any] | None]:
        """The whole table in memory, whatever its size.

        Returns
        -------
        X : ndarray of shape (n_rows, n_columns)
            Fortran-ordered.
        y : ndarray of shape (n_rows,) or None
            The target, if there is one.
        weight : ndarray of shape (n_rows,) or None
            The weights, if there are any.
        """
        X = np.empty((self.n_rows or 0, self.n_columns), dtype=self.dtype, order="F")
        pieces, targets, weights, row = [], [], [], 0
        for block in (block for part in range(self.n_parts) for block in self.blocks(part)):
            if self.n_rows is None:
                pieces.append(block.X)
            else:
                X[row : row + block.n_rows] = block.X
            row += block.n_rows
            targets.append(block.target)
            weights.append(block.weight)
        if pieces:
            X = np.asfortranarray(np.concatenate(pieces))  # type: ignore[arg-type]
        return X, _joined(targets, self.has_target), _joined(weights, self.has_weight)

    def columns_block(self, first: int, last: int) -> NDArray[Any]:
        """All rows of the columns from `first` up to, not including, `last`, Fortran-ordered."""
        return self.select(np.arange(first, last)).to_numpy()[0]

    def check_unchanged(self, part: int) -> None:
        """Raise if what the part is read from is no longer what it was."""

    def fingerprint(self) -> Any:
        """What tells this table from others, as plain JSON; a checkpoint belongs to one."""
        raise NotImplementedError

    def stamps(self, n_parts: int) -> Any:
        """What tells whether the first parts are still what they were, as plain JSON."""
        return None

    def known_ranges(self) -> Ranges | None:
        """Ranges of all columns where the files say them; None where reading must tell."""
        return None


def _joined(blocks: list[NDArray[Any] | None], present: bool) -> NDArray[Any] | None:
    found = [block for block in blocks if block is not None]
    return np.concatenate(found or [np.empty(0)]) if present else None


def check_in_memory(X: Any, who: str, setting: str, instead: str) -> None:
    """Raise if a setting that needs all rows at once meets a table larger than memory."""
    if isinstance(X, PartitionedTable):
        raise InputError(
            f"{who}: {setting} expected a table in memory, got {X!r}. Use {instead}, which works "
            "block by block, or read the table with X.to_numpy()."
        )


def checked_weight(weight: NDArray[Any], who: str) -> NDArray[np.float64]:
    """Weights of a block as numbers that are finite and not negative; all may be 0."""
    try:
        weight = np.asarray(weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{who}: expected weights that are numbers, got text.") from error
    bad: Any = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if bad.size:
        raise InputError(
            f"{who}: expected weights that are finite and not negative, got "
            f"{float(weight[bad[0]])!r} in row {int(bad[0])}."
        )
    check_weight_sizes(weight, who)
    return weight
