"""Evaluation that holds: protocols, stability, significance, comparisons and a leak alarm.

::

    protocol -> splits -> ranking on the training rows -> estimators -> scores on the test rows

Whatever is learned, is learned from the training rows of a split alone.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

# Home of every name; loaded when first used. Names that are not here are modules.
_FILES = {
    "Comparison": "results.comparison",
    "LeakReport": "leak",
    "Lent": "run.progress",
    "Unit": "run.units",
    "UnitResult": "run.units",
    "compare": "run.compare",
    "draw_train": "protocols.base",
    "leak_check": "leak",
    "make_progress": "run.progress",
    "run_unit": "run.units",
}
__all__ = [
    "Comparison",
    "LeakReport",
    "Lent",
    "Unit",
    "UnitResult",
    "compare",
    "draw_train",
    "leak_check",
    "learners",
    "make_progress",
    "metrics",
    "protocols",
    "run_unit",
    "significance",
    "stability",
]

if TYPE_CHECKING:
    from tamis.evaluation import learners, metrics, protocols, significance, stability
    from tamis.evaluation.leak import LeakReport, leak_check
    from tamis.evaluation.protocols.base import draw_train
    from tamis.evaluation.results.comparison import Comparison
    from tamis.evaluation.run.compare import compare
    from tamis.evaluation.run.progress import Lent, make_progress
    from tamis.evaluation.run.units import Unit, UnitResult, run_unit


def __getattr__(name: str) -> Any:
    if name in _FILES:
        value = getattr(_import_module(f"tamis.evaluation.{_FILES[name]}"), name)
    elif name in __all__:
        value = _import_module(f"tamis.evaluation.{name}")
    else:
        raise AttributeError(f"module 'tamis.evaluation' has no attribute {name!r}")
    # The function `compare` stands for the module of the same name, which importing it would
    # otherwise put here.
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
