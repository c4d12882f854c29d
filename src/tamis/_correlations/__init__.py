"""Rank and linear correlation of columns, as products of vectors of length one."""

from tamis._correlations.factors import Factors, linear_factors, rank_factors

__all__ = ["Factors", "linear_factors", "rank_factors"]
