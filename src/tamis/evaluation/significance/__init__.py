"""Significance: is the difference between two methods, or many, more than luck.

Scores of two methods on the same splits or data sets:
:func:`paired_t`, :func:`wilcoxon`, :func:`binomial_wins`, :func:`bayesian_signed_rank`;
whether the t test may be used: :func:`lilliefors`.
Many methods on many data sets: :func:`friedman`, :func:`nemenyi`,
:func:`critical_difference_groups`, :func:`holm`, and all in one :func:`compare_many`.
"""

from tamis.evaluation.significance._bayesian import BayesianSignedRank, bayesian_signed_rank
from tamis.evaluation.significance._binomial import BinomialWins, binomial_wins
from tamis.evaluation.significance._friedman import (
    Friedman,
    Nemenyi,
    critical_difference_groups,
    friedman,
    nemenyi,
)
from tamis.evaluation.significance._holm import holm
from tamis.evaluation.significance._lilliefors import Lilliefors, lilliefors
from tamis.evaluation.significance._many import ManyMethods, compare_many
from tamis.evaluation.significance._paired_t import PairedT, paired_t
from tamis.evaluation.significance._wilcoxon import Wilcoxon, wilcoxon

__all__ = [
    "BayesianSignedRank",
    "BinomialWins",
    "Friedman",
    "Lilliefors",
    "ManyMethods",
    "Nemenyi",
    "PairedT",
    "Wilcoxon",
    "bayesian_signed_rank",
    "binomial_wins",
    "compare_many",
    "critical_difference_groups",
    "friedman",
    "holm",
    "lilliefors",
    "nemenyi",
    "paired_t",
    "wilcoxon",
]
