"""Objects that are no FeatureSource, but have what one needs."""

from __future__ import annotations

from typing import Any

from tamis.meta.feature_source import FeatureSource


class WrappedSource(FeatureSource):
    """An object with `meta` and `measure` as a source."""

    def __init__(self, original: Any) -> None:
        self._original = original

    def __getattribute__(self, name: str) -> Any:
        if name in _TAKEN_OVER:
            original = object.__getattribute__(self, "_original")
            given = getattr(original, name, None)
            if given is not None:
                return given
        return super().__getattribute__(name)

    def _who(self) -> str:
        return type(self._original).__name__


# What an object may define, and the wrapper looks up there.
_TAKEN_OVER = frozenset(
    ["meta", "measure", "cost", "feature_names", "n_samples", "retries", "batch_size"]
)


def wrap(original: Any) -> FeatureSource:
    """The wrapper of an object, which remembers it: so nothing is measured twice."""
    memory = getattr(original, "__dict__", None)
    known = memory.get("_tamis_source") if isinstance(memory, dict) else None
    # A copy of the object brings the wrapper of the object it was copied from.
    if isinstance(known, WrappedSource) and known._original is original:
        return known
    wrapped = WrappedSource(original)
    if isinstance(memory, dict):
        memory["_tamis_source"] = wrapped
    return wrapped
