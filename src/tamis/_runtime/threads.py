"""Threads over parts of a table; the parts, never the threads, decide the result."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from queue import SimpleQueue
from threading import Thread
from typing import Any

from tamis._runtime import compilation

# Below this many cells per thread, waking one costs more than it saves.
CELLS_WORTH_A_THREAD = 200_000


def effective_jobs(n_jobs: int | None) -> int:
    """Number of threads meant by `n_jobs`.

    ``None`` means every core this process may use, as for scikit-learn's own OpenMP loops; joblib
    workers lower it through ``NUMBA_NUM_THREADS``. Negative numbers count back from all cores.
    """
    available = int(os.environ.get("NUMBA_NUM_THREADS") or _cores())
    if n_jobs is None:
        return available
    return n_jobs if n_jobs > 0 else max(1, _cores() + 1 + n_jobs)


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not offered outside Linux
        return os.cpu_count() or 1


def split_evenly(start: int, stop: int, n_parts: int) -> list[tuple[int, int]]:
    """Cut ``range(start, stop)`` into at most `n_parts` non-empty pieces of nearly equal length."""
    n_parts = max(1, min(n_parts, stop - start))
    bounds = [start + (stop - start) * i // n_parts for i in range(n_parts + 1)]
    return list(pairwise(bounds))


def run_parts(
    function: Callable[..., None], parts: Sequence[tuple[Any, ...]], n_threads: int
) -> None:
    """Call ``function(*part)`` for every part, on at most `n_threads` threads.

    The caller is one of them. Parts must not call this function themselves.
    """
    if n_threads <= 1 or len(parts) <= 1:
        for part in parts:
            function(*part)
        return
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


@cache
def blas_threads() -> Any:
    """What limits the threads of the BLAS, for as long as threads of ours call it."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def run_kernel(
    kernel: Any,
    call: Callable[..., None],
    parts: Sequence[tuple[Any, ...]],
    n_threads: int,
    dtype: Any = "",
) -> None:
    """As `run_parts`, for calls of a kernel; where they would compile it, this is announced."""
    if (kernel, str(dtype)) in compilation.ready:
        return run_parts(call, parts, n_threads)
    with compilation.announce_compilation(kernel, dtype):
        return run_parts(call, parts, n_threads)


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


def threads_for(n_cells: int, n_jobs: int | None) -> int:
    """Threads worth starting for a piece of work on `n_cells` table cells."""
    return min(effective_jobs(n_jobs), max(1, n_cells // CELLS_WORTH_A_THREAD))
