"""Tamis: find the few columns of a wide table that matter, and say how sure you are."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0.dev0"

__all__ = [
    "CFS",
    "DFT",
    "FCBF",
    "FSV",
    "ILFS",
    "L0SVM",
    "LLCFS",
    "MCFS",
    "MFPFS",
    "MRMR",
    "OFW",
    "RFT",
    "SVMRFE",
    "UDFS",
    "AndOrFeatures",
    "AnovaF",
    "Consensus",
    "Correlation",
    "FeatureSource",
    "Fisher",
    "GFlip",
    "InfFS",
    "InfFSCV",
    "InformationGain",
    "LaplacianScore",
    "MetaSpace",
    "Mufasa",
    "MutualInformation",
    "PatchPrototypes",
    "QualityMap",
    "RandomRanking",
    "ReliefF",
    "TreeImportance",
    "Variance",
    "VotingSubsetClassifier",
    "bounds",
    "compare",
    "consensus",
    "cutoff",
    "data",
    "datasets",
    "evaluation",
    "exceptions",
    "filters",
    "graph",
    "inf_fs_path",
    "list_selectors",
    "make_selector",
    "manifest",
    "meta",
    "passes",
    "plots",
    "report",
    "scan",
    "selectors",
    "statistics",
    "walk_scores",
    "weighting",
    "wrappers",
]

# Names are imported when first used: scikit-learn alone takes more than a second, which
# `tamis --help` and Ctrl-C should not wait for. Names that are not here are modules.
_HOME = {
    "AnovaF": "tamis.filters",
    "CFS": "tamis.filters",
    "Consensus": "tamis.consensus",
    "Correlation": "tamis.filters",
    "FCBF": "tamis.filters",
    "Fisher": "tamis.filters",
    "GFlip": "tamis.filters",
    "InformationGain": "tamis.filters",
    "LLCFS": "tamis.filters",
    "LaplacianScore": "tamis.filters",
    "MCFS": "tamis.filters",
    "MRMR": "tamis.filters",
    "MutualInformation": "tamis.filters",
    "RandomRanking": "tamis.filters",
    "ReliefF": "tamis.filters",
    "UDFS": "tamis.filters",
    "Variance": "tamis.filters",
    "FSV": "tamis.wrappers",
    "L0SVM": "tamis.wrappers",
    "SVMRFE": "tamis.wrappers",
    "TreeImportance": "tamis.wrappers",
    "AndOrFeatures": "tamis.meta",
    "FeatureSource": "tamis.meta",
    "MFPFS": "tamis.meta",
    "MetaSpace": "tamis.meta",
    "Mufasa": "tamis.meta",
    "PatchPrototypes": "tamis.meta",
    "QualityMap": "tamis.meta",
    "DFT": "tamis.split",
    "OFW": "tamis.weighting",
    "VotingSubsetClassifier": "tamis.weighting",
    "ILFS": "tamis.graph",
    "InfFS": "tamis.graph",
    "InfFSCV": "tamis.graph",
    "RFT": "tamis.split",
    "compare": "tamis.evaluation",
    "inf_fs_path": "tamis.graph",
    "list_selectors": "tamis.selectors",
    "make_selector": "tamis.selectors",
    "scan": "tamis.data",
    "walk_scores": "tamis.graph",
}

if TYPE_CHECKING:
    from tamis import (
        bounds,
        consensus,
        cutoff,
        data,
        datasets,
        evaluation,
        exceptions,
        filters,
        graph,
        manifest,
        meta,
        passes,
        plots,
        report,
        selectors,
        statistics,
        weighting,
        wrappers,
    )
    from tamis.consensus import Consensus
    from tamis.data import scan
    from tamis.evaluation import compare
    from tamis.filters import (
        CFS,
        FCBF,
        LLCFS,
        MCFS,
        MRMR,
        UDFS,
        AnovaF,
        Correlation,
        Fisher,
        GFlip,
        InformationGain,
        LaplacianScore,
        MutualInformation,
        RandomRanking,
        ReliefF,
        Variance,
    )
    from tamis.graph import ILFS, InfFS, InfFSCV, inf_fs_path, walk_scores
    from tamis.meta import (
        MFPFS,
        AndOrFeatures,
        FeatureSource,
        MetaSpace,
        Mufasa,
        PatchPrototypes,
        QualityMap,
    )
    from tamis.selectors import list_selectors, make_selector
    from tamis.split import DFT, RFT
    from tamis.weighting import OFW, VotingSubsetClassifier
    from tamis.wrappers import FSV, L0SVM, SVMRFE, TreeImportance


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
