"""Known: what a method that compares columns keeps in the checkpoint of a table."""

from __future__ import annotations

import copy
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Columns = NDArray[np.intp]
Rows = dict[int, Floats]
S = TypeVar("S")

# Names in the checkpoint: of cuts, of a search, and of the walk that it waits for.
CUTS, SEARCH, PAIRS = "cuts", "search", "pairs"


class Known:
    """Cuts, and where a search is; from the checkpoint of an engine and to it, if it has one.

    Steps of a search that need no walk take no time, so the search is kept as it is before every
    walk, together with the rows that wait to be asked for and the batch that is walked for. The
    statistic of that walk is in the checkpoint, too; that of the walk before is then needless.

    Parameters
    ----------
    engine : StreamEngine or ClusterEngine
        Has the checkpoint.
    """

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
        return [part.copy() for part in np.split(found["values"], np.cumsum(found["sizes"])[:-1])]

    def keep_cuts(self, cuts: list[Floats], *, is_all: bool) -> None:
        """Keep the cuts of the first columns, if some seconds have passed or there are no more."""
        if self.checkpoint is not None and (is_all or self.checkpoint.is_due):
            sizes = np.array([part.size for part in cuts])
            results = {"values": np.concatenate(cuts), "sizes": sizes}
            self.checkpoint.remember(CUTS, self.n_parts, results)

    def follow(self, search: S) -> S:
        """The search where it was before its last walk; from now on it is kept before every one.

        Parameters
        ----------
        search : object
            At its beginning. Its attributes must be as they were before a step for as long as
            the step may need a walk.
        """
        vars(search).update(copy.deepcopy(self.stored.get("search", {})))
        self.search = search
        return search

    def rows(self) -> Rows:
        """Rows that wait to be asked for."""
        return dict(self.stored.get("rows", {}))

    def batch(self, column: int) -> Columns | None:
        """The batch that the last walk was for, if it was for this column; else None."""
        batch: Columns | None = self.stored.get("batch")
        return None if batch is None or batch[0] != column else batch

    def keep(self, batch: Columns, rows: Rows) -> None:
        """Keep the search before a walk for a batch, and the rows that wait besides."""
        if self.checkpoint is None or self.search is None:
            return
        if self.batch(int(batch[0])) is None:
            search = copy.deepcopy(vars(self.search))
            results = {"search": search, "rows": dict(rows), "batch": batch}
            self.checkpoint.remember(SEARCH, self.n_parts, results, instead_of=PAIRS)
        self.stored = {}
