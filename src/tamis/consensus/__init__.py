"""Consensus: one ranking out of several, of several methods or of several draws of rows."""

from tamis.consensus.aggregation import RobustRanks, borda, median_rank, robust_rank_aggregation
from tamis.consensus.consensus import Consensus

__all__ = ["Consensus", "RobustRanks", "borda", "median_rank", "robust_rank_aggregation"]
