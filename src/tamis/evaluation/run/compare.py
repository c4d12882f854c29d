"""compare: many selectors on many tables, every split, number of features and estimator."""

from __future__ import annotations

import os
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from statistics import fmean, median
from typing import Any

from tamis._runtime.progress import Progress, Silence, make_progress
from tamis._runtime.threads import effective_jobs
from tamis._runtime.warning import warn
from tamis._validation import N_JOBS, Number, check_value
from tamis.data.partitioned import CLUSTER
from tamis.data.task import TASK
from tamis.evaluation.results.comparison import Comparison
from tamis.evaluation.run import workers
from tamis.evaluation.run.plan import DEFAULT_COUNTS, Job, Plan, make_plan, read_tables
from tamis.evaluation.run.workers import Done
from tamis.evaluation.store import Store
from tamis.passes.dask.client import open_client

__all__ = ["compare"]

# Starting a process takes seconds: less work than this is done before it is ready.
SECONDS_WORTH_A_PROCESS = 4.0
SECONDS_TO_LOOK = 1.0
SECONDS_BETWEEN_UPDATES = 0.2

Case = tuple[int, str]  # number of the data set, name of the method


def compare(
    selectors: Any,
    data: Any,
    *,
    target: Any = None,
    protocol: Any = None,
    counts: Any = DEFAULT_COUNTS,
    learners: Any = "svm",
    metrics: Any = None,
    task: str = "auto",
    n_jobs: int | None = None,
    cluster: Any = None,
    store: str | os.PathLike[str] | Store | None = None,
    random_state: int = 0,
    progress: bool = True,
) -> Comparison:
    """Compare selectors without leakage: nothing is learned from a test row.

    Every selector ranks the features once per split, on the training rows. For every number of
    features, every estimator is trained on the best ones and scored on the test rows. Beside them,
    on the same splits: as many random features, all features, and a constant prediction. For the
    stability, every selector also ranks disjoint halves of the rows.

    Parameters
    ----------
    selectors : list of str or selectors, or dict
        Names of :func:`tamis.list_selectors`, unfitted selectors, or a dict of names for them.
    data : tuple, DataFrame, Bunch, str, list or dict
        ``(X, y)``; a data frame with `target`; a Bunch with `X` and `y`; a name of
        :mod:`tamis.datasets`; a list of names or Bunches; or a dict of names for any of these.
    target : str or array-like, default=None
        Target column of data frames, or the target.
    protocol : str, int, protocol, splitter or dict, default=None
        What :func:`~tamis.evaluation.protocols.as_protocol` takes, or a dict of one for every data
        set. ``None`` is five folds, four times: models learn from 4/5 of the rows, so that their
        scores are nearly those of models that learn from all.
    counts : sequence of int or "grid", default=(1, 2, 3, 5, 10, 20, 50, 100, 200)
        Numbers of features; those beyond what there is mean all. ``"grid"`` takes a dozen from
        one to all features, equally spaced in the logarithm.
    learners : str, estimator, list or dict, default="svm"
        Estimators, as :func:`~tamis.evaluation.learners.make_learner` takes them.
    metrics : str, scorer, list or dict, default=None
        What :func:`~tamis.evaluation.metrics.make_metric` takes; the first one decides. ``None``
        means AUC, accuracy and balanced error, or R2 and squared error.
    task : {"auto", "classification", "regression"}, default="auto"
        ``"auto"`` infers it (:func:`tamis.data.infer_task`).
    n_jobs : int, default=None
        Processes, each on one thread. ``None`` means all cores, but none is started for a
        comparison of a few seconds. The results do not depend on it.
    cluster : str, int, Client or None, default=None
        Dask workers to compute on: the address of a scheduler, a number of local processes to
        start, or a client. Plan and tables are sent to each worker once; this process stores the
        results. A worker computes one unit at a time, whatever its number of threads.
        ``"threads"`` computes in this process. The results do not depend on it.
    store : path-like or Store, default=None
        SQLite file for finished units; units found in it are not computed again. Several
        comparisons and several processes may share it. ``None`` keeps the results in memory.
    random_state : int, default=0
        Every unit gets a seed of its own, derived from this, the data, the method and the split.
    progress : bool, default=True
        Show on stderr how far the work is.

    Raises
    ------
    InputError
        If something cannot be used as given, or the store cannot be written; finished units stay
        in it.
    WorkerError
        If the scheduler or all workers of the cluster were lost; finished units stay in the store.

    Notes
    -----
    A selector that fails is recorded with its error (`Comparison.failures`) and reported by a
    warning; the other units are computed. After Ctrl-C or a crash, the same call with the same
    store resumes, and the table is the same as without the interruption.

    Examples
    --------
    >>> import tamis
    >>> from sklearn.datasets import load_breast_cancer
    >>> data = load_breast_cancer(return_X_y=True)
    >>> found = tamis.evaluation.compare(["dft", "fisher"], data, protocol=3, counts=[2, 5])
    >>> found.methods, found.counts("data")
    (['dft', 'fisher'], (2, 5))
    >>> len(found.table())
    36
    """
    check_value(task, TASK, who="compare", name="task")
    check_value(n_jobs, N_JOBS, who="compare", name="n_jobs")
    check_value(random_state, Number(int, 0), who="compare", name="random_state")
    check_value(cluster, CLUSTER, who="compare", name="cluster")
    tables = read_tables(data, target, task)
    plan = make_plan(tables, selectors, protocol, counts, learners, metrics, random_state)
    # A store that came open stays open.
    kept = nullcontext(store) if isinstance(store, Store) else Store(store)
    with kept as opened, open_client(cluster, "compare") as client:
        run = _Run(plan, opened, 1 if cluster == "threads" else n_jobs, client)
        run.fill(make_progress(progress))
        rows = list(opened.rows(job.key for job in plan.jobs))
    found = Comparison(plan, rows)
    failures = found.failure_counts()
    if failures:
        shown = ", ".join(f"{method} on {data} ({n}x)" for (data, method), n in failures.items())
        warn(f"compare: some selectors failed: {shown}. Comparison.failures() says why.")
    return found


