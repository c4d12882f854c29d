"""Tamis: find the few columns of a wide table that matter, and say how sure you are."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0.dev0"

__all__ = [
    "DFT",
    "ILFS",
    "RFT",
    "InfFS",
    "InfFSCV",
    "cutoff",
    "datasets",
    "engines",
    "exceptions",
    "graph",
    "inf_fs_path",
    "list_selectors",
    "make_selector",
    "plots",
    "selectors",
    "statistics",
    "tables",
    "walk_scores",
]

# Names are imported when first used: scikit-learn alone takes more than a second, which
# `tamis --help` and Ctrl-C should not wait for. Names that are not here are modules.
_HOME = {
    "DFT": "tamis.split",
    "ILFS": "tamis.graph",
    "InfFS": "tamis.graph",
    "InfFSCV": "tamis.graph",
    "RFT": "tamis.split",
    "inf_fs_path": "tamis.graph",
    "list_selectors": "tamis.selectors",
    "make_selector": "tamis.selectors",
    "walk_scores": "tamis.graph",
}

if TYPE_CHECKING:
    from tamis import (
        cutoff,
        datasets,
        engines,
        exceptions,
        graph,
        plots,
        selectors,
        statistics,
        tables,
    )
    from tamis.graph import ILFS, InfFS, InfFSCV, inf_fs_path, walk_scores
    from tamis.selectors import list_selectors, make_selector
    from tamis.split import DFT, RFT


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(_import_module(_HOME[name]), name)
    elif name in __all__:
        value = _import_module(f"tamis.{name}")
    else:
        raise AttributeError(f"module 'tamis' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
