"""Tables outside of memory: which selectors take them, and in which calls."""

from __future__ import annotations

from typing import Any

from tamis.data import checks
from tamis.exceptions import InputError
from tamis.passes import PartitionedTable


def check_source(selector: Any, X: Any, y: Any, sample_weight: Any) -> None:
    """Raise where a table outside of memory cannot be used by this selector, or with this call."""
    who = type(selector).__name__
    if not selector._streams:
        raise InputError(
            f"{who}: expected a table in memory, got {X!r}. This method needs all rows at once: "
            "read the table with X.to_numpy(), or use a selector that works block by block, such "
            "as DFT or Fisher, as a first sieve."
        )
    if y is not None or sample_weight is not None:
        name = "y" if y is not None else "sample_weight"
        raise InputError(
            f"{who}: expected the target and the weights inside the scan, got {name} beside it. "
            "Name them when the scan is made: tamis.scan(path, target=..., weight=...)."
        )
    if selector._supervised and not X.has_target:
        raise InputError(
            f"{who}: requires a target, but the scan has none. Name it: tamis.scan(path, "
            "target=...)."
        )
    checks.set_columns(selector, X.n_columns, X.names)


def check_in_memory(selector: Any, X: Any, setting: str, instead: str) -> None:
    """Raise if a setting that needs all rows at once meets a table outside of memory."""
    if isinstance(X, PartitionedTable):
        raise InputError(
            f"{type(selector).__name__}: {setting} expected a table in memory, got {X!r}. Use "
            f"{instead}, which works block by block, or read the table with X.to_numpy()."
        )
