"""Who passes over the rows of a table: in memory, in files, on the workers of Dask."""

from tamis.data.partitioned import PartitionedTable, RawBlock
from tamis.passes.dask.chunks import DaskTable
from tamis.passes.engine import Engine, Levels, Statistic
from tamis.passes.memory import MemoryEngine, Opened, is_dask, run_pass

__all__ = [
    "DaskTable",
    "Engine",
    "Levels",
    "MemoryEngine",
    "Opened",
    "PartitionedTable",
    "RawBlock",
    "Statistic",
    "is_dask",
    "run_pass",
]
