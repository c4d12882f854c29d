"""Filters: columns scored from the data, without training a model."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

# File of every class; loaded when first used, for most users need one or two of them.
_FILES = {
    "AnovaF": "anova_f",
    "CFS": "cfs",
    "Correlation": "correlation",
    "FCBF": "fcbf",
    "Fisher": "fisher",
    "GFlip": "gflip",
    "InformationGain": "information_gain",
    "LLCFS": "llcfs",
    "LaplacianScore": "laplacian_score",
    "MCFS": "mcfs",
    "MRMR": "mrmr",
    "MutualInformation": "mutual_information",
    "RandomRanking": "random_ranking",
    "ReliefF": "relieff",
    "UDFS": "udfs",
    "Variance": "variance",
}
__all__ = [
    "CFS",
    "FCBF",
    "LLCFS",
    "MCFS",
    "MRMR",
    "UDFS",
    "AnovaF",
    "Correlation",
    "Fisher",
    "GFlip",
    "InformationGain",
    "LaplacianScore",
    "MutualInformation",
    "RandomRanking",
    "ReliefF",
    "Variance",
]

if TYPE_CHECKING:
    from tamis.filters.anova_f import AnovaF
    from tamis.filters.cfs import CFS
    from tamis.filters.correlation import Correlation
    from tamis.filters.fcbf import FCBF
    from tamis.filters.fisher import Fisher
    from tamis.filters.gflip import GFlip
    from tamis.filters.information_gain import InformationGain
    from tamis.filters.laplacian_score import LaplacianScore
    from tamis.filters.llcfs import LLCFS
    from tamis.filters.mcfs import MCFS
    from tamis.filters.mrmr import MRMR
    from tamis.filters.mutual_information import MutualInformation
    from tamis.filters.random_ranking import RandomRanking
    from tamis.filters.relieff import ReliefF
    from tamis.filters.udfs import UDFS
    from tamis.filters.variance import Variance


def __getattr__(name: str) -> Any:
    if name not in _FILES:
        raise AttributeError(f"module 'tamis.filters' has no attribute {name!r}")
    value = getattr(_import_module(f"tamis.filters.{_FILES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
