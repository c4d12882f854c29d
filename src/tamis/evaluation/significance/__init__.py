"""Significance: is the difference between two methods, or many, more than luck.

Scores of two methods on the same splits or data sets:
:func:`paired_t`, :func:`wilcoxon`, :func:`binomial_wins`, :func:`bayesian_signed_rank`;
whether the t test may be used: :func:`lilliefors`.
Many methods on many data sets: :func:`friedman`, :func:`nemenyi`,
:func:`critical_difference_groups`, :func:`holm`, and all in one :func:`compare_many`.
Many methods on the rows of one data set: ``compare_rows``.
"""

from tamis.evaluation.significance.many import (
    Friedman,
    ManyMethods,
    Nemenyi,
    compare_many,
    compare_rows,
    critical_difference_groups,
    friedman,
    nemenyi,
)
from tamis.evaluation.significance.pairs import (
    BinomialWins,
    PairedT,
    Wilcoxon,
    binomial_wins,
    holm,
    paired_t,
    wilcoxon,
)
from tamis.evaluation.significance.simulated import (
    BayesianSignedRank,
    Lilliefors,
    bayesian_signed_rank,
    lilliefors,
)

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
    "compare_rows",
    "critical_difference_groups",
    "friedman",
    "holm",
    "lilliefors",
    "nemenyi",
    "paired_t",
    "wilcoxon",
]
