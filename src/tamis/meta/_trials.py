"""Trials of a search: where each one draws, what came of it, and how a walk goes on from them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np


class Trial(NamedTuple):
    """One set to be drawn: where in the search, and at which point of the meta-features."""

    restart: int
    step: int
    proposal: int
    point: dict[str, Any] | None

    @property
    def place(self) -> tuple[int, int, int]:
        """Where in the search; names the stream of random numbers, too."""
        return self[:3]


def stream(seed: int, *place: int) -> np.random.Generator:
    """Random numbers of one place of a search, independent of those of all others."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=place))


@dataclass
class Walk:
    """What one run of the search knows: the best so far, and for how long there was no better."""

    best: Trial | None = None
    quality: float = -math.inf
    features: Any = None
    n_steps: int = 0
    compared: float = -math.inf
    since: int = 0
    ended: str = field(default="")

    def offer(self, trial: Trial, quality: float, features: Any) -> bool:
        """Accept a set that is at least as good as the best (Algorithm 3, step 2c)."""
        # A quality that is no number never compares, so that such a set is not accepted.
        if not quality >= self.quality or quality == -math.inf:
            return False
        self.best, self.quality, self.features = trial, quality, features
        return True

    def end_step(self, patience: int | None, tol: float, n_steps: int) -> None:
        """Count the step, and see whether it was the last."""
        self.n_steps += 1
        if self.quality > self.compared + tol:
            self.compared, self.since = self.quality, 0
        else:
            self.since += 1
        if patience is not None and self.since >= patience:
            self.ended = "patience"
        elif self.n_steps >= n_steps:
            self.ended = "n_steps"
