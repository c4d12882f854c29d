"""What a search optimises: the task, its trials, the features it may draw, and its history."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis._runtime import checkpoint
from tamis._runtime.fingerprint import fingerprint, table_fingerprint
from tamis.exceptions import InputError, TamisError
from tamis.meta.search._set_quality import SetQuality

Record = dict[str, Any]
Place = tuple[int, int, int]
# A budget is kept up to the rounding of a sum of costs.
ROUNDING = 1e-9
# How much more is drawn than features that never vary would ask for, and at most.
MARGIN = 1.2
MOST_DRAWN = 20.0
KIND = "a search of sets"
# Larger whole numbers are in no record.
LARGEST = 2**53
# What a record holds beside the point, and the types that its values may have.
RECORD: dict[str, tuple[type, ...]] = {
    "restart": (int,), "step": (int,), "proposal": (int,), "quality": (float, int),
    "accepted": (bool,), "n_features": (int,), "cost": (float, int), "seconds": (float, int),
    "failure": (str, type(None)), "point": (dict, type(None)),
}  # fmt: skip


class Trial(NamedTuple):
    """One set to be drawn: where in the search, and at which point of the meta-features."""

    restart: int
    step: int
    proposal: int
    point: dict[str, Any] | None

    @property
    def place(self) -> Place:
        """Where in the search; names the stream of random numbers, too."""
        return self[:3]


@dataclass
class SearchRun:
    """What one run of the search knows: the best so far, and for how long there was no better."""

    best: Trial | None = None
    quality: float = -math.inf
    features: Any = None
    n_steps: int = 0
    compared: float = -math.inf
    since: int = 0
    ended: str = ""

    def offer(self, trial: Trial, quality: float, features: Any) -> bool:
        """Accept a set that is at least as good as the best (Algorithm 3, step 2c)."""
        # A quality that is no number never compares, so that such a set is not accepted.
        if not quality >= self.quality or quality == -math.inf:
            return False
        self.best, self.quality, self.features = trial, quality, features
        return True

    def end_step(self, n_steps: int, patience: int | None, tol: float) -> None:
        self.n_steps += 1
        if self.quality > self.compared + tol:
            self.compared, self.since = self.quality, 0
        else:
            self.since += 1
        if patience is not None and self.since >= patience:
            self.ended = "patience"
        elif self.n_steps >= n_steps:
            self.ended = "n_steps"


# Draws the set of a trial, with so many times the limit.
Draw = Callable[["SetTask", Trial, float], Any]


@dataclass(frozen=True)
class SetTask:
    """Data, generator, quality and limit of one fit."""

    who: str
    X: Any
    generator: Any
    quality: SetQuality
    n_features: int | None
    budget: float | None
    seed: int
    checkpoint: SearchCheckpoint
    redraw: bool
    draw: Draw

    def limit(self, factor: float) -> dict[str, Any]:
        """So many times the limit, as a generator takes it."""
        if self.budget is None:
            return {"n_features": math.ceil(factor * (self.n_features or 0))}
        return {"budget": float(factor * self.budget)}

    @property
    def n_measured(self) -> int | None:
        """Candidates measured up to now; None if features are made, not chosen among some."""
        if not hasattr(self.generator, "source_of"):
            return None
        return int(self.generator.source_of(self.X).n_measured)

    def drawn(self, trial: Trial) -> tuple[Any, NDArray[Any] | None]:
        """Set of a trial and its columns, without what cannot be measured or never varies."""
        features, table = self._measured(trial, 1.0)
        if table is None or not self.redraw:
            return features, table
        varies = self._telling(table)
        if varies.all() or not varies.any():  # where nothing varies, another draw may not help
            return features, table
        # Sets can be reduced, but not joined: those that vary come from a larger draw.
        factor = MARGIN / float(varies.mean())
        while True:
            factor = min(MOST_DRAWN, factor)
            features, table = self._measured(trial, factor)
            varying = np.flatnonzero(self._telling(table))
            chosen = self._that_fit(varying, features)
            is_full = chosen.size < varying.size or chosen.size == self.n_features
            if is_full or factor == MOST_DRAWN:
                return self.generator.join(features, chosen), table[:, chosen]
            factor *= 2

    def _measured(self, trial: Trial, factor: float) -> tuple[Any, Any]:
        features = self.draw(self, trial, factor)
        if hasattr(self.generator, "available"):
            features = self.generator.available(self.X, features)
        if not len(features):
            return features, None
        return features, np.asarray(self.generator.measure(self.X, features))

    def _telling(self, table: NDArray[Any]) -> NDArray[np.bool_]:
        """Features that vary; a generator may ask for more."""
        telling = getattr(self.generator, "telling", find_varying)
        return np.asarray(telling(table), dtype=bool)

    def _that_fit(self, places: NDArray[np.intp], features: Any) -> NDArray[np.intp]:
        """Those of these features that the limit allows, in their order."""
        if self.budget is None:
            return places[: self.n_features]
        cost = np.asarray(self.generator.cost(features), dtype=np.float64)[places]
        return places[affordable(cost, self.budget * (1 + ROUNDING))[0]]

    def tried(self, trials: Sequence[Trial]) -> Iterator[tuple[Trial, Record, Any]]:
        """Records and sets of the trials, in their order; those in a checkpoint have no set."""
        size, known = self.quality.tables_at_once, self.checkpoint.known
        for first in range(0, len(trials), size):
            part = trials[first : first + size]
            found = self._try_together([trial for trial in part if trial.place not in known])
            for trial in part:
                if trial.place in known:
                    yield trial, self.checkpoint.recall(trial.place, trial.point), None
                else:
                    yield trial, *found[trial.place]

    def _try_together(self, trials: Sequence[Trial]) -> dict[Place, tuple[Record, Any]]:
        """Draw and measure one set after the other, then score them all at once."""
        found: dict[Place, tuple[Record, Any]] = {}
        tables: dict[Place, NDArray[Any]] = {}
        for trial in trials:
            started = time.perf_counter()
            record, features, table = self._try(trial)
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

    def _try(self, trial: Trial) -> tuple[Record, Any, Any]:
        record: Record = {
            **trial._asdict(), "quality": -np.inf, "accepted": False, "n_features": 0, "cost": 0.0,
            "seconds": 0.0, "failure": None,
        }  # fmt: skip
        try:
            features, table = self.drawn(trial)
            record["n_features"] = len(features)
            record["cost"] = float(np.sum(self.generator.cost(features)))
        except (TamisError, ValueError) as error:
            record["failure"] = str(error)
            return record, None, None
        self._check_limit(record["n_features"], record["cost"])
        if not len(features):
            record["failure"] = "the generator drew no feature"
            return record, None, None
        return record, features, table

    def _check_limit(self, n_features: int, cost: float) -> None:
        """Raise if the generator exceeds the limit: comparisons would be unfair."""
        if self.budget is not None and cost > self.budget * (1 + ROUNDING):
            raise InputError(
                f"{self.who}: the generator drew features that cost {cost:g} together, above the "
                f"budget of {self.budget:g}. Correct its draw method."
            )
        if self.n_features is not None and n_features > self.n_features:
            raise InputError(
                f"{self.who}: the generator drew {n_features} features when asked for "
                f"{self.n_features}. Correct its draw method."
            )


def affordable(cost: NDArray[np.float64], left: float) -> tuple[NDArray[np.intp], float]:
    """Places of what a budget pays for, taken in order if it still fits, and what is left."""
    places = []
    for place, price in enumerate(cost.tolist()):
        if price <= left:
            places.append(place)
            left -= price
    return np.array(places, dtype=np.intp), left


def find_varying(table: NDArray[Any]) -> NDArray[np.bool_]:
    """Columns with two different values; missing ones do not count."""
    return np.asarray(np.fmax.reduce(table, axis=0) > np.fmin.reduce(table, axis=0))


class SearchCheckpoint:
    """Seed and history of an interrupted search; without a path, nothing is read or written."""

    def __init__(self, path: Any, who: str):
        self.path, self.who = None if path is None else Path(path), who
        self.saved: checkpoint.Saved | None = None
        self.seed: int | None = None
        self.known: dict[Place, Record] = {}
        if self.path is not None and self.path.exists():
            self.saved = checkpoint.load(self.path, KIND, who)
            self.seed, history = self._check(self.path, self.saved.content)
            self.known = {(one["restart"], one["step"], one["proposal"]): one for one in history}

    def begin(self, seed: int, settings: dict[str, Any], X: Any, y: Any) -> None:
        """Raise if the file belongs to another search."""
        if self.path is None:
            return
        words = {name: _stable_text(value) for name, value in settings.items()}
        self.seed, self.name = seed, fingerprint(words, _content(X), y)
        if self.saved is not None:
            self.saved.check(self.name)

    def recall(self, place: Place, point: Any) -> Record:
        """The record of a set that was tried at this point."""
        record = self.known[place]
        if _as_text(record["point"]) != _as_text(point):
            raise checkpoint.another_fit(self.who, self.path or Path())
        return {**record, "point": point}

    def save(self, history: list[Record]) -> None:
        """Write the history if it is longer than the one in the file."""
        if self.path is not None and len(history) > len(self.known):
            plain = json.loads(json.dumps(history, default=_plain))
            checkpoint.save(self.path, KIND, self.name, {"seed": self.seed, "history": plain})

    def _check(self, path: Path, content: Any) -> tuple[int, list[Record]]:
        if not isinstance(content, dict) or set(content) != {"seed", "history"}:
            raise checkpoint.not_a_checkpoint(self.who, KIND, path, "no history")
        seed, history = content["seed"], content["history"]
        is_history = isinstance(history, list) and all(map(_is_record, history))
        if type(seed) is not int or not 0 <= seed < 2**63 or not is_history:
            raise checkpoint.not_a_checkpoint(self.who, KIND, path, "values that no search has")
        return seed, history


def _as_text(point: Any) -> str:
    """A point as it stands in the file."""
    return json.dumps(point, default=_plain, sort_keys=True)


def _is_record(record: Any) -> bool:
    if not isinstance(record, dict) or set(record) != set(RECORD):
        return False
    whole = (value for value in record.values() if type(value) is int)
    is_sane = all(type(record[name]) in kinds for name, kinds in RECORD.items())
    return is_sane and all(abs(value) < LARGEST for value in whole)


def _stable_text(value: Any) -> str:
    """What the value is, in words that are the same in every process."""
    text = repr(value)
    return f"{type(value).__module__}.{type(value).__qualname__}" if " at 0x" in text else text


def _content(X: Any) -> Any:
    """What can be hashed of the data: an array, or the properties of the candidates."""
    if hasattr(X, "meta") and hasattr(X, "measure"):
        return table_fingerprint(X.meta)
    if hasattr(X, "__array__") and not hasattr(X, "toarray"):
        return np.asarray(X)
    return type(X).__name__


def _plain(value: Any) -> Any:
    """Numbers of numpy as numbers; other values as text, which is enough to compare them."""
    return value.item() if isinstance(value, np.generic) else _stable_text(value)
