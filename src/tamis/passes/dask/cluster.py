"""ClusterEngine: blocks are summarised where they are, summaries are merged in a tree."""

from __future__ import annotations

import copy
import pickle
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import numpy as np

from tamis.data.partitioned import PartitionedTable, RawBlock, Wanted
from tamis.data.target_blocks import ClassSummary, Encoding
from tamis.exceptions import WorkerError
from tamis.passes.dask.client import (
    RETRIES,
    check_workers,
    current_client,
    import_dask,
    killed_with,
    lost_workers,
    open_client,
    results,
)
from tamis.passes.engine import S, Steps, in_silence
from tamis.passes.stream import StreamEngine, located, weight_of
from tamis.statistics import Ranges

NO_COLUMNS: Wanted = np.empty(0, dtype=np.intp)
# Summaries that one task merges.
FAN_IN = 8
# Parts of files that a task takes at most, once there are so many tasks.
MOST_PARTS, MOST_TASKS = 64, 256
# With a checkpoint, so many summaries at most come back one after the other.
MOST_STAGES = 32
# Summaries that are merged on one worker, in one task, take no more than this together.
MOST_BYTES_AT_ONCE = 2**26
# Parts of a task that a message names.
MOST_NAMED = 8


@dataclass(frozen=True)
class RemotePass:
    """What every task of a pass needs, sent to a worker once: how to read, and what to count."""

    reader: PartitionedTable
    # Zeros for the most part, so the statistic is packed; every task wants a copy anyway.
    empty: bytes
    encoding: Encoding | None
    columns: Wanted
    # Size of the statistic, which is not packed when it travels back.
    n_bytes: int

    @classmethod
    def of(
        cls, source: PartitionedTable, statistic: Any, encoding: Encoding | None, columns: Wanted
    ) -> RemotePass:
        """A pass over a source, without the source's own connections."""
        reader = copy.copy(source.reader())
        reader.cluster = reader.checkpoint = None
        packed = pickle.dumps(statistic, 5)
        return cls(reader, zlib.compress(packed, 1), encoding, columns, len(packed))

    def summary(self, parts: Sequence[int], piece: Any) -> Any:
        """Statistic of some parts; a first look at them where there is no encoding yet."""
        # Part of what Dask sends, by pickle, from the process that the user started; not from disk.
        statistic = pickle.loads(zlib.decompress(self.empty))
        for part in parts:
            self._take_in(statistic, part, piece)
        return statistic

    def _take_in(self, statistic: Any, part: int, piece: Any) -> None:
        n_before = 0
        for raw in self.reader.pieces(part, piece, self.columns):
            with located(self.reader, part, n_before):
                if self.encoding is None:
                    statistic.look(raw)
                else:
                    weight = weight_of(raw, self.encoding.who)
                    statistic.update(self.encoding.block(raw, weight), 1)
            n_before += raw.n_rows


def summarise(task: RemotePass, parts: Sequence[int], piece: Any) -> Any:
    """What a worker does with some parts."""
    try:
        return task.summary(parts, piece)
    except MemoryError as error:
        raise WorkerError(
            f"{task.reader.where(parts[0])}: expected enough memory on the worker for this part, "
            "got too little. Use smaller parts or more memory per worker, then start again."
        ) from error


def merged(first: Any, *others: Any) -> Any:
    """What a worker does with summaries; those it was given stay as they are."""
    total = copy.deepcopy(first)
    for other in others:
        total.merge(other)
    return total


def summarise_each(task: RemotePass, parts: Sequence[int], pieces: Sequence[Any]) -> list[Any]:
    """What a worker does with chunks that it has: (number, summary) of each."""
    found = zip(parts, pieces, strict=True)
    return [(part, summarise(task, [part], piece)) for part, piece in found]


def merge_each(*found: list[Any]) -> Any:
    """Merge numbered summaries in the tree that they would have as tasks of their own.

    So the result does not depend on where the chunks are, to the last bit.
    """
    numbered = sorted((item for some in found for item in some), key=lambda item: item[0])
    return in_tree([summary for _, summary in numbered], merged)