class Timing:
    """Seconds of finished units, by data set and method, which differ by a factor of a thousand."""

    def __init__(self) -> None:
        self._seen: dict[Case, list[float]] = defaultdict(list)
        self._told: dict[Case, float] = {}

    def tell(self, case: Case, seconds: float) -> None:
        """Seconds of an earlier run, which count until there are own ones."""
        self._told[case] = seconds

    def add(self, case: Case, seconds: float) -> None:
        """A unit that was finished now."""
        self._seen[case].append(seconds)

    def expected(self, case: Case) -> float | None:
        """Seconds that a unit will take; None as long as nothing is known.

        What has not been seen yet is estimated from the same method on other data and from other
        methods on the same data.
        """
        # The median, for the first unit of a process also loads or compiles kernels.
        known = {**self._told, **{case: median(times) for case, times in self._seen.items()}}
        if case in known or not known:
            return known.get(case)
        on_data: dict[int, list[float]] = defaultdict(list)
        for (data, _), seconds in known.items():
            on_data[data].append(seconds)
        typical = {data: fmean(times) for data, times in on_data.items()}
        ratios = [
            seconds / typical[data]
            for (data, method), seconds in known.items()
            if method == case[1] and typical[data] > 0
        ]
        usual = typical.get(case[0], fmean(typical.values()))
        return usual * (fmean(ratios) if ratios else 1.0)

    def remaining(
        self, waiting: Iterable[Case], running: Iterable[tuple[Case, float]], n_jobs: int
    ) -> float | None:
        """Seconds until all is done, or None; `running` is at work for so many seconds already."""
        numbers, begun = Counter(waiting), list(running)
        cases = {*numbers, *(case for case, _ in begun)}
        expected = {case: self.expected(case) for case in cases}
        known = {case: seconds for case, seconds in expected.items() if seconds is not None}
        if len(known) < len(cases):
            return None
        left = [max(known[case] - spent, 0.0) for case, spent in begun]
        total = sum(left) + sum(known[case] * n for case, n in numbers.items())
        longest = max([*left, *(known[case] for case in numbers)], default=0.0)
        # The work may be shared, but nothing ends before its longest piece.
        return max(total / n_jobs, longest)


