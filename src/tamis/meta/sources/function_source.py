"""FunctionSource: a function that measures one candidate, called in parallel."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Generator
from itertools import islice
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from tamis._runtime.threads import effective_jobs
from tamis._validation import N_JOBS, Choice, check_value
from tamis.exceptions import InputError
from tamis.meta.sources._ledger import describe
from tamis.meta.sources.feature_source import FeatureSource
from tamis.meta.sources.meta_table import BadResult

Function = Callable[[int], Any]
# A candidate with its column, or with an exception.
Results = Generator[tuple[int, Any]]


class FunctionSource(FeatureSource):
    """A function that measures one candidate, called for several at a time.

    For measurements that wait (an instrument, a database, a web service) or compute for long.
    Every result is kept when it arrives, so neither a failure nor a killed process loses more
    than what was under way.

    Parameters
    ----------
    function : callable
        Called with the number of a candidate (an int), returns its column: numbers of shape
        (n_samples,), NaN where a value is missing.
    meta, cost, feature_names
        As in :class:`ArraySource`, of every candidate.
    n_jobs : int, default=None
        How many calls at a time: None means as many as cores, negative numbers count back from
        these. An instrument that can do one thing at a time wants 1, a web service may want more.
    retries : int, default=2
        How often a failed call is repeated; never one that succeeded.
    prefer : {"threads", "processes"}, default="threads"
        Processes (of joblib) are for functions that compute in Python itself, or that may crash;
        function and columns are then sent between processes.

    Notes
    -----
    Results do not depend on `n_jobs`. The function must not ask its own source for columns.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.meta import FunctionSource
    >>> time = np.linspace(0, 1, 5)
    >>> source = FunctionSource(lambda index: time**index, meta=[[0], [1], [2], [3]], n_jobs=2)
    >>> source.columns([2, 1])[1]
    array([0.0625, 0.25  ])
    """

    def __init__(
        self,
        function: Function,
        meta: Any,
        *,
        cost: Any = None,
        feature_names: Any = None,
        n_jobs: int | None = None,
        retries: int = 2,
        prefer: str = "threads",
    ) -> None:
        self.function, self.meta, self.cost = function, meta, cost
        self.n_jobs, self.retries, self.prefer = n_jobs, retries, prefer
        if feature_names is not None:
            self.feature_names = feature_names
        if not callable(function):
            raise InputError(f"FunctionSource: expected a function of one int, got {function!r}.")
        check_value(n_jobs, N_JOBS, who="FunctionSource", name="n_jobs")
        check_value(prefer, Choice(("threads", "processes")), who="FunctionSource", name="prefer")
        self.costs()
        self.candidate_names()

    def measure(self, indices: NDArray[np.int64]) -> Any:
        """Call the function for some candidates; its first exception is raised."""
        found: dict[int, Any] = {}
        for index, result in self._measurements(indices):
            if isinstance(result, Exception):
                raise result
            found[index] = result
        return np.column_stack([found[int(index)] for index in indices])

    def _measurements(self, indices: NDArray[np.int64]) -> Results:
        n_jobs = effective_jobs(self.n_jobs)
        if n_jobs == 1:
            return (_looked_at(*_call(self.function, index)) for index in indices.tolist())
        call_all = _call_in_threads if self.prefer == "threads" else _call_in_processes
        return call_all(self.function, indices.tolist(), n_jobs)


def _call(function: Function, index: int, apart: bool = False) -> tuple[int, Any]:
    """Result of the function, or its exception: raised, it would take along other results."""
    try:
        return index, function(index)
    except Exception as error:  # not every one can travel between processes
        return index, BadResult(describe(error)) if apart else error
    except BaseException as stop:  # from the keyboard: raised when its turn comes
        return index, stop


def _looked_at(index: int, result: Any) -> tuple[int, Any]:
    """Raise what is no failure of a measurement but an end of the work."""
    if isinstance(result, BaseException) and not isinstance(result, Exception):
        raise result
    return index, result


def _call_in_threads(function: Function, indices: list[int], n_threads: int) -> Results:
    """On several threads; stopped from the keyboard, it still hands over what is complete."""
    tasks: SimpleQueue[int | None] = SimpleQueue()
    arrived: SimpleQueue[tuple[int, Any]] = SimpleQueue()

    def work() -> None:
        while (index := tasks.get()) is not None:
            arrived.put(_call(function, index))

    # Two per thread are on the way, so that none is idle while a result is written to disk.
    waiting = iter(indices)
    for index in islice(waiting, 2 * n_threads):
        tasks.put(index)
    try:
        for _ in range(min(n_threads, len(indices))):
            Thread(target=work, name="tamis_measuring", daemon=True).start()
        for _ in indices:
            result = arrived.get()
            for index in islice(waiting, 1):
                tasks.put(index)
            yield _looked_at(*result)
    except KeyboardInterrupt:
        yield from (done for done in _emptied(arrived) if not isinstance(done[1], BaseException))
        raise
    finally:
        for _ in _emptied(tasks):
            pass
        for _ in range(n_threads):  # they end after what they are at
            tasks.put(None)


def _emptied(queue: SimpleQueue[Any]) -> Generator[Any]:
    with contextlib.suppress(Empty):
        while True:
            yield queue.get_nowait()


def _call_in_processes(function: Function, indices: list[int], n_processes: int) -> Results:
    calls = (delayed(_call)(function, index, True) for index in indices)
    options = {"prefer": "processes", "return_as": "generator_unordered", "batch_size": 1}
    results = Parallel(n_jobs=n_processes, **options)(calls)
    try:
        for index, result in results:
            yield _looked_at(index, result)
    finally:
        with warnings.catch_warnings():  # that tasks were cancelled: they were meant to be
            warnings.simplefilter("ignore", UserWarning)
            results.close()
