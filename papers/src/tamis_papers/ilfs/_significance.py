"""The significance section of the ILFS paper: as printed, and with tests that fit the splits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis_papers.inffs.protocol import Scores, data_names, means, p_of_difference

Floats = NDArray[np.float64]

METRIC = "average_precision"
OURS = "ILFS"
LEVEL = 0.05
# With this chance the binomial law gives the number that the paper prints.
PAPERS_CHANCE = 0.35


class PairTests(NamedTuple):
    """ILFS against one rival on one data set."""

    data: str
    rival: str
    lead: float
    two_sample: float
    corrected: float
    is_normal: bool


def compare_pairs(scores: Scores, rivals: tuple[str, ...]) -> list[PairTests]:
    """The paper's two-sample t test of all values, and the corrected paired test of the splits."""
    found = []
    for data in data_names(scores):
        ours = scores[data, OURS, METRIC]
        for rival in rivals:
            if (data, rival, METRIC) not in scores:
                continue
            theirs = scores[data, rival, METRIC]
            n = min(ours.shape[0], theirs.shape[0])
            a, b = ours[:n].ravel(), theirs[:n].ravel()
            found.append(
                PairTests(
                    data,
                    rival,
                    float(a.mean() - b.mean()),
                    _two_sample(a, b),
                    p_of_difference(scores, data, METRIC, OURS, rival),
                    _looks_normal(a) and _looks_normal(b),
                )
            )
    return found


def _two_sample(a: Floats, b: Floats) -> float:
    """Student's test with equal variances; without any spread only the means are left."""
    from scipy.stats import ttest_ind_from_stats

    if np.ptp(a) == 0 and np.ptp(b) == 0:
        return float(a[0] == b[0])
    sides = (a.mean(), a.std(ddof=1), a.size, b.mean(), b.std(ddof=1), b.size)
    return float(ttest_ind_from_stats(*sides).pvalue)


def _looks_normal(values: Floats) -> bool:
    """Whether Lilliefors' test lets the values pass; equal values are not normal."""
    from tamis.evaluation.significance import lilliefors

    return bool(np.ptp(values) > 0 and lilliefors(values).p_value >= LEVEL)


class Wins(NamedTuple):
    """On how many data sets ILFS is the best, and what the binomial law makes of it."""

    won: tuple[str, ...]
    n_data: int
    more_than: float
    at_least: float


def count_wins(scores: Scores, methods: tuple[str, ...]) -> Wins:
    """`more_than` with the paper's chance, `at_least` with that of one method among all."""
    from tamis.evaluation.significance import binomial_wins

    names = data_names(scores)
    rivals = [method for method in methods if method != OURS]
    by_data = [means(scores, data, METRIC) for data in names]
    ours = [values[OURS] for values in by_data]
    # A rival that failed on a data set cannot win there.
    others = [[values.get(rival, 0.0) for rival in rivals] for values in by_data]
    won = tuple(name for name, a, b in zip(names, ours, others, strict=True) if a > max(b))
    printed = binomial_wins(ours, others, chance=PAPERS_CHANCE, ties="loss")
    fair = binomial_wins(ours, others, ties="loss")
    return Wins(won, len(names), printed.p_more_than, fair.p_at_least)


def ranks_in_words(scores: Scores, methods: tuple[str, ...]) -> str:
    """Friedman and Nemenyi over the data sets, on the methods that ran on all of them."""
    from tamis.evaluation.significance import compare_many

    by_data = [means(scores, data, METRIC) for data in data_names(scores)]
    complete = [method for method in methods if all(method in values for values in by_data)]
    table = [[values[method] for method in complete] for values in by_data]
    if len(table) < 2 or OURS not in complete:
        return "too few data sets for ranks"
    found = compare_many(table, names=complete)
    ranks = dict(zip(found.names, found.average_ranks, strict=True))
    order = sorted(ranks, key=ranks.__getitem__)
    friedman = "" if found.friedman is None else f"Friedman p {found.friedman.p_value:.2g}; "
    return (
        f"{friedman}average rank of ILFS {ranks[OURS]:.1f}, place {order.index(OURS) + 1} of "
        f"{len(order)}; not shown to be worse than the best ({found.best}): "
        + ", ".join(found.as_good)
    )
