"""The history of a search on disk, from which a killed one goes on; written whole or not at all."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.data import atomic_path
from tamis.exceptions import InputError

VERSION = 1
Records = list[dict[str, Any]]


def fingerprint(settings: dict[str, Any], X: Any, y: NDArray[Any]) -> str:
    """Short name of a search: what it does, on which data."""
    words = {name: _stable_text(value) for name, value in settings.items()}
    digest = hashlib.sha256(json.dumps(words, sort_keys=True).encode())
    for part in (_content(X), y):
        digest.update(part if isinstance(part, bytes) else _bytes(part))
    return digest.hexdigest()


def save(path: Path, name: str, seed: int, history: Records) -> None:
    """Write the history; an older file is replaced in one step."""
    content = {"version": VERSION, "search": name, "seed": seed, "history": history}
    text = json.dumps(content, default=_plain)
    with atomic_path(path, force=True) as temporary:
        temporary.write_text(text)


def load(path: Path, who: str) -> dict[str, Any]:
    """Read what `save` wrote; ``{}`` if there is no file yet."""
    if not path.exists():
        return {}
    try:
        content = json.loads(path.read_text())
        known = {"search", "seed", "history"} <= set(content) and content["version"] == VERSION
    except (OSError, ValueError, KeyError, TypeError):
        known = False
    if not known:
        raise InputError(
            f"{who}: expected a checkpoint of a search of sets in {str(path)!r}, got something "
            "else. Give another path, or remove the file."
        )
    return content


def another_search(who: str) -> InputError:
    """Error for a checkpoint of another search."""
    return InputError(
        f"{who}: the checkpoint belongs to a search with other data or parameters. Give another "
        "path, or remove the file to start anew."
    )


def as_text(point: Any) -> str:
    """A point as it stands in the file."""
    return json.dumps(point, default=_plain, sort_keys=True)


def _stable_text(value: Any) -> str:
    """What the value is, in words that are the same in every process."""
    text = repr(value)
    return f"{type(value).__module__}.{type(value).__qualname__}" if " at 0x" in text else text


def _content(X: Any) -> Any:
    """What can be hashed of the data: an array, or the properties of the candidates."""
    from tamis.meta.sources import _meta_table

    if hasattr(X, "meta") and hasattr(X, "measure"):
        return _meta_table.fingerprint(X.meta).encode()
    if hasattr(X, "__array__") and not hasattr(X, "toarray"):
        return np.asarray(X)
    return type(X).__name__.encode()


def _bytes(array: NDArray[Any]) -> bytes:
    head = f"{array.dtype.kind}{array.shape}".encode()
    if array.dtype.kind == "O":
        return head + repr(array.tolist()).encode()
    return head + np.ascontiguousarray(array).tobytes()


def _plain(value: Any) -> Any:
    """Numbers of numpy as numbers; other values as text, which is enough to compare them."""
    return value.item() if isinstance(value, np.generic) else _stable_text(value)