class _Run:
    """A run: the units waiting and at work, and how long they take."""

    def __init__(self, plan: Plan, store: Store, n_jobs: int | None, client: Any = None):
        self.plan, self.store, self.asked, self.client = plan, store, n_jobs, client
        self.timing, self.shown = Timing(), 0.0
        finished = store.finished(job.key for job in plan.jobs)
        for job in plan.jobs:
            if finished.get(job.key, (None, False))[0] is not None:
                self.timing.tell((job.data, job.method), float(finished[job.key][0] or 0.0))
        self.n_failed = sum(failed for _, failed in finished.values())
        self.waiting = [job for job in plan.jobs if job.key not in finished]
        if store.path is not None:  # or two processes with one store would do everything twice
            random.SystemRandom().shuffle(self.waiting)
            self.waiting.sort(key=lambda job: job.split)
        self.waiting.reverse()  # the next one is at the end
        self.at_work: dict[Job, float] = {}
        jobs = effective_jobs(n_jobs) if client is None else workers.count_processes(client)
        self.n_jobs = max(1, min(jobs, len(self.waiting)))

    def fill(self, progress: Progress) -> None:
        """Compute and store what is missing."""
        self._show(progress)
        try:
            for done in self._finished():
                if done is not None:
                    self._keep(done)
                self._show(progress)
        except KeyboardInterrupt:
            progress.close()
            if self.store.path is not None and not isinstance(progress, Silence):
                print(
                    f"tamis compare: stopped; {self.n_done} of {len(self.plan.jobs)} units are in "
                    f"{self.store.path}, and the same call continues from there.",
                    file=sys.stderr,
                )
            raise
        finally:
            progress.close()

    @property
    def n_done(self) -> int:
        """Units that are stored, or were by another process."""
        return len(self.plan.jobs) - len(self.waiting) - len(self.at_work)

    def _finished(self) -> Iterator[Done | None]:
        if self.client is not None:
            if self.waiting:
                yield from workers.run_on_cluster(self.plan, self._next, self.client)
            return
        if self.n_jobs == 1:
            yield from workers.run_here(self.plan, self._next)
            return
        if self.asked is None:
            yield from workers.run_here(self.plan, self._next_if_quick())
        if self.waiting:
            yield from workers.run_apart(self.plan, self._next, self.n_jobs)

    def _next(self) -> Job | None:
        """The next unit that nobody has stored meanwhile."""
        while self.waiting:
            job = self.waiting.pop(self._position())
            if self.store.path is None or not self.store.has(job.key):
                self.at_work[job] = time.monotonic()
                return job
        return None

    def _position(self) -> int:
        """In the last round the longest first, or all would wait for one in the end."""
        last = len(self.waiting) - 1
        if self.waiting[0].split != self.waiting[last].split:
            return last
        expected = [self.timing.expected((job.data, job.method)) or 0.0 for job in self.waiting]
        return max(range(last, -1, -1), key=expected.__getitem__)

    def _next_if_quick(self) -> Any:
        start = time.monotonic()

        def next_job() -> Job | None:
            left = self._remaining(1)
            if time.monotonic() - start > SECONDS_TO_LOOK and (
                left is None or left > SECONDS_WORTH_A_PROCESS
            ):
                return None
            return self._next()

        return next_job

    def _keep(self, done: Done) -> None:
        meta = {**self.plan.meta(done.job), "seconds": done.seconds}
        self.store.put(done.job.key, meta, done.result)
        del self.at_work[done.job]
        self.timing.add((done.job.data, done.job.method), done.seconds)
        self.n_failed += done.result.error is not None

    def _remaining(self, n_jobs: int) -> float | None:
        now = time.monotonic()
        begun = sorted((start, job) for job, start in self.at_work.items())
        running = [((job.data, job.method), now - start) for start, job in begun[:n_jobs]]
        queued = [job for _, job in begun[n_jobs:]]
        waiting = [(job.data, job.method) for job in [*self.waiting, *queued]]
        return self.timing.remaining(waiting, running, n_jobs)

    def _show(self, progress: Progress) -> None:
        now = time.monotonic()
        if now - self.shown < SECONDS_BETWEEN_UPDATES and self.waiting:
            return  # thousands of small units would spend their time here
        self.shown = now
        left = self._remaining(self.n_jobs)
        progress.update(self.n_done, len(self.plan.jobs), self.n_failed, left)
