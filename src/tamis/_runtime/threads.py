"""Parts of a table for threads; the parts, never the threads, decide the result."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from itertools import pairwise
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


def threads_for(n_cells: int, n_jobs: int | None) -> int:
    """Threads worth starting for a piece of work on `n_cells` table cells."""
    return min(effective_jobs(n_jobs), max(1, n_cells // CELLS_WORTH_A_THREAD))


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
    from tamis._runtime.helper_threads import run_shared

    run_shared(function, parts, n_threads)


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
