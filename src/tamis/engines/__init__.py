"""Who walks the blocks of a table."""

from tamis.engines.fold import Statistic, fold
from tamis.engines.memory import MemoryEngine

__all__ = ["MemoryEngine", "Statistic", "fold"]
