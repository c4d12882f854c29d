"""Units of work on the workers of a cluster; results come back as they are ready."""

from __future__ import annotations

import time
from threading import Lock
from typing import Any

from threadpoolctl import threadpool_limits

from tamis.evaluation.run.plan import Job, Plan
from tamis.evaluation.run.units import failed_result
from tamis.evaluation.run.workers import TICK_SECONDS, Done, Finished, Next, compute
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
        pool = _Pool(client, name)
        yield from pool.run(next_job)
        # Some died beside the unit that ended their worker: alone, each shows what it is.
        for job in pool.suspects:
            yield pool.run_alone(job)


class _Pool:
    """Units at work, and those whose workers died again and again."""

    def __init__(self, client: Any, name: str):
        self.client, self.name = client, name
        self.waiting = Waiting(client, "compare")
        self.suspects: list[Job] = []
        self.at_work: dict[Any, Job] = {}

    def run(self, next_job: Next) -> Finished:
        """Finished units; None when none finished for a while."""
        try:
            while True:
                # One more per worker than it can do, so that none waits for us.
                room = 2 * count_processes(self.client) - len(self.at_work)
                while room > 0 and (job := next_job()) is not None:
                    future = self._submit(job)
                    self.at_work[future] = job
                    self.waiting.add(future)
                    room -= 1
                if not self.at_work:
                    return
                yield self._next()
        finally:
            for future in self.at_work:
                future.release()

    def _next(self) -> Done | None:
        future = self.waiting.next(TICK_SECONDS)
        if future is None:
            return None
        job = self.at_work.pop(future)
        if _was_killed(future):
            self.suspects.append(job)
            return None
        return self._result(future, job)

    def run_alone(self, job: Job) -> Done:
        """A unit, with no other one on the workers that could be to blame."""
        start = time.perf_counter()
        future = self._submit(job)
        Waiting(self.client, "compare", [future]).next()
        if not _was_killed(future):
            return self._result(future, job)
        text = "The workers that computed this unit died, perhaps for lack of memory."
        seconds = time.perf_counter() - start
        return Done(job, failed_result(text, seconds), seconds)

    def _submit(self, job: Job) -> Any:
        return submit(self.client, _work, self.name, job)

    def _result(self, future: Any, job: Job) -> Done:
        [done] = results(self.client, [future], "compare", lambda key: f"a unit of {job.method}")
        return done


def _was_killed(future: Any) -> bool:
    return future.status == "error" and type(future.exception()).__name__ == "KilledWorker"


def _work(name: str, job: Job) -> Done:
    """What a worker does with a unit."""
    from tamis.passes.dask.shared import held

    with _one_at_a_time, threadpool_limits(limits=1):
        return compute(held(name), job)
