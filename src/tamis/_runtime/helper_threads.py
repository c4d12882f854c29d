"""Threads that stay and share the parts of a table with the caller."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Sequence
from functools import lru_cache
from queue import SimpleQueue
from threading import Thread
from typing import Any


def run_shared(
    function: Callable[..., None], parts: Sequence[tuple[Any, ...]], n_threads: int
) -> None:
    """Call ``function(*part)`` for every part, with `n_threads - 1` helpers beside the caller."""
    waiting = deque(parts)

    def work() -> None:
        while waiting:
            try:
                part = waiting.popleft()
            except IndexError:  # another thread took the last one
                return
            function(*part)

    helpers = _helpers(os.getpid(), n_threads - 1)
    ended: SimpleQueue[BaseException | None] = SimpleQueue()
    n_helpers = min(n_threads, len(parts)) - 1
    for _ in range(n_helpers):
        helpers.put((work, ended))
    failure: BaseException | None = None
    try:
        work()
    except BaseException as error:
        waiting.clear()
        failure = error
    while n_helpers:
        try:
            failure = ended.get() or failure
            n_helpers -= 1
        except KeyboardInterrupt as error:  # the arrays are in use until the helpers have ended
            waiting.clear()
            failure = error
    if failure is not None:
        raise failure


@lru_cache(maxsize=4)
def _helpers(process: int, n_threads: int) -> SimpleQueue[Any]:
    """Where threads that stay wait for work: starting new ones costs more than a small block.

    A queue of our own hands over in half of the time of a ThreadPoolExecutor. A forked process
    inherits the object but not its threads, hence the process number.
    """
    tasks: SimpleQueue[Any] = SimpleQueue()

    def serve() -> None:
        while True:
            work, ended = tasks.get()
            try:
                work()
                ended.put(None)
            except BaseException as error:
                ended.put(error)
            del work, ended  # or the last arrays stay in memory until the next task

    for number in range(n_threads):
        Thread(target=serve, name=f"tamis_{number}", daemon=True).start()
    return tasks
