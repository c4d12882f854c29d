"""Evaluation that holds: protocols, stability, significance, comparisons and a leak alarm.

::

    protocol -> splits -> ranking on the training rows -> estimators -> scores on the test rows

Whatever is learned, is learned from the training rows of a split alone.
"""

from typing import TYPE_CHECKING

from tamis._lazy import lazy_names as _lazy_names

if TYPE_CHECKING:
    from tamis._runtime.progress import Lent, make_progress
    from tamis.evaluation import intervals, learners, metrics, protocols, significance, stability
    from tamis.evaluation.leak import LeakReport, leak_check
    from tamis.evaluation.protocols.base import draw_train
    from tamis.evaluation.results.comparison import Comparison
    from tamis.evaluation.run.compare import compare
    from tamis.evaluation.run.units import Unit, UnitResult, run_unit

__all__ = [
    "Comparison",
    "LeakReport",
    "Lent",
    "Unit",
    "UnitResult",
    "compare",
    "draw_train",
    "intervals",
    "leak_check",
    "learners",
    "make_progress",
    "metrics",
    "protocols",
    "run_unit",
    "significance",
    "stability",
]

__getattr__, __dir__ = _lazy_names(
    __name__,
    {
        "Comparison": "tamis.evaluation.results.comparison",
        "LeakReport": "tamis.evaluation.leak",
        "Lent": "tamis._runtime.progress",
        "Unit": "tamis.evaluation.run.units",
        "UnitResult": "tamis.evaluation.run.units",
        "compare": "tamis.evaluation.run.compare",
        "draw_train": "tamis.evaluation.protocols.base",
        "intervals": "tamis.evaluation.intervals",
        "leak_check": "tamis.evaluation.leak",
        "learners": "tamis.evaluation.learners",
        "make_progress": "tamis._runtime.progress",
        "metrics": "tamis.evaluation.metrics",
        "protocols": "tamis.evaluation.protocols",
        "run_unit": "tamis.evaluation.run.units",
        "significance": "tamis.evaluation.significance",
        "stability": "tamis.evaluation.stability",
    },
)
