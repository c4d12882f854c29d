"""Rounds: many fits of a selector, in threads, reporting progress, resumable, in a fixed order."""

from __future__ import annotations

import time
import warnings
from collections import deque
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from threading import local
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context, get_config

from tamis._base import Scores
from tamis._ranking import Ranking
from tamis._runtime import checkpoint
from tamis._runtime.fingerprint import data_fingerprint, fingerprint
from tamis._runtime.seeds import as_seed, stream
from tamis._runtime.threads import effective_jobs
from tamis.cutoff.fit_data import FitData
from tamis.data import checks

# Rounds that are under way for every thread, so that none waits for the slowest.
AHEAD = 2


@dataclass
class Rounds:
    """Arrays that grow round by round, the seed of the rounds, and the file that keeps them.

    Round k draws from a stream of its own, so that neither threads nor an interruption change the
    result.
    """

    data: FitData
    name: str
    total: int
    n_jobs: int | None
    steps: Any
    seed: int
    arrays: dict[str, NDArray[Any]]
    done: int = 0
    path: Path | None = None
    mark: str = ""
    saved: float = field(default_factory=time.monotonic)
    buffers: local = field(default_factory=local)

    @classmethod
    def of(
        cls, rule: Any, data: FitData, name: str, total: int, arrays: dict[str, NDArray[Any]]
    ) -> Rounds:
        """Rounds of a rule, from the beginning or from where its checkpoint leaves off."""
        seed = as_seed(rule.random_state, rule.who)
        rounds = cls(data, name, total, rule.n_jobs, data.selector.steps, seed, arrays)
        if rule.checkpoint is not None:
            y = np.empty(0) if data.y is None else data.target
            rounds.mark = fingerprint(
                rule.settings(), data.selector, data.sample_weight, data_fingerprint(data.X, y)
            )
            rounds.path = Path(rule.checkpoint)
            if rounds.path.exists():
                rounds._resume(rule.who)
        return rounds

    def run(self, work: Callable[[int], Any], absorb: Callable[[int, Any], None]) -> None:
        """Let `absorb` take the result of ``work(k)`` for every round k, in their order."""
        left = range(self.done, self.total)
        try:
            with closing(self._results(work, left)) as results:
                for result in self.steps(self.name, results, len(left)):
                    absorb(self.done, result)
                    self.done += 1
                    if time.monotonic() - self.saved > checkpoint.EVERY:
                        self._save()
        except BaseException:
            self._save()
            raise
        if self.path is not None:
            self.path.unlink(missing_ok=True)

    def random(self, *place: int) -> np.random.Generator:
        """Random numbers of a round, or of a part of it."""
        return stream(self.seed, *place)

    def scores(
        self, X: Any, y: Any, rows: Any, random: np.random.Generator, names: Any = None
    ) -> Scores:
        """Score of every column by a selector on one thread, and which columns never vary.

        `X` is a part of the checked table, so that it is not checked again. A selector whose
        random state is no number gets one.
        """
        selector = copy(self.selector)
        if names is not None:
            selector._names_told = names
        seed = getattr(selector, "random_state", 0)
        if not isinstance(seed, int | np.integer):
            selector.random_state = int(random.integers(2**31 - 1))
        weight = self.data.sample_weight
        checks.set_columns(selector, X.shape[1], None)
        scores, constant = selector._score(X, y, None if weight is None else weight[rows])
        if not np.isfinite(scores).all():  # an error that names the column
            Ranking.of(scores, names=checks.names_of(selector), who=type(selector).__name__)
        return scores, constant

    def rows_of(self, rows: NDArray[np.intp]) -> Any:
        """Rows of the table; those of a dense one in memory that the thread uses again.

        Fresh pages cost more than the rows that are copied to them.
        """
        X = self.data.X
        if not isinstance(X, np.ndarray) or not X.flags.c_contiguous:
            return X[rows]
        buffer = getattr(self.buffers, "rows", None)
        if buffer is None or buffer.shape[0] < rows.size:
            buffer = self.buffers.rows = np.empty((rows.size, X.shape[1]), dtype=X.dtype)
        # Indices are right as they are, and "raise" would copy the result once more.
        return np.take(X, rows, axis=0, out=buffer[: rows.size], mode="clip")

    @cached_property
    def selector(self) -> Any:
        """The selector that is copied for every round."""
        selector = self.data.fresh()
        if "n_jobs" in selector.get_params(deep=False):
            selector.set_params(n_jobs=1)
        return selector

    def _results(self, work: Callable[[int], Any], numbers: range) -> Generator[Any, None, None]:
        n_threads = min(effective_jobs(self.n_jobs), len(numbers))
        if n_threads <= 1:
            yield from map(work, numbers)
            return
        config = get_config()

        def configured(number: int) -> Any:
            with config_context(**config):
                return work(number)

        # The first round compiles for all.
        yield work(numbers[0])
        waiting = iter(numbers[1:])
        under_way: deque[Future[Any]] = deque()
        # Selectors that silence warnings in several threads would leave others' filters behind.
        with warnings.catch_warnings(), ThreadPoolExecutor(n_threads) as pool:
            try:
                for number in waiting:
                    under_way.append(pool.submit(configured, number))
                    if len(under_way) >= AHEAD * n_threads:
                        yield under_way.popleft().result()
                while under_way:
                    yield under_way.popleft().result()
            finally:
                pool.shutdown(wait=True, cancel_futures=True)

    def _save(self) -> None:
        if self.path is not None:
            content = {"seed": self.seed, "done": self.done, "arrays": self.arrays}
            checkpoint.save(self.path, self.name, self.mark, content)
        self.saved = time.monotonic()

    def _resume(self, who: str) -> None:
        assert self.path is not None
        content = checkpoint.load(self.path, self.name, who, self.mark).content
        try:
            stored = content["arrays"]
            fits = stored.keys() == self.arrays.keys() and all(
                stored[name].shape == own.shape and stored[name].dtype == own.dtype
                for name, own in self.arrays.items()
            )
            self.seed, self.done = int(content["seed"]), int(content["done"])
        except (TypeError, ValueError, LookupError, AttributeError) as error:
            raise checkpoint.not_a_checkpoint(who, self.name, self.path, error) from error
        if not fits or not 0 <= self.done <= self.total:
            raise checkpoint.not_a_checkpoint(who, self.name, self.path, "arrays of other shapes")
        self.arrays.update(stored)
