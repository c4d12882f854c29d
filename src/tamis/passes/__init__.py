"""Who walks the blocks of a table."""

from tamis.data.partitioned import PartitionedTable, RawBlock
from tamis.passes.dask.chunks import DaskTable, is_dask
from tamis.passes.fold import Statistic, fold
from tamis.passes.memory import MemoryEngine
from tamis.passes.opening import open_source

__all__ = [
    "DaskTable",
    "MemoryEngine",
    "PartitionedTable",
    "RawBlock",
    "Statistic",
    "fold",
    "is_dask",
    "open_source",
]
