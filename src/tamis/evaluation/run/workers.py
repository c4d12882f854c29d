"""Units of work here, on several processes or on a cluster; the numbers are the same."""

from __future__ import annotations

import logging
import os
import pickle
import signal
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from tamis._runtime.private_folder import private_folder
from tamis.evaluation.run.plan import Job, Plan, Setting
from tamis.evaluation.run.units import UnitResult, failed_result, run_unit
from tamis.exceptions import InputError
from tamis.passes.dask.client import Waiting, results, submit, threads_of

# How often the caller hears from us while nothing finishes.
TICK_SECONDS = 0.5
# How long processes wait for another comparison.
IDLE_SECONDS = 60
# Every process computes on one thread: units run side by side, and sums come out the same.
ONE_THREAD = {
    "VECLIB_MAXIMUM_THREADS": "1",
    **{f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMBA")},
}


class Done(NamedTuple):
    """A finished unit and how long it took, everything included."""

    job: Job
    result: UnitResult
    seconds: float


Next = Callable[[], Job | None]
# Finished units; None when nothing finished for a while, so that a display can move on.
Finished = Iterator[Done | None]


def run_here(plan: Plan, next_job: Next) -> Finished:
    """Compute in this process, in the order in which jobs are handed out."""
    with threadpool_limits(limits=1), _noticed_interrupt() as check:
        while (job := next_job()) is not None:
            done = compute(plan, job)
            # Some selectors end early on Ctrl-C and rank by what they have: not a result here.
            check()
            yield done


def run_apart(plan: Plan, next_job: Next, n_jobs: int) -> Finished:
    """Compute on `n_jobs` processes; a process that dies costs only the unit it was at."""
    with shared_plan(plan) as shared:
        while suspects := (yield from _run_pool(shared, next_job, n_jobs)):
            for job in suspects:  # alone, each shows whether it ends its process
                start = time.perf_counter()
                if (yield from _run_pool(shared, partial(next, iter([job]), None), 1)):
                    yield died(job, "process", start)


def compute(plan: Plan, job: Job) -> Done:
    """One unit; whatever goes wrong in it becomes its result."""
    start = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a thousand times the same "did not converge"
            result = run_unit(plan.unit(job))
    except (Exception, SystemExit):
        result = failed_result(traceback.format_exc(), time.perf_counter() - start)
    return Done(job, result, time.perf_counter() - start)


def died(job: Job, who: str, start: float) -> Done:
    """A unit that ended the process or the workers that computed it."""
    seconds = time.perf_counter() - start
    text = f"The {who} that computed this unit died, perhaps for lack of memory."
    return Done(job, failed_result(text, seconds), seconds)


@contextmanager
def _noticed_interrupt() -> Iterator[Callable[[], None]]:
    """Know of a Ctrl-C even if whoever was at work made nothing of it."""
    pressed = threading.Event()

    def check() -> None:
        if pressed.is_set():
            raise KeyboardInterrupt

    def handle(number: int, frame: Any) -> None:
        pressed.set()
        raise KeyboardInterrupt

    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield check
        return
    signal.signal(signal.SIGINT, handle)
    try:
        yield check
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _run_pool(shared: SharedPlan, next_job: Next, n_jobs: int) -> Any:
    """Finished units; the generator returns the jobs that were at work when a process died."""
    executor = _kept_executor(n_jobs)
    at_work: dict[Future[Done], Job] = {}
    try:
        while True:
            # One more per process than it can do, so that none waits for us.
            while len(at_work) < 2 * n_jobs and (job := next_job()) is not None:
                at_work[executor.submit(_work, shared, job)] = job
            if not at_work:
                return []
            finished, _ = wait(at_work, timeout=TICK_SECONDS, return_when=FIRST_COMPLETED)
            for future in finished:
                done = _result_of(future)
                del at_work[future]
                yield done
            if not finished:
                yield None
    except BrokenExecutor:
        return list(at_work.values())
    finally:
        if at_work:  # interrupted, or broken: nobody wants these results
            drop_processes()


def _result_of(future: Future[Done]) -> Done:
    try:
        return future.result()
    except (BrokenExecutor, KeyboardInterrupt):
        raise
    except Exception as error:  # of reading the plan: what a unit raises is its result
        raise InputError(
            "compare: expected selectors, estimators and metrics that other processes can load, "
            f"got {type(error).__name__}: {error}. Define them in an installed module, or use "
            "n_jobs=1."
        ) from error


# Processes wait for the next comparison for a while: starting one takes two seconds of imports.
_kept: dict[str, Any] = {}


def _kept_executor(n_jobs: int) -> Any:
    ours = (os.getpid(), n_jobs)
    if _kept.get("whose") != ours:
        drop_processes()
        from joblib.externals.loky import ProcessPoolExecutor

        # Unlike the executor of Python, loky does not import the caller's script again.
        start = {"initializer": _start_worker, "initargs": (os.getpid(),), "env": ONE_THREAD}
        executor = ProcessPoolExecutor(n_jobs, timeout=IDLE_SECONDS, **start)
        _kept.update(whose=ours, executor=executor)
    return _kept["executor"]


def drop_processes() -> None:
    """End the processes that wait for more work."""
    executor, whose = _kept.pop("executor", None), _kept.pop("whose", (0, 0))
    if executor is not None and whose[0] == os.getpid():
        executor.shutdown(wait=True, kill_workers=True)


def _start_worker(parent: int) -> None:
    """Leave Ctrl-C to the parent, and end when it is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()
    threadpool_limits(limits=1)


def _watch(parent: int) -> None:
    while os.name != "posix" or os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)


# The plan that this process is at work on, by its folder.
_plans: dict[Path, Plan] = {}


def _work(shared: SharedPlan, job: Job) -> Done:
    if shared.folder not in _plans:
        # Else a worker would print by itself what the parent reports or keeps quiet.
        logging.getLogger("tamis").addHandler(logging.NullHandler())
        plan = pickle.loads(shared.content)
        settings = [_with_table(setting, setting.table.X.load()) for setting in plan.settings]
        _plans.clear()
        _plans[shared.folder] = plan._replace(settings=settings)
    return compute(_plans[shared.folder], job)


PREFIX = "tamis-compare-"


class SharedPlan(NamedTuple):
    """Folder of the tables, and the rest of the plan as a pickle.

    The pickle travels with every unit through the pipe between parent and worker and is never on
    disk, where somebody could put another one in its place.
    """

    folder: Path
    content: bytes


@contextmanager
def shared_plan(plan: Plan) -> Iterator[SharedPlan]:
    """The plan, with its tables on disk for as long as the block lasts."""
    with private_folder(PREFIX) as folder:
        yield SharedPlan(folder, _write(plan, folder))


def _write(plan: Plan, folder: Path) -> bytes:
    try:
        stored = [
            _with_table(setting, _stored(setting.table.X, folder, number))
            for number, setting in enumerate(plan.settings)
        ]
    except OSError as error:
        raise InputError(
            f"compare: expected to write the tables to {str(folder)!r} for the workers, got: "
            f"{error.strerror or error}. Free some space, set TMPDIR to another folder, or use "
            "n_jobs=1, which needs none."
        ) from error
    # Also takes functions and classes of notebooks and scripts, which pickle does not.
    from joblib.externals.loky.backend.reduction import dumps

    try:
        return bytes(dumps(plan._replace(settings=stored, jobs=[])))
    except Exception as error:
        raise InputError(
            "compare: expected selectors, estimators and metrics that can be sent to other "
            f"processes, got: {error}. Define them in a module, or use n_jobs=1."
        ) from error


def _with_table(setting: Setting, X: Any) -> Setting:
    return setting._replace(table=setting.table._replace(X=X))


class _Stored(NamedTuple):
    """A table on disk: its arrays, and the class and the shape of a sparse matrix."""

    paths: list[Path]
    kind: Any
    shape: tuple[int, int]

    def load(self) -> Any:
        arrays = [_mapped(path) for path in self.paths]
        return arrays[0] if self.kind is None else self.kind(tuple(arrays), shape=self.shape)


def _stored(X: Any, folder: Path, number: int) -> _Stored:
    is_sparse = sparse.issparse(X)
    arrays = [X.data, X.indices, X.indptr] if is_sparse else [X]
    paths = [folder / f"{number}-{part}.npy" for part in range(len(arrays))]
    for path, array in zip(paths, arrays, strict=True):
        np.save(path, array)
    return _Stored(paths, type(X) if is_sparse else None, X.shape)


def _mapped(path: Path) -> Any:
    """A plain array over the mapped file; numpy's memmap class would infect what is made of it."""
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False).view(np.ndarray)
    except ValueError:  # nothing to map in an empty array
        return np.load(path, allow_pickle=False)


# Warnings, memory and threads of libraries belong to a process: one unit at a time in each.
_one_at_a_time = threading.Lock()


def count_processes(client: Any) -> int:
    """Workers that can compute a unit; 1 if there are none yet."""
    return len(threads_of(client, "compare"))


def run_on_cluster(plan: Plan, next_job: Next, client: Any) -> Finished:
    """Compute on Dask workers; a unit at which worker after worker dies is recorded as failed."""
    from tamis.passes.dask.shared import shared

    with shared(client, plan._replace(jobs=[]), "compare") as name:
        suspects: list[Job] = []
        yield from _run_together(client, name, next_job, suspects)
        # Some died beside the unit that ended their worker: alone, each shows what it is.
        for job in suspects:
            start = time.perf_counter()
            future = submit(client, _work_on_cluster, name, job)
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
                future = submit(client, _work_on_cluster, name, job)
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


def _work_on_cluster(name: str, job: Job) -> Done:
    """What a worker does with a unit."""
    from tamis.passes.dask.shared import held

    with _one_at_a_time, threadpool_limits(limits=1):
        return compute(held(name), job)
