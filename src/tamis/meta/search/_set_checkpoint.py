"""The history of a search of sets in a checkpoint."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from tamis._runtime import checkpoint
from tamis._runtime.fingerprint import fingerprint
from tamis.meta.sources import meta_table

KIND = "a search of sets"
# Larger whole numbers are in no record.
MOST = 2**53
Record = dict[str, Any]
Place = tuple[int, int, int]
# What a record holds beside the point, and the types that its values may have.
RECORD: dict[str, tuple[type, ...]] = {
    "restart": (int,), "step": (int,), "proposal": (int,), "quality": (float, int),
    "accepted": (bool,), "n_features": (int,), "cost": (float, int), "seconds": (float, int),
    "failure": (str, type(None)), "point": (dict, type(None)),
}  # fmt: skip


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
    return is_sane and all(abs(value) < MOST for value in whole)


def _stable_text(value: Any) -> str:
    """What the value is, in words that are the same in every process."""
    text = repr(value)
    return f"{type(value).__module__}.{type(value).__qualname__}" if " at 0x" in text else text


def _content(X: Any) -> Any:
    """What can be hashed of the data: an array, or the properties of the candidates."""
    if hasattr(X, "meta") and hasattr(X, "measure"):
        return meta_table.fingerprint(X.meta)
    if hasattr(X, "__array__") and not hasattr(X, "toarray"):
        return np.asarray(X)
    return type(X).__name__


def _plain(value: Any) -> Any:
    """Numbers of numpy as numbers; other values as text, which is enough to compare them."""
    return value.item() if isinstance(value, np.generic) else _stable_text(value)
