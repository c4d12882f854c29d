"""Units of work on the workers of a cluster; results come back as they are ready."""

from __future__ import annotations

import time
from threading import Lock
from typing import Any

from threadpoolctl import threadpool_limits

from tamis.evaluation.run.plan import Job, Plan
from tamis.evaluation.run.workers import TICK_SECONDS, Done, Finished, Next, compute, died
from tamis.passes.dask.client import Waiting, results, submit, threads_of

# Warnings, memory and threads of libraries belong to a process: one unit at a time in each.
_one_at_a_time = Lock()


def count_processes(client: Any) -> int:
    """Workers that can compute a unit; 1 if there are none yet."""
    return len(threads_of(client, "compare"))


def run_on_cluster(plan: Plan, next_job: Next, client: Any) -> Finished:
    """Compute on the workers; one that dies costs only the units it was at, and those go elsewhere.

    A unit at which worker after worker dies is recorded as failed.
    """
    from tamis.passes.dask.shared import shared

    with shared(client, plan._replace(jobs=[]), "compare") as name:
        suspects: list[Job] = []
        yield from _run_together(client, name, next_job, suspects)
        # Some died beside the unit that ended their worker: alone, each shows what it is.
        for job in suspects:
            start = time.perf_counter()
            future = submit(client, _work, name, job)
            Waiting(client, "compare", [future]).next()
            yield died(job, "workers", start) if _was_killed(future) else _done(client, future, job)


def _run_together(client: Any, name: str, next_job: Next, suspects: list[Job]) -> Finished:
    """Finished units; those whose workers died again and again become suspects."""
    waiting = Waiting(client, "compare")
    at_work: dict[Any, Job] = {}
    try:
        while True:
            # One more per worker than it can do, so that none waits for us.
            room = 2 * count_processes(client) - len(at_work)
            while room > 0 and (job := next_job()) is not None:
                future = submit(client, _work, name, job)
                at_work[future] = job
                waiting.add(future)
                room -= 1
            if not at_work:
                return
            future = waiting.next(TICK_SECONDS)
            if future is None:
                yield None
                continue
            job = at_work.pop(future)
            if _was_killed(future):
                suspects.append(job)
            else:
                yield _done(client, future, job)
    finally:
        for future in at_work:
            future.release()


def _done(client: Any, future: Any, job: Job) -> Done:
    [done] = results(client, [future], "compare", lambda key: f"a unit of {job.method}")
    return done


def _was_killed(future: Any) -> bool:
    return future.status == "error" and type(future.exception()).__name__ == "KilledWorker"


def _work(name: str, job: Job) -> Done:
    """What a worker does with a unit."""
    from tamis.passes.dask.shared import held

    with _one_at_a_time, threadpool_limits(limits=1):
        return compute(held(name), job)
