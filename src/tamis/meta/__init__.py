"""Meta-features: learn what good features look like, and look for more of them."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

# File of every name; loaded when first used.
_FILES = {
    "AndOrFeatures": "and_or_features",
    "ArraySource": "array_source",
    "as_source": "feature_source",
    "Categorical": "dimensions",
    "ClusterGenerator": "cluster_generator",
    "FeatureSource": "feature_source",
    "FrameSource": "frame_source",
    "FunctionSource": "function_source",
    "Generator": "generator",
    "Integer": "dimensions",
    "measure_quality": "qualities",
    "MetaSpace": "meta_space",
    "MFPFS": "mfpfs",
    "Mufasa": "mufasa",
    "NormalizedInformationGain": "normalized_information_gain",
    "Ordered": "dimensions",
    "ParquetSource": "parquet_source",
    "PatchPrototypes": "patch_prototypes",
    "QualityMap": "quality_map",
    "RandomSearch": "random_search",
    "Real": "dimensions",
    "SourceRandom": "source_random",
    "SourceRFE": "source_rfe",
}
__all__ = [
    "MFPFS",
    "AndOrFeatures",
    "ArraySource",
    "Categorical",
    "ClusterGenerator",
    "FeatureSource",
    "FrameSource",
    "FunctionSource",
    "Generator",
    "Integer",
    "MetaSpace",
    "Mufasa",
    "NormalizedInformationGain",
    "Ordered",
    "ParquetSource",
    "PatchPrototypes",
    "QualityMap",
    "RandomSearch",
    "Real",
    "SourceRFE",
    "SourceRandom",
    "as_source",
    "measure_quality",
]

if TYPE_CHECKING:
    from tamis.meta.and_or_features import AndOrFeatures
    from tamis.meta.array_source import ArraySource
    from tamis.meta.cluster_generator import ClusterGenerator
    from tamis.meta.dimensions import Categorical, Integer, Ordered, Real
    from tamis.meta.feature_source import FeatureSource, as_source
    from tamis.meta.frame_source import FrameSource
    from tamis.meta.function_source import FunctionSource
    from tamis.meta.generator import Generator
    from tamis.meta.meta_space import MetaSpace
    from tamis.meta.mfpfs import MFPFS
    from tamis.meta.mufasa import Mufasa
    from tamis.meta.normalized_information_gain import NormalizedInformationGain
    from tamis.meta.parquet_source import ParquetSource
    from tamis.meta.patch_prototypes import PatchPrototypes
    from tamis.meta.qualities import measure_quality
    from tamis.meta.quality_map import QualityMap
    from tamis.meta.random_search import RandomSearch
    from tamis.meta.source_random import SourceRandom
    from tamis.meta.source_rfe import SourceRFE


def __getattr__(name: str) -> Any:
    if name not in _FILES:
        raise AttributeError(f"module 'tamis.meta' has no attribute {name!r}")
    value = getattr(_import_module(f"tamis.meta.{_FILES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
