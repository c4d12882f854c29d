"""Who walks the blocks of a table."""

from tamis.engines.chunks import DaskSource, is_dask
from tamis.engines.fold import Statistic, fold
from tamis.engines.memory import MemoryEngine
from tamis.engines.opening import open_source
from tamis.engines.source import RawBlock, Source

__all__ = [
    "DaskSource",
    "MemoryEngine",
    "RawBlock",
    "Source",
    "Statistic",
    "fold",
    "is_dask",
    "open_source",
]
