"""Consensus: one ranking out of several, of several methods or of several draws of rows."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

_FILES = {
    "Consensus": "consensus",
    "RobustRanks": "aggregation",
    "borda": "aggregation",
    "median_rank": "aggregation",
    "robust_rank_aggregation": "aggregation",
}
__all__ = ["Consensus", "RobustRanks", "borda", "median_rank", "robust_rank_aggregation"]

if TYPE_CHECKING:
    from tamis.consensus.aggregation import (
        RobustRanks,
        borda,
        median_rank,
        robust_rank_aggregation,
    )
    from tamis.consensus.consensus import Consensus


def __getattr__(name: str) -> Any:
    if name not in _FILES:
        raise AttributeError(f"module 'tamis.consensus' has no attribute {name!r}")
    value = getattr(_import_module(f"tamis.consensus.{_FILES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
