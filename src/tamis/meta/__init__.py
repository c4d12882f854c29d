"""Meta-features: learn what good features look like, and look for more of them."""

from tamis.meta.images.and_or_features import AndOrFeatures
from tamis.meta.images.patch_prototypes import PatchPrototypes
from tamis.meta.quality_map import QualityMap
from tamis.meta.search.dimensions import Categorical, Integer, Ordered, Real
from tamis.meta.search.generators import ClusterGenerator, Generator
from tamis.meta.search.meta_space import MetaSpace
from tamis.meta.search.mufasa import Mufasa
from tamis.meta.search.set_baselines import NormalizedInformationGain, RandomSearch
from tamis.meta.sources.feature_source import FeatureSource, as_source
from tamis.meta.sources.function_source import FunctionSource
from tamis.meta.sources.mfpfs import MFPFS
from tamis.meta.sources.qualities import measure_quality
from tamis.meta.sources.source_selectors import SourceRandom, SourceRFE
from tamis.meta.sources.table_sources import ArraySource, FrameSource, ParquetSource

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
