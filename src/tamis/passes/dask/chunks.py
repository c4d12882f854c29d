"""DaskTable: a Dask array or DataFrame, whose chunks stay where they are."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tamis.data.frames import codes_from, encode_frame, frame_facts
from tamis.data.partitioned import PartitionedTable, RawBlock, Wanted
from tamis.data.roles import ColumnCode
from tamis.exceptions import InputError
from tamis.passes.dask.client import current_client, lost_workers

# So few chunks are tasks of their own: asking where they are would take longer.
FEW_CHUNKS = 4
# Tasks per thread of a worker: one more than needed, so that who is early can help.
TASKS_PER_THREAD = 2


def is_dask(X: Any) -> bool:
    """Whether `X` is a collection of Dask; Dask is not imported to find out.

    Examples
    --------
    >>> from tamis.passes import is_dask
    >>> is_dask([[1.0, 2.0]])
    False
    """
    package = type(X).__module__.split(".")[0]
    return package in ("dask", "dask_expr") and hasattr(X, "__dask_graph__")


class ChunkReader(PartitionedTable):
    """What a worker needs to know of a Dask collection."""

    is_read_by_workers: ClassVar[bool] = False
    codes: Mapping[str, ColumnCode] = {}
    who = ""

    def __init__(self, names: Any, n_columns: int, dtype: Any, has_target: bool, has_weight: bool):
        self.names, self.n_columns, self.dtype = names, n_columns, dtype
        self.has_target, self.has_weight, self.n_rows = has_target, has_weight, None

    def where(self, part: int) -> str:
        """Name of a part for messages."""
        return f"chunk {part}"

    def pieces(self, part: int, piece: Any, columns: Wanted = None) -> Iterator[RawBlock]:
        """The chunk, as one block."""
        X, target, weight = piece
        n_rows = next(values.shape[0] for values in piece if values is not None)
        for name, values in (("target", target), ("weights", weight)):
            if values is not None and len(values) != n_rows:
                raise InputError(
                    f"{self.where(part)}: expected as many {name} as rows in every chunk, got "
                    f"{len(values)} for {n_rows} rows. Rechunk X and y alike."
                )
        cells = None if X is None else self._cells(X)
        if cells is not None and columns is not None:
            cells = cells[:, columns]
        target = None if target is None else np.asarray(target).reshape(n_rows)
        weight = None if weight is None else np.asarray(weight).reshape(n_rows)
        yield RawBlock(cells, target, weight, n_rows)

    def _cells(self, X: Any) -> NDArray[Any]:
        if self.codes:
            return encode_frame(X, self.codes, self.who).astype(self.dtype, copy=False)
        return _numbers(X, self.dtype)


class DaskTable(ChunkReader):
    """A Dask array or DataFrame with its target; chunks of rows, all columns in each.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame
        The table.
    y, sample_weight : Dask or NumPy array, or None
        One value per row.
    who : str
        Name of the selector, for messages.

    Examples
    --------
    >>> import dask.array as da
    >>> from tamis.passes import DaskTable
    >>> source = DaskTable(da.ones((5, 3), chunks=(2, 3)), [0, 1, 1, 0, 1], None, "DFT")
    >>> source, source.where(2)
    (Dask table of 3 chunks x 3 columns, 'chunk 2')
    """

    def __init__(self, X: Any, y: Any, sample_weight: Any, who: str):
        names = None if not hasattr(X, "columns") else tuple(map(str, X.columns))
        if names is not None:
            _check_once(names, who)
        elif X.ndim != 2:
            raise InputError(f"{who}: expected a 2-D table, got a Dask array of {X.ndim} axes.")
        dtypes = [X.dtype] if names is None else list(X.dtypes)
        dtype = np.dtype(np.float32 if all(d == np.float32 for d in dtypes) else np.float64)
        super().__init__(names, int(X.shape[1]), dtype, y is not None, sample_weight is not None)
        self.who = who
        self.sizes: tuple[int, ...] | None = None
        if names is None:
            X = X.rechunk({1: -1})
            if not any(np.isnan(size) for size in X.chunks[0]):
                self.sizes = tuple(map(int, X.chunks[0]))
                self.n_rows = sum(self.sizes)
        self.chunks = _delayed_chunks(X)
        self.codes = {} if names is None else self._find_codes(X)
        self.futures = _futures_in(X)
        self._groups: dict[range, list[list[int]] | None] = {}
        self.targets = self._along(y, "y")
        self.weights = self._along(sample_weight, "sample_weight")

    def __repr__(self) -> str:
        return f"Dask table of {len(self.chunks)} chunks x {self.n_columns} columns"

    @property
    def n_parts(self) -> int:
        """Number of chunks of rows."""
        return len(self.chunks)

    def reader(self) -> ChunkReader:
        """What is sent to the workers: everything but the data."""
        facts = (self.names, self.n_columns, self.dtype, self.has_target, self.has_weight)
        found = ChunkReader(*facts)
        found.codes, found.who = self.codes, self.who
        return found

    def _find_codes(self, X: Any) -> dict[str, ColumnCode]:
        """How columns that are no numbers become some; they are read once for it."""
        from dask.base import compute
        from dask.delayed import delayed

        odd = [n for n, dtype in X.dtypes.items() if getattr(dtype, "kind", "O") not in "iufb"]
        if not odd:
            return {}
        look = delayed(frame_facts)
        first, *others = compute(*(look(chunk, odd) for chunk in self.chunks))
        for other in others:
            for name in odd:
                first[name].merge(other[name])
        return codes_from(first, self.who)

    def groups_in_place(self, parts: range) -> list[list[int]] | None:
        """Chunks that a worker has in memory, in groups for one task each; None if it has none."""
        client = current_client()
        if client is None or not self.futures or len(parts) <= FEW_CHUNKS:
            return None
        if parts not in self._groups:
            with lost_workers(repr(self), str, client):
                keys = [self.chunks[part].key for part in parts]
                self._groups[parts] = _groups_at_home(client, self.futures, keys, parts)
        return self._groups[parts]

    def piece(self, part: int, columns: Wanted = None) -> Any:
        """The chunk itself, still to be computed; without cells where no columns are wanted."""
        target, weight = self.targets[part], self.weights[part]
        if columns is not None and not len(columns) and target is not None:
            return None, target, weight
        return self.chunks[part], target, weight

    def _along(self, values: Any, name: str) -> list[Any]:
        """A value per row, in the chunks of X: Nones, delayed chunks, or slices of an array."""
        if values is None:
            return [None] * len(self.chunks)
        if not is_dask(values):
            values = np.asarray(values)
            if self.sizes is None:
                raise InputError(
                    f"{self.who}: expected {name} as a Dask collection with the chunks of X, got "
                    "an array in memory, and X does not say how many rows its chunks have. Take "
                    f"{name} from the same Dask table."
                )
            self._check_length(values.shape[0], name)
            return np.split(values, np.cumsum(self.sizes)[:-1])
        if values.ndim == 2 and values.shape[1] == 1:
            values = values[values.columns[0]] if hasattr(values, "columns") else values[:, 0]
        is_array = hasattr(values, "rechunk")
        if self.sizes is not None and is_array and not np.isnan(values.shape[0]):
            self._check_length(values.shape[0], name)
            values = values.rechunk((self.sizes,))
        chunks = _delayed_chunks(values)
        if len(chunks) != len(self.chunks):
            raise InputError(
                f"{self.who}: expected {name} in as many chunks as X ({len(self.chunks)}), got "
                f"{len(chunks)}. Rechunk X and {name} alike."
            )
        return chunks

    def _check_length(self, length: int, name: str) -> None:
        if length != self.n_rows:
            raise InputError(
                f"{self.who}: expected {name} with {self.n_rows} values, one per row of X, got "
                f"{length}. Check that they come from one table."
            )


def _check_once(names: tuple[str, ...], who: str) -> None:
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise InputError(f"{who}: expected every column name once, got {twice!r} more than once.")


def _delayed_chunks(collection: Any) -> list[Any]:
    return list(np.ravel(np.array(collection.to_delayed(), dtype=object)))


def _futures_in(collection: Any) -> list[Any]:
    """Futures of Dask that a collection is made of; none unless its chunks were computed."""
    if "distributed" not in sys.modules:
        return []
    from distributed import futures_of

    return list(futures_of(collection))


def _groups_at_home(
    client: Any, futures: Sequence[Any], keys: Sequence[Any], parts: range
) -> list[list[int]] | None:
    """Parts by the worker that holds them, some groups per thread; None unless all are held."""
    if not {future.key for future in futures}.issuperset(keys):
        return None
    held = client.who_has(list(futures))
    there: dict[str, list[int]] = defaultdict(list)
    for part, key in zip(parts, keys, strict=True):
        if not held.get(key):
            return None
        there[next(iter(held[key]))].append(part)
    threads = client.nthreads()
    groups = []
    for home, numbers in there.items():
        length = -(-len(numbers) // (TASKS_PER_THREAD * threads.get(home, 1)))
        groups += [numbers[i : i + length] for i in range(0, len(numbers), length)]
    return groups


def _numbers(X: Any, dtype: Any) -> NDArray[Any]:
    """Cells of a chunk; what pandas marks as missing becomes NaN."""
    if hasattr(X, "to_numpy"):
        if all(isinstance(kind, np.dtype) for kind in X.dtypes):
            return np.asarray(X.to_numpy(dtype=dtype))
        return np.asarray(X.to_numpy(dtype=dtype, na_value=np.nan))
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
