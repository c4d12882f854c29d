"""The experiments of the papers, runnable: their number, ours, the verdict.

::

    experiment -> units of work -> store -> outcome -> verdicts -> table, figures, page

An experiment is a table or a figure of a paper. What the paper printed is data (``values/*.toml``);
what we measure is kept in a store as it is computed, so that a run that was stopped goes on.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

_FILES = {
    "Experiment": "experiment",
    "ExperimentResult": "result",
    "list_experiments": "experiment",
    "reproduce": "_reproduce",
}
__version__ = "0.1.0.dev0"
__all__ = ["Experiment", "ExperimentResult", "list_experiments", "reproduce"]

if TYPE_CHECKING:
    from tamis_papers._reproduce import reproduce
    from tamis_papers.experiment import Experiment, list_experiments
    from tamis_papers.result import ExperimentResult


def __getattr__(name: str) -> Any:
    if name not in _FILES:
        raise AttributeError(f"module 'tamis_papers' has no attribute {name!r}")
    value = getattr(_import_module(f"tamis_papers.{_FILES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
