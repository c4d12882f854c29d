"""Fits on permuted targets, for selectors that cannot do without: in parallel, resumable."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.checkpoint import EVERY, load, not_a_checkpoint, save
from tamis._runtime.fingerprint import data_fingerprint, fingerprint
from tamis._runtime.threads import effective_jobs
from tamis.certainty.permutations import Permutations
from tamis.cutoff.fit_data import FitData

Floats = NDArray[np.float64]
KIND = "permutations"
# An equal score counts against the feature; rounding of a refit must not decide that.
ROUNDING = 1e-12


class Counts(Protocol):
    """What takes in the scores of one permutation after the other."""

    @property
    def n_orders(self) -> int:
        """Permutations taken in."""

    @property
    def wants_more(self) -> bool:
        """Whether another permutation can change anything."""

    def take(self, scores: Floats) -> None:
        """Take in the scores of one refit."""

    def state(self) -> dict[str, NDArray[Any]]:
        """What a checkpoint keeps."""

    def resume(self, state: dict[str, NDArray[Any]]) -> None:
        """Go on from the content of a checkpoint."""


def least_reached(scores: Floats) -> Floats:
    """Scores, less what rounding of a refit may take away."""
    return np.asarray(scores - ROUNDING * np.abs(scores))


def count_refits(
    rule: Any, counts: Counts, data: FitData, orders: Permutations, states: NDArray[np.uint64]
) -> None:
    """Let `counts` take in one refit per state, resuming from the checkpoint of the rule."""
    path = None if rule.checkpoint is None else Path(rule.checkpoint)
    stamp = "" if path is None else _resume(path, rule, counts, data, states)
    saved = time.monotonic()
    found = refit_scores(data, orders, states[counts.n_orders :], rule.n_jobs)
    left = range(counts.n_orders, states.size)
    try:
        for _ in data.selector.steps("permutations", left, len(left)):
            if counts.wants_more:
                counts.take(next(found))
            if path is not None and time.monotonic() - saved > EVERY:
                save(path, KIND, stamp, counts.state())
                saved = time.monotonic()
    except BaseException:
        if path is not None:
            save(path, KIND, stamp, counts.state())
        raise
    if path is not None:
        path.unlink(missing_ok=True)


def _resume(
    path: Path, rule: Any, counts: Counts, data: FitData, states: NDArray[np.uint64]
) -> str:
    """Take in what a checkpoint holds; its fingerprint."""
    parts = rule.who, data.fresh(), rule.settings(), states, data.sample_weight
    stamp = fingerprint(data_fingerprint(data.X, data.target), *parts)
    if path.exists():
        content = load(path, KIND, rule.who, stamp).content
        try:
            counts.resume(content)
        except (TypeError, ValueError, LookupError) as error:
            raise not_a_checkpoint(rule.who, KIND, path, error) from error
    return stamp


def refit_scores(
    data: FitData, permutations: Permutations, states: NDArray[np.uint64], n_jobs: int | None
) -> Iterator[Floats]:
    """Scores of fits on permuted targets, one after the other; threads work ahead."""
    from joblib import Parallel, delayed

    target = data.target

    def fit(state: int) -> Floats:
        order = permutations.orders(states[state : state + 1])[0]
        return data.fit(data.X, target[order]).scores_

    n_threads = min(effective_jobs(n_jobs), states.size)
    if n_threads <= 1:
        yield from map(fit, range(states.size))
    else:
        work = Parallel(n_threads, prefer="threads", return_as="generator", pre_dispatch=n_threads)
        yield from work(delayed(fit)(state) for state in range(states.size))
