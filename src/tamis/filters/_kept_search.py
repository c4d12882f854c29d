"""KeptSearch: what the checkpoint of a search over pairs of features keeps."""

from __future__ import annotations

import copy
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Columns = NDArray[np.intp]
Rows = dict[int, Floats]
S = TypeVar("S")

# Names in the checkpoint: of cuts, of a search, and of the pass that it waits for.
CUTS, SEARCH, PAIRS = "cuts", "search", "pairs"


class KeptSearch:
    """Cuts, and a search as it is before every pass, in the checkpoint of an engine, if any."""

    def __init__(self, engine: Any):
        self.checkpoint, self.n_parts = engine.checkpoint, engine.source.n_parts
        self.search: Any = None
        self.stored = self._recall(SEARCH)

    def _recall(self, name: str) -> dict[str, Any]:
        return {} if self.checkpoint is None else self.checkpoint.recall(name)

    def cuts(self) -> list[Floats]:
        """Cuts of the columns that are known, which are the first ones."""
        found = self._recall(CUTS)
        if not found:
            return []
        values, sizes = (self._array(found, name, 1) for name in ("values", "sizes"))
        if sizes.dtype.kind != "i" or (sizes < 0).any() or sizes.sum() != values.size:
            raise self._refused("cuts that are no cuts")
        return [part.copy() for part in np.split(values, np.cumsum(sizes)[:-1])]

    def keep_cuts(self, cuts: list[Floats], *, is_all: bool) -> None:
        """Keep the cuts of the first columns, if some seconds have passed or there are no more."""
        if self.checkpoint is not None and (is_all or self.checkpoint.is_due):
            sizes = np.array([part.size for part in cuts])
            results = {"values": np.concatenate(cuts), "sizes": sizes}
            self.checkpoint.remember(CUTS, self.n_parts, results)

    def follow(self, search: S, n_columns: int) -> S:
        """The search where it was before its last pass; from now on it is kept before every one.

        Lists and integers in its attributes are columns, and change after the last pass of a step.
        """
        if found := self.stored.get("search"):
            self._check_search(vars(search), found, n_columns)
            vars(search).update(copy.deepcopy(found))
        self.search = search
        return search

    def rows(self, n_columns: int) -> Rows:
        """Rows of so many columns that wait to be asked for; the batch is checked, too."""
        if not self.stored:
            return {}
        columns, rows = self._array(self.stored, "columns", 1), self._array(self.stored, "rows", 2)
        batch = self._array(self.stored, "batch", 1)
        fits = rows.dtype == np.float64 and rows.shape == (columns.size, n_columns)
        if not (fits and batch.size and _are_columns(columns, n_columns)):
            raise self._refused("rows of other columns")
        if not _are_columns(batch, n_columns):
            raise self._refused("a batch of other columns")
        return dict(zip(columns.tolist(), rows, strict=True))

    def batch(self, column: int) -> Columns | None:
        """The batch that the last pass was for, if it was for this column; else None."""
        batch: Columns | None = self.stored.get("batch")
        return None if batch is None or batch[0] != column else batch

    def keep(self, batch: Columns, rows: Rows, n_columns: int) -> None:
        """Keep the search before a pass for a batch, and the rows that wait besides."""
        if self.checkpoint is None or self.search is None:
            return
        if self.batch(int(batch[0])) is None:
            results = {
                "search": copy.deepcopy(vars(self.search)),
                "columns": np.array(list(rows), dtype=np.int64),
                "rows": np.array(list(rows.values())).reshape(len(rows), n_columns),
                "batch": batch,
            }
            self.checkpoint.remember(SEARCH, self.n_parts, results, instead_of=PAIRS)
        self.stored = {}

    def _array(self, stored: dict[str, Any], name: str, n_dimensions: int) -> NDArray[Any]:
        found = stored.get(name)
        if not isinstance(found, np.ndarray) or found.ndim != n_dimensions:
            raise self._refused(f"{name} that are no array")
        return found

    def _check_search(self, empty: dict[str, Any], found: Any, n_columns: int) -> None:
        if not isinstance(found, dict) or set(found) != set(empty):
            raise self._refused("another search")
        for name, value in empty.items():
            new = found[name]
            is_like = type(new) is type(value)
            if is_like and isinstance(value, np.ndarray) and value.dtype.kind == "f":
                is_like = (new.shape, new.dtype) == (value.shape, value.dtype)
            elif is_like:
                is_like = _are_columns(new, n_columns)
            if not is_like:
                raise self._refused(f"{name} of another search")

    def _refused(self, reason: str) -> Any:
        return self.checkpoint.refused(reason)


def _are_columns(values: Any, n_columns: int) -> bool:
    """Whether these are different columns out of so many."""
    if isinstance(values, np.ndarray):
        if values.ndim != 1 or values.dtype.kind != "i":
            return False
        values = values.tolist()
    is_whole = all(type(j) is int and 0 <= j < n_columns for j in values)
    return is_whole and len(set(values)) == len(values)