def in_tree(items: Sequence[Any], merge: Callable[..., Any]) -> Any:
    """Merge items, some at a time, until one is left."""
    items = list(items)
    while len(items) > 1:
        groups = [items[i : i + FAN_IN] for i in range(0, len(items), FAN_IN)]
        items = [merge(*group) if len(group) > 1 else group[0] for group in groups]
    return items[0]


class Tasks:
    """Calls whose arguments are values, results of other calls, or what Dask is to compute.

    `dask.delayed` looks into every argument for collections and optimises a graph for each, which
    for a few dozen chunks in memory took as long as the work on them.
    """

    def __init__(self) -> None:
        import_dask()
        from dask import _task_spec

        self._spec: Any = _task_spec
        self._prefix = f"tamis-pass-{uuid4().hex}"
        self._calls: dict[str, Any] = {}
        self._graphs: dict[int, Any] = {}

    def value(self, value: Any) -> Any:
        """A value that many calls share, sent once; what is returned stands for it."""
        return self._add(lambda key: self._spec.DataNode(key, value))

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """A call; what is returned stands for its result, and has its `key`."""
        placed = [self._placed(argument) for argument in arguments]
        return self._add(lambda key: self._spec.Task(key, function, *placed))

    def delayed(self, call: Any) -> Any:
        """What Dask computes the result of a call from."""
        from dask.delayed import Delayed

        graph: dict[Any, Any] = {}
        for known in self._graphs.values():
            graph.update(known)
        return Delayed(call.key, graph | self._calls)

    def _add(self, make: Callable[[str], Any]) -> Any:
        key = f"{self._prefix}-{len(self._calls)}"
        self._calls[key] = make(key)
        return self._spec.TaskRef(key)

    def _placed(self, argument: Any) -> Any:
        """The argument, with what Dask is to compute replaced by a reference to it."""
        if type(argument) is tuple:
            return self._spec.Tuple(*map(self._placed, argument))
        if hasattr(argument, "__dask_graph__"):
            graph = argument.__dask_graph__()
            self._graphs[id(graph)] = graph
            return self._spec.TaskRef(argument.key)
        return argument


