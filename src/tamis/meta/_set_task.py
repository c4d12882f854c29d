"""SetTask: what a search of sets works on, and how a set is drawn, measured and scored."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.exceptions import InputError, TamisError
from tamis.meta import _set_checkpoint as checkpoints
from tamis.meta._set_quality import SetQuality
from tamis.meta._trials import Trial

Place = tuple[int, int, int]
Record = dict[str, Any]
Draw = Callable[["SetTask", Trial], Any]
# A budget is kept up to the rounding of a sum of costs.
ROUNDING = 1e-9


class BrokenLimitError(InputError):
    """A generator exceeds the limit; unlike a failed draw, this is not passed over."""


@dataclass(frozen=True)
class SetTask:
    """Data, generator, quality and limit of one fit; `known` are the records of a checkpoint."""

    who: str
    X: Any
    generator: Any
    quality: SetQuality
    n_features: int | None
    budget: float | None
    seed: int
    name: str
    known: dict[Place, Record]

    @property
    def limit(self) -> dict[str, Any]:
        """The limit as a generator takes it."""
        if self.budget is None:
            return {"n_features": self.n_features}
        return {"budget": float(self.budget)}

    @property
    def n_measured(self) -> int | None:
        """Candidates measured up to now; None if features are made, not chosen among some."""
        if not hasattr(self.generator, "source_of"):
            return None
        return int(self.generator.source_of(self.X).n_measured)

    def drawn(self, trial: Trial, draw: Draw) -> Any:
        """Set of a trial, without what cannot be measured."""
        features = draw(self, trial)
        if hasattr(self.generator, "available"):
            features = self.generator.available(self.X, features)
        return features

    def tried(self, trials: Sequence[Trial], draw: Draw) -> Iterator[tuple[Trial, Record, Any]]:
        """Records and sets of the trials, in their order.

        Those in a checkpoint are not tried again, and have no set.
        """
        size = self.quality.tables_at_once
        for first in range(0, len(trials), size):
            part = trials[first : first + size]
            new = [trial for trial in part if trial.place not in self.known]
            found = self._try_together(new, draw)
            for trial in part:
                if trial.place in self.known:
                    yield trial, self._from_checkpoint(trial), None
                else:
                    yield trial, *found[trial.place]

    def _from_checkpoint(self, trial: Trial) -> Record:
        record = self.known[trial.place]
        if checkpoints.as_text(record["point"]) != checkpoints.as_text(trial.point):
            raise checkpoints.another_search(self.who)
        return {**record, "point": trial.point}

    def _try_together(self, trials: Sequence[Trial], draw: Draw) -> dict[Place, tuple[Record, Any]]:
        """Draw and measure one set after the other, then score them all at once."""
        found: dict[Place, tuple[Record, Any]] = {}
        tables: dict[Place, NDArray[Any]] = {}
        for trial in trials:
            started = time.perf_counter()
            record, features, table = self._draw_and_measure(trial, draw)
            record["seconds"] = time.perf_counter() - started
            found[trial.place] = record, features
            if table is not None:
                tables[trial.place] = table
        started = time.perf_counter()
        scores = self.quality.scores(list(tables.values())) if tables else []
        share = (time.perf_counter() - started) / max(len(tables), 1)
        for place, score in zip(tables, scores, strict=True):
            record = found[place][0]
            record["quality"] = score
            record["seconds"] += share
        return found

    def _draw_and_measure(self, trial: Trial, draw: Draw) -> tuple[Record, Any, Any]:
        record: Record = {
            **trial._asdict(), "quality": -np.inf, "accepted": False, "n_features": 0, "cost": 0.0,
            "seconds": 0.0, "failure": None,
        }  # fmt: skip
        try:
            features = self.drawn(trial, draw)
            record["n_features"] = len(features)
            record["cost"] = float(np.sum(self.generator.cost(features)))
            self._check_limit(record)
            if not len(features):
                record["failure"] = "the generator drew no feature"
                return record, None, None
            return record, features, np.asarray(self.generator.measure(self.X, features))
        except BrokenLimitError:
            raise
        except (TamisError, ValueError) as error:
            record["failure"] = str(error)
            return record, None, None

    def _check_limit(self, record: Record) -> None:
        """Raise if the generator exceeds the limit: comparisons would be unfair."""
        n_features, cost = record["n_features"], record["cost"]
        if self.budget is not None and cost > self.budget * (1 + ROUNDING):
            raise BrokenLimitError(
                f"{self.who}: the generator drew features that cost {cost:g} together, above the "
                f"budget of {self.budget:g}. Correct its draw method."
            )
        if self.n_features is not None and n_features > self.n_features:
            raise BrokenLimitError(
                f"{self.who}: the generator drew {n_features} features when asked for "
                f"{self.n_features}. Correct its draw method."
            )
