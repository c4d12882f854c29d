"""A table with its target, ready to be walked: in memory, in files, or on a cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.data.target import Target
from tamis.passes import MemoryEngine, PartitionedTable, open_source

Floats = NDArray[np.float64]
Levels = Callable[[Floats, Floats], NDArray[np.int32]]


class Opened(NamedTuple):
    """An engine, and what is known of the target before the first walk.

    `classes` are None for a numeric target, whose `centre` the engine takes off, or of which it
    makes `n_codes` codes, and for none.
    """

    engine: Any
    n_rows: int
    total: float
    classes: Any = None
    class_weight: Floats | None = None
    centre: float = 0.0
    n_codes: int = 0

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.engine.n_columns)

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 for a numeric target."""
        return 0 if self.classes is None else int(self.classes.size)


def open_plain(selector: Any, X: Any, weight: Floats | None) -> Opened:
    """A table without a target."""
    if isinstance(X, PartitionedTable):
        return _opened_source(selector, X, None)
    total = float(X.shape[0] if weight is None else weight.sum())
    return Opened(MemoryEngine(X, None, weight), X.shape[0], total)


def open_classes(selector: Any, X: Any, y: Any, weight: Floats | None) -> Opened:
    """A table whose target is classes, at least two of them."""
    return open_outcome(selector, X, y, weight, "classification")


def open_numbers(selector: Any, X: Any, y: Any, weight: Floats | None) -> Opened:
    """A table whose target is numbers, at least two different ones."""
    return open_outcome(selector, X, y, weight, "regression")


def open_outcome(selector: Any, X: Any, y: Any, weight: Floats | None, task: str) -> Opened:
    """A table whose target is what `task` says; see :func:`tamis.data.target.Target.of`."""
    if isinstance(X, PartitionedTable):
        return _opened_source(selector, X, task)
    n_rows = X.shape[0]
    outcome = Target.of(y, task, weight, n_rows, type(selector).__name__)
    total = float(n_rows if weight is None else weight.sum())
    if outcome.codes is not None:
        engine = MemoryEngine(X, outcome.codes, weight)
        per_class = np.bincount(outcome.codes, weight, outcome.n_classes)
        return Opened(engine, n_rows, total, outcome.classes, per_class.astype(np.float64))
    assert outcome.values is not None
    centre = float(np.average(outcome.values, weights=weight))
    return Opened(MemoryEngine(X, outcome.values - centre, weight), n_rows, total, centre=centre)


def open_levels(
    selector: Any, X: Any, y: Any, weight: Floats | None, task: str, levels: Levels
) -> Opened:
    """As `open_outcome`, with numbers as codes: ``levels(values, weight)`` says which."""
    if isinstance(X, PartitionedTable):
        return _opened_source(selector, X, task, levels)
    n_rows = X.shape[0]
    outcome = Target.of(y, task, weight, n_rows, type(selector).__name__)
    codes = outcome.codes
    if codes is None:
        assert outcome.values is not None
        codes = levels(outcome.values, np.ones(n_rows) if weight is None else weight)
    total = float(n_rows if weight is None else weight.sum())
    n_codes = outcome.n_classes or int(codes.max()) + 1
    return Opened(MemoryEngine(X, codes, weight), n_rows, total, outcome.classes, n_codes=n_codes)


def _opened_source(
    selector: Any, source: PartitionedTable, task: str | None, levels: Levels | None = None
) -> Opened:
    who = type(selector).__name__
    engine, target = open_source(
        source, who, task, _about(selector), levels, needs_ranges=selector._needs_ranges
    )
    if target is None:
        return Opened(engine, source.n_rows or 0, float(source.n_rows or 0))
    if target.is_classes:
        total = float(target.weight.sum())
        n_codes = target.weight.size
        return Opened(engine, target.n_rows, total, target.labels, target.weight, n_codes=n_codes)
    codes = engine.encoding.codes
    if codes is not None:
        return Opened(engine, target.n_rows, target.total, n_codes=int(codes.max()) + 1)
    return Opened(engine, target.n_rows, target.total, centre=target.mean)


def _about(selector: Any) -> Any:
    """What tells this fit from others on the same data."""
    params = selector.get_params(deep=False)
    kept = {key: repr(value) for key, value in params.items() if key != "n_jobs"}
    return [type(selector).__name__, kept]
