"""Evaluations of OFW on the workers of a cluster: the table is sent once, then draws and errors."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.threads import split_evenly
from tamis.passes.dask.client import Waiting, open_client, results, submit, submit_all, threads_of
from tamis.weighting._estimators import Errors, Task, make_errors
from tamis.weighting._learning import Learning, Run, Settings

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass
class Material:
    """What training and testing takes, as sent to workers; `seed` is for a classifier without."""

    estimator: Any
    params: Mapping[str, Any] | None
    task: Task
    who: str
    seed: int
    row_weight: Floats | None

    def errors(self, n_jobs: int | None) -> Errors:
        """The function that trains and tests."""
        return make_errors(self.estimator, self.params, self.task, n_jobs, self.who, seed=self.seed)

    @cached_property
    def errors_alone(self) -> Errors:
        """The same on one thread; made on a worker, for it cannot be sent."""
        return self.errors(1)


class Workers:
    """Shares out the evaluations of runs; `name` is that of the material the workers hold."""

    def __init__(self, client: Any, name: str, who: str):
        self.client, self.name, self.who = client, name, who
        self.n_threads = sum(threads_of(client, who))
        # Seconds of the workers, all together.
        self.worked = 0.0

    def chunks(self, learning: Learning, runs: list[Run]) -> Iterator[Run]:
        """Every run after each of its chunks.

        Either runs go side by side or the draws of a step, whichever keeps more workers busy; but
        draws are shared out only as long as that takes less time than a worker alone would.
        """
        draws = min(learning.settings.draws_per_step, self.n_threads)
        if min(len(runs), self.n_threads) < draws:
            yield from self._shared(learning, runs)
        yield from self._side_by_side(learning, runs)

    def _shared(self, learning: Learning, runs: list[Run]) -> Iterator[Run]:
        learning.errors = self.errors
        for run in runs:
            while learning.goes_on(run):
                self.worked, start = 0.0, time.perf_counter()
                learning.advance(run)
                yield run
                if self.worked < time.perf_counter() - start:
                    return

    def errors(self, draws: Indices, train: Indices, test: Indices) -> Floats:
        """Errors of draws; each worker gets some of them."""
        shares = split_evenly(0, draws.shape[0], self.n_threads)
        calls = [(self.name, draws[a:b], train[a:b], test[a:b]) for a, b in shares]
        futures = submit_all(self.client, evaluate, calls)
        found = results(self.client, futures, self.who, lambda _: "an evaluation")
        self.worked += sum(seconds for _, seconds in found)
        return np.concatenate([errors for errors, _ in found])

    def _side_by_side(self, learning: Learning, runs: list[Run]) -> Iterator[Run]:
        waiting, at_work = Waiting(self.client, self.who), dict[Any, Run]()

        def send(run: Run) -> None:
            if learning.goes_on(run):
                future = submit(self.client, advance, self.name, learning.settings, run)
                at_work[future] = run
                waiting.add(future)

        try:
            for run in runs:
                send(run)
            while at_work:
                future = waiting.next()
                run = at_work.pop(future)
                [found] = results(self.client, [future], self.who, lambda _: "an evaluation")
                vars(run).update(vars(found))
                yield run
                send(run)
        finally:
            for future in at_work:
                future.release()


@contextmanager
def on_workers(cluster: Any, material: Material) -> Iterator[Workers | None]:
    """Workers that hold the material; None if this process does the work."""
    with open_client(cluster, material.who) as client:
        if client is None:
            yield None
            return
        from tamis.passes.dask.shared import shared

        with shared(client, material, material.who) as name:
            yield Workers(client, name, material.who)


def evaluate(name: str, draws: Indices, train: Indices, test: Indices) -> tuple[Floats, float]:
    """Errors of some draws, on a worker, and the seconds that they took."""
    from tamis.passes.dask.shared import held

    start = time.perf_counter()
    errors = held(name).errors_alone(draws, train, test)
    return errors, time.perf_counter() - start


def advance(name: str, settings: Settings, run: Run) -> Run:
    """A run after one more chunk, on a worker."""
    from tamis.passes.dask.shared import held

    material = held(name)
    n_rows = material.task.codes.size
    Learning(settings, material.errors_alone, n_rows, material.row_weight).advance(run)
    return run
