"""The history of a search of sets in a checkpoint."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._runtime import checkpoint
from tamis._runtime.fingerprint import fingerprint as hashed
from tamis.exceptions import InputError

KIND = "a search of sets"
# Larger whole numbers are in no record.
MOST = 2**53
Records = list[dict[str, Any]]
# What a record holds beside the point, and the types that its values may have.
RECORD: dict[str, tuple[type, ...]] = {
    "restart": (int,), "step": (int,), "proposal": (int,), "quality": (float, int),
    "accepted": (bool,), "n_features": (int,), "cost": (float, int), "seconds": (float, int),
    "failure": (str, type(None)), "point": (dict, type(None)),
}  # fmt: skip


def fingerprint(settings: dict[str, Any], X: Any, y: NDArray[Any]) -> str:
    """Short name of a search: what it does, on which data."""
    words = {name: _stable_text(value) for name, value in settings.items()}
    return hashed(words, _content(X), y)


def save(path: Path, name: str, seed: int, history: Records) -> None:
    """Write the history."""
    plain = json.loads(json.dumps(history, default=_plain))
    checkpoint.save(path, KIND, name, {"seed": seed, "history": plain})


def load(path: Path, who: str) -> checkpoint.Saved | None:
    """Read what `save` wrote; None if there is no file yet."""
    if not path.exists():
        return None
    saved = checkpoint.load(path, KIND, who)
    content = saved.content
    if not isinstance(content, dict) or set(content) != {"seed", "history"}:
        raise checkpoint.not_a_checkpoint(who, KIND, path, "no history")
    seed, history = content["seed"], content["history"]
    is_history = isinstance(history, list) and all(map(_is_record, history))
    if type(seed) is not int or not 0 <= seed < 2**63 or not is_history:
        raise checkpoint.not_a_checkpoint(who, KIND, path, "values that no search has")
    return saved


def another_search(who: str) -> InputError:
    """Error for a record of another search."""
    return InputError(
        f"{who}: expected a checkpoint of this search, got one that belongs to a search with other "
        "data or parameters. Give another path, or remove the file to start again."
    )


def as_text(point: Any) -> str:
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
    from tamis.meta.sources import meta_table

    if hasattr(X, "meta") and hasattr(X, "measure"):
        return meta_table.fingerprint(X.meta)
    if hasattr(X, "__array__") and not hasattr(X, "toarray"):
        return np.asarray(X)
    return type(X).__name__


def _plain(value: Any) -> Any:
    """Numbers of numpy as numbers; other values as text, which is enough to compare them."""
    return value.item() if isinstance(value, np.generic) else _stable_text(value)
