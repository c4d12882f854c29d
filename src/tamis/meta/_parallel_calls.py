"""Calls of a function for many candidates; results as they arrive.

Threads are our own: joblib throws away, with a warning, what is complete but not yet looked at
when the work is stopped, and that may have taken hours.
"""

from __future__ import annotations

import contextlib
import warnings
from collections import deque
from collections.abc import Callable, Generator
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

from tamis.meta._calls import call

Results = Generator[tuple[int, Any]]


def call_here(function: Callable[[int], Any], indices: list[int]) -> Results:
    """One after the other, in this thread."""
    for index in indices:
        yield _looked_at(*call(function, index, False))


def call_in_threads(function: Callable[[int], Any], indices: list[int], n_threads: int) -> Results:
    """On several threads; stopped from the keyboard, it still hands over what is complete."""
    tasks: SimpleQueue[int | None] = SimpleQueue()
    arrived: SimpleQueue[tuple[int, Any]] = SimpleQueue()

    def work() -> None:
        while (index := tasks.get()) is not None:
            arrived.put(call(function, index, False))

    # Two per thread are on the way, so that none is idle while a result is written to disk.
    waiting = deque(indices)
    n_under_way = min(2 * n_threads, len(waiting))
    for _ in range(n_under_way):
        tasks.put(waiting.popleft())
    try:
        for _ in range(min(n_threads, len(indices))):
            Thread(target=work, name="tamis_measuring", daemon=True).start()
        while n_under_way:
            index, result = arrived.get()
            n_under_way -= 1
            if waiting:
                tasks.put(waiting.popleft())
                n_under_way += 1
            yield _looked_at(index, result)
    except KeyboardInterrupt:
        yield from _complete(arrived)
        raise
    finally:
        _end(tasks, n_threads)


def call_in_processes(
    function: Callable[[int], Any], indices: list[int], n_processes: int
) -> Results:
    """In several processes of joblib."""
    from joblib import Parallel, delayed

    calls = (delayed(call)(function, index, True) for index in indices)
    options = {"prefer": "processes", "return_as": "generator_unordered", "batch_size": 1}
    results = Parallel(n_jobs=n_processes, **options)(calls)
    try:
        for index, result in results:
            yield _looked_at(index, result)
    finally:
        with warnings.catch_warnings():  # that tasks were cancelled: they were meant to be
            warnings.simplefilter("ignore", UserWarning)
            results.close()


def _looked_at(index: int, result: Any) -> tuple[int, Any]:
    """Raise what is no failure of a measurement but an end of the work."""
    if isinstance(result, BaseException) and not isinstance(result, Exception):
        raise result
    return index, result


def _complete(arrived: SimpleQueue[tuple[int, Any]]) -> Results:
    with contextlib.suppress(Empty):
        while True:
            index, result = arrived.get_nowait()
            if not isinstance(result, BaseException):
                yield index, result


def _end(tasks: SimpleQueue[int | None], n_threads: int) -> None:
    """Let the threads end after what they are at."""
    with contextlib.suppress(Empty):
        while True:
            tasks.get_nowait()
    for _ in range(n_threads):
        tasks.put(None)
