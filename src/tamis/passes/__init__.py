"""Who passes over the rows of a table: in memory, in files, on the workers of Dask."""

from tamis.data.partitioned import PartitionedTable, RawBlock
from tamis.passes.dask.chunks import DaskTable, is_dask
from tamis.passes.engine import Engine, Statistic
from tamis.passes.memory import MemoryEngine, run_pass

__all__ = [
    "DaskTable",
    "Engine",
    "MemoryEngine",
    "PartitionedTable",
    "RawBlock",
    "Statistic",
    "is_dask",
    "run_pass",
]