class ClusterEngine(StreamEngine):
    """Passes over a source on the workers of Dask; only summaries travel."""

    @property
    def n_bytes(self) -> int:
        """0: workers see the table part by part."""
        return 0

    def run(
        self, statistic: S, name: str, *, n_jobs: int | None = 1, steps: Steps = in_silence
    ) -> S:
        """Update `statistic` with all blocks; `n_jobs` is not used, tasks have one thread each."""
        if self.checkpoint is None:
            for _ in steps(name, range(1), 1):
                found = run_on_workers(self.source, statistic, self.encoding, self.columns)
                vars(statistic).update(vars(found))
            return statistic
        # Some parts after the other; what is known is stored in between.
        task = RemotePass.of(self.source, statistic, self.encoding, self.columns)
        n_parts = self.source.n_parts
        first = self.checkpoint.resume(name, statistic, n_parts)
        length = max(FAN_IN, -(-n_parts // MOST_STAGES))
        left = range(first, n_parts)
        stages = [left[i : i + length] for i in range(0, len(left), length)]
        with at_work(self.source) as source:
            for stage in steps(name, stages, len(stages)):
                statistic.merge(_summary_of(source, task, stage))
                self.checkpoint.keep(name, stage.stop, n_parts, statistic)
        return statistic


class FirstLook:
    """The target and, unless they are None, the ranges of the columns; both have seen nothing."""

    def __init__(self, target: ClassSummary, ranges: Ranges | None = None):
        self.target, self.ranges = target, ranges

    def look(self, raw: RawBlock) -> None:
        """Take in a block; rows without weight count as rows only."""
        assert raw.target is not None
        weight = weight_of(raw, self.target.who)
        self.target.update(raw.target, weight)
        if self.ranges is not None:
            encoding = Encoding(self.target.who, leave_out_missing=self.target.leave_out_missing)
            self.ranges.update(encoding.block(raw, weight), 1)

    def merge(self, other: FirstLook) -> FirstLook:
        """Take in what another object has seen."""
        self.target.merge(other.target)
        if self.ranges is not None:
            assert other.ranges is not None
            self.ranges.merge(other.ranges)
        return self


def first_look(
    source: PartitionedTable, target: ClassSummary, needs_ranges: bool
) -> tuple[ClassSummary, Ranges | None]:
    """The target and, where a pass for the ranges of the columns would follow, these.

    Making or moving the chunks of Dask costs more than the work on them.
    """
    look, columns = FirstLook(target), NO_COLUMNS
    if needs_ranges and source.checkpoint is None and source.known_ranges() is None:
        look, columns = FirstLook(target, Ranges(source.n_columns)), None
    look = run_on_workers(source, look, None, columns)
    return look.target.finish(), look.ranges


@contextmanager
def at_work(source: PartitionedTable) -> Iterator[PartitionedTable]:
    """The source with its workers found, or started, once for all passes over it."""
    with open_client(source.cluster, repr(source)) as client:
        if client is None or client is source.cluster:
            yield source
            return
        opened = copy.copy(source)
        opened.cluster = client
        yield opened


def run_on_workers(
    source: PartitionedTable, statistic: Any, encoding: Encoding | None, columns: Wanted
) -> Any:
    """Summaries of all parts, merged in a tree on the workers; the last one comes back."""
    if not source.n_parts:
        return statistic
    task = RemotePass.of(source, statistic, encoding, columns)
    return _summary_of(source, task, range(source.n_parts))


def _summary_of(source: PartitionedTable, task: RemotePass, parts: range) -> Any:
    tasks = Tasks()
    shared = tasks.value(task)
    groups = None
    if task.n_bytes * len(parts) <= MOST_BYTES_AT_ONCE:
        groups = source.groups_in_place(parts)
    shares: Sequence[Sequence[int]] = groups or _shares(source, parts)
    leaves = []
    for share in shares:
        if groups:
            pieces = tuple(source.piece(part, task.columns) for part in share)
            leaves.append(tasks.call(summarise_each, shared, share, pieces))
        else:
            piece = source.piece(share[0], task.columns)
            leaves.append(tasks.call(summarise, shared, share, piece))
    if groups:
        last = tasks.delayed(tasks.call(merge_each, *leaves))
    else:
        last = tasks.delayed(in_tree(leaves, lambda *some: tasks.call(merged, *some)))
    known = {leaf.key: share for share, leaf in zip(shares, leaves, strict=True)}

    def name(keys: Sequence[Any]) -> str:
        return " or ".join(map(source.where, _parts_of(keys, known, last)))

    return compute(source, [last], name)[0]


def _shares(source: PartitionedTable, parts: range) -> list[range]:
    """Parts that one task takes one after the other; chunks in memory are taken one by one."""
    length = 1
    if source.is_read_by_workers:
        length = max(1, min(len(parts) // MOST_TASKS, MOST_PARTS))
    return [parts[i : i + length] for i in range(0, len(parts), length)]


def _parts_of(keys: Sequence[Any], known: dict[Any, Sequence[int]], last: Any) -> list[int]:
    """Parts that tasks belong to, be they ours or those that make the data."""
    dependents = import_dask().core.get_deps(dict(last.dask))[1]
    found: set[int] = set()
    waiting = list(keys)
    while waiting:
        key = waiting.pop()
        if key in known:
            found.update(known[key][:MOST_NAMED])
        else:
            waiting += dependents.get(key, ())
    return sorted(found)


def compute(
    source: PartitionedTable,
    delayed: Sequence[Any],
    name: Callable[[Sequence[Any]], str] | None = None,
) -> Sequence[Any]:
    """Results of delayed calls, on the cluster of the source or on Dask's own choice.

    `name` says in words what tasks, given by their keys, are about.
    """
    dask = import_dask()
    with open_client(source.cluster, repr(source)) as opened:
        client = opened if opened is not None or source.cluster else current_client()
        if client is None:
            options = {"scheduler": "threads"} if source.cluster else {}
            return dask.compute(*delayed, **options)

        def words(key: Any) -> str:
            told = "" if name is None else name(killed_with(client, key))
            return told or f"the task {key!r}"

        check_workers(client, repr(source))
        with lost_workers(repr(source), words, client):
            futures = client.compute(list(delayed), retries=RETRIES)
        return results(client, futures, repr(source), words)
