"""as_source: objects with `meta` and `measure` as feature sources."""

from __future__ import annotations

from typing import Any

from tamis.exceptions import InputError
from tamis.meta.sources.feature_source import FeatureSource

# Methods that other code calls; an attribute of a subclass may not take their place.
_METHODS = ("columns", "available", "costs", "candidate_names")
# What an object may define, and the wrapper looks up there.
_TAKEN_OVER = frozenset(
    ["meta", "measure", "cost", "feature_names", "n_samples", "retries", "batch_size"]
)


def as_source(source: Any) -> FeatureSource:
    """A feature source as it is; another object with `meta` and `measure` is wrapped.

    The wrapped object remembers its wrapper, so that asking twice measures nothing twice.

    Parameters
    ----------
    source : FeatureSource, or object with `meta` and `measure`
        `cost`, `feature_names`, `n_samples`, `retries` and `batch_size` are used if it has them.

    Returns
    -------
    source : FeatureSource
        The source.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> from tamis.meta import as_source
    >>> table = np.arange(6.0).reshape(2, 3)
    >>> plain = SimpleNamespace(meta=[[0], [1], [2]], measure=lambda indices: table[:, indices])
    >>> as_source(plain).columns([2, 0])
    array([[2., 0.],
           [5., 3.]])
    """
    if not isinstance(source, FeatureSource):
        return _wrap(source)
    for name in _METHODS:
        hidden = getattr(source, name)
        if not callable(hidden):
            raise InputError(
                f"{source._who()}: expected {name} to be the method of FeatureSource, got an "
                f"object of type {type(hidden).__name__}. Give this attribute another name."
            )
    source._size()
    source._check_measure()
    return source


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


def _wrap(original: Any) -> FeatureSource:
    measures = callable(getattr(original, "measure", None)) and hasattr(original, "meta")
    if isinstance(original, type) or not measures:
        came = f"an object of type {type(original).__name__}"
        if isinstance(original, type):
            came = f"the class {original.__name__}"
        raise InputError(
            "as_source: expected a FeatureSource, or an object with an attribute meta and a method "
            f"measure(indices), got {came}. For a table in memory use "
            "tamis.meta.ArraySource(X, meta)."
        )
    memory = getattr(original, "__dict__", None)
    known = memory.get("_tamis_source") if isinstance(memory, dict) else None
    # A copy of the object brings the wrapper of the object it was copied from.
    if isinstance(known, WrappedSource) and known._original is original:
        return known
    wrapped = WrappedSource(original)
    if isinstance(memory, dict):
        memory["_tamis_source"] = wrapped
    return wrapped
