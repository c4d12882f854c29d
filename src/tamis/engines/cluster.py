"""ClusterEngine: blocks are summarised where they are, summaries are merged in a tree."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tamis.engines.encoding import Encoding
from tamis.engines.located import add_target, checked_weight, located
from tamis.engines.source import Source, Wanted
from tamis.exceptions import MissingDependencyError, WorkerError
from tamis.statistics import Ranges

# Summaries that one task merges.
FAN_IN = 8
# How often a task that failed is tried again, elsewhere if possible.
RETRIES = 3


class Walk(NamedTuple):
    """What every task of a walk needs, sent to a worker once: how to read, and what to count."""

    reader: Source
    empty: Any
    encoding: Encoding | None
    columns: Wanted

    def summary(self, part: int, piece: Any) -> Any:
        """Statistic of one part; the target alone is read where there is no encoding."""
        statistic = copy.deepcopy(self.empty)
        n_before = 0
        for raw in self.reader.pieces(part, piece, self.columns):
            with located(self.reader, part, n_before):
                if self.encoding is None:
                    add_target(statistic, raw)
                else:
                    weight = checked_weight(raw, self.encoding.who)
                    statistic.update(self.encoding.block(raw, weight), 1)
            n_before += raw.n_rows
        return statistic


def summarise(walk: Walk, part: int, piece: Any) -> Any:
    """What a worker does with a part."""
    return walk.summary(part, piece)


def merged(first: Any, *others: Any) -> Any:
    """What a worker does with summaries; those it was given stay as they are."""
    total = copy.deepcopy(first)
    for other in others:
        total.merge(other)
    return total


class ClusterEngine:
    """Walks a source on the workers of Dask; only summaries travel.

    Parameters
    ----------
    source : Source
        Where the rows are.
    encoding : Encoding
        What becomes of the target.
    columns : ndarray of int or None
        The columns to read; None means all.
    """

    def __init__(self, source: Source, encoding: Encoding, *, columns: Wanted = None):
        self.source, self.encoding, self.columns = source, encoding, columns
        self.n_columns = source.n_columns if columns is None else len(columns)

    @property
    def n_bytes(self) -> int:
        """Size of the part that one task sees at a time: lanes for threads are not worth it."""
        return 0

    def __len__(self) -> int:
        return 1

    def known_ranges(self) -> Ranges | None:
        """Ranges of the columns where the files say them."""
        return self.source.known_ranges() if self.columns is None else None

    def fold(
        self, statistic: Any, name: str, *, n_jobs: int | None, steps: Callable[..., Any]
    ) -> Any:
        """Update `statistic` with all blocks, on the workers.

        Parameters
        ----------
        statistic : Statistic
            That has seen nothing; changed in place and returned.
        name : str
            Of the walk, for progress.
        n_jobs : int or None
            Not used: every task has one thread, and the cluster says how many run.
        steps : callable
            Shows progress: ``steps(name, items, total)``.
        """
        for _ in steps(name, range(1), 1):
            found = fold_on_workers(self.source, statistic, self.encoding, self.columns)
            vars(statistic).update(vars(found))
        return statistic


def fold_on_workers(
    source: Source, statistic: Any, encoding: Encoding | None, columns: Wanted
) -> Any:
    """Summaries of all parts, merged in a tree on the workers; the last one comes back."""
    dask = import_dask()
    walk = dask.delayed(Walk(source.reader(), statistic, encoding, columns), traverse=False)
    task, merge = dask.delayed(summarise, pure=False), dask.delayed(merged, pure=False)
    summaries = [task(walk, part, source.piece(part)) for part in range(source.n_parts)]
    if not summaries:
        return statistic
    while len(summaries) > 1:
        groups = [summaries[i : i + FAN_IN] for i in range(0, len(summaries), FAN_IN)]
        summaries = [merge(*group) if len(group) > 1 else group[0] for group in groups]
    return compute(source, summaries)[0]


def compute(source: Source, delayed: Sequence[Any]) -> Sequence[Any]:
    """Results of delayed calls, on the cluster of the source or on Dask's own choice."""
    dask = import_dask()
    client = source.cluster
    try:
        if client is None or client == "threads":
            options = {} if client is None else {"scheduler": "threads"}
            return dask.compute(*delayed, retries=RETRIES, **options)
        return client.gather(client.compute(list(delayed), retries=RETRIES))
    except Exception as error:
        if type(error).__name__ not in ("KilledWorker", "CommClosedError", "FutureCancelledError"):
            raise
        raise WorkerError(
            f"{source!r}: expected workers that live until the work is done, got {error}. A worker "
            "that dies again and again is most often out of memory: use smaller blocks or more "
            "memory per worker, then start again."
        ) from error


def import_dask() -> Any:
    """Dask, or an error that says how to get it."""
    try:
        import dask
    except ImportError as error:
        raise MissingDependencyError(
            "Dask: expected the package dask, got none. Run pip install 'tamis[dask]'."
        ) from error
    return dask
