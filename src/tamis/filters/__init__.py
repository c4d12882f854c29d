"""Filters: features scored from the data, without training a model."""

from tamis.filters.anova_f import AnovaF
from tamis.filters.cfs import CFS
from tamis.filters.correlation import Correlation
from tamis.filters.fcbf import FCBF
from tamis.filters.fisher import Fisher
from tamis.filters.gflip import GFlip
from tamis.filters.information_gain import InformationGain
from tamis.filters.laplacian_score import LaplacianScore
from tamis.filters.llcfs import LLCFS
from tamis.filters.mcfs import MCFS
from tamis.filters.mrmr import MRMR
from tamis.filters.mutual_information import MutualInformation
from tamis.filters.random_ranking import RandomRanking
from tamis.filters.relieff import ReliefF
from tamis.filters.udfs import UDFS
from tamis.filters.variance import Variance

__all__ = [
    "CFS",
    "FCBF",
    "LLCFS",
    "MCFS",
    "MRMR",
    "UDFS",
    "AnovaF",
    "Correlation",
    "Fisher",
    "GFlip",
    "InformationGain",
    "LaplacianScore",
    "MutualInformation",
    "RandomRanking",
    "ReliefF",
    "Variance",
]
