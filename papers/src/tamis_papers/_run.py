"""ExperimentRun: one go at an experiment; its settings, its data, and its units of work."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs
from tamis.evaluation import Lent, compare

from tamis_papers._scores import seconds_of
from tamis_papers._unit_store import UnitStore

COMPARISONS = "compare.sqlite"


@dataclass(frozen=True)
class UnitTask:
    """A unit of work: a name, and a call whose result is plain JSON."""

    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()


class ExperimentRun:
    """One go at an experiment.

    Parameters
    ----------
    experiment : str
        Its name.
    store : UnitStore
        Where finished units are.
    folder : Path
        Where comparisons keep theirs.
    quick : bool
        Whether a reduced version is wanted.
    seed : int
        From which all randomness follows.
    n_jobs : int or None
        Processes; None means all cores.
    progress : object
        Told of every unit.
    repeats : int or None
        Most splits, draws or starts to take; None means as many as the complete run has.
    """

    def __init__(
        self,
        experiment: str,
        store: UnitStore,
        folder: Path,
        *,
        quick: bool,
        seed: int,
        n_jobs: int | None,
        progress: Any,
        repeats: int | None = None,
    ):
        self.experiment, self.store, self.folder = experiment, store, folder
        self.quick, self.seed = quick, seed
        self.n_jobs, self.progress = effective_n_jobs(-1 if n_jobs is None else n_jobs), progress
        self.repeats = repeats
        self.seconds = 0.0
        # Repeats of the complete run, as far as it says.
        self.planned = 0

    def load(self, name: str) -> Any:
        """A data set; an error that says how to get it where it is missing."""
        from tamis import datasets

        return datasets.load(name)

    def at_most(self, n_repeats: int) -> int:
        """So many repeats, or fewer where fewer are wanted; fewer are the first of more."""
        self.planned = max(self.planned, n_repeats)
        return n_repeats if self.repeats is None else min(n_repeats, self.repeats)

    def units(self, tasks: Iterable[UnitTask], *, parallel: bool = True) -> dict[str, Any]:
        """Results of all tasks by name; those that are stored are not computed again.

        Times belong to ``parallel=False``: beside other work they would mean nothing.
        """
        tasks = list(tasks)
        keys = {task.name: self._key(task) for task in tasks}
        stored = self.store.read(keys.values())
        results = {name: stored[key] for name, key in keys.items() if key in stored}
        waiting = [task for task in tasks if task.name not in results]
        self.progress.update(len(results), len(tasks), 0, None)
        for task, value, seconds in self._computed(waiting, parallel):
            self.store.put(keys[task.name], value, seconds)
            results[task.name] = (value, seconds)
            left = _left(results, len(tasks), self.n_jobs if parallel else 1)
            self.progress.update(len(results), len(tasks), 0, left)
        self.seconds += sum(seconds for _, seconds in results.values())
        return {name: value for name, (value, _) in results.items()}

    def compare(self, selectors: Any, data: Any, **options: Any) -> Any:
        """What :func:`tamis.compare` finds; its units are kept beside ours."""
        settings: dict[str, Any] = {"progress": Lent(self.progress)} | options
        found = compare(
            selectors,
            data,
            store=self.folder / COMPARISONS,
            n_jobs=self.n_jobs,
            random_state=self.seed,
            **settings,
        )
        self.seconds += seconds_of(found)
        return found

    def _key(self, task: UnitTask) -> str:
        return f"{self.experiment}/{'quick' if self.quick else 'full'}/{self.seed}/{task.name}"

    def _computed(
        self, tasks: Sequence[UnitTask], parallel: bool
    ) -> Iterator[tuple[UnitTask, Any, float]]:
        if not parallel or self.n_jobs == 1 or len(tasks) < 2:
            for task in tasks:
                yield (task, *_timed(task)[1:])
            return
        calls = (delayed(_timed)(task, number) for number, task in enumerate(tasks))
        work = Parallel(
            n_jobs=self.n_jobs, return_as="generator_unordered", pre_dispatch="2*n_jobs"
        )
        for number, value, seconds in work(calls):
            yield tasks[number], value, seconds


def _timed(task: UnitTask, number: int = 0) -> tuple[int, Any, float]:
    start = time.perf_counter()
    value = task.function(*task.arguments)
    return number, value, time.perf_counter() - start


def _left(results: dict[str, Any], total: int, n_jobs: int) -> float | None:
    known = [seconds for _, seconds in results.values()]
    return (total - len(known)) * sum(known) / len(known) / n_jobs if known else None
