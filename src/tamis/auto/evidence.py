"""Evidence for every feature: tests against chance, frequencies, effects, near-copies."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import false_discovery_control, rankdata

from tamis._runtime.seeds import seed_of, stream
from tamis.auto.choosing import Choice
from tamis.auto.problem import Floats, Problem, Rows
from tamis.certainty import FalseDiscoveries, Knockoffs, chance_of_best
from tamis.evaluation.stability.sets import SelectionFrequency, wilson
from tamis.exceptions import TamisError
from tamis.selectors import make_selector

# Features that are correlated at least so much could replace each other.
NEAR_COPY = 0.9
N_COPIES_NAMED = 3
# Copies of the knockoffs, permutations of ReliefF.
N_COPIES, N_PERMUTATIONS = 5, 199
# Knockoffs say little of fewer rows, and take long with more features.
FEWEST_ROWS, MOST_FEATURES = 100, 2_000
COLUMNS_AT_ONCE = 1024
# A p-value below which the shape of a single effect is described.
SHOWN = 0.05


class Marginal(NamedTuple):
    """P-values of two tests of every feature alone: of ranks, and of bins; and both together."""

    by_rank: Floats
    by_bins: Floats

    @property
    def p_values(self) -> Floats:
        """Of both tests: twice the smaller one."""
        return np.minimum(2.0 * np.minimum(self.by_rank, self.by_bins), 1.0)

    @property
    def q_values(self) -> Floats:
        """Smallest false discovery rate at which each feature is found (Benjamini-Hochberg)."""
        return np.asarray(false_discovery_control(self.p_values))

    @property
    def p_value(self) -> float:
        """Of the hypothesis that no feature is related to the target (Simes)."""
        ordered = np.sort(self.p_values)
        return float(min(np.min(ordered * ordered.size / np.arange(1, ordered.size + 1)), 1.0))


def marginal_test(problem: Problem, seed: int) -> Marginal:
    """Test every feature alone: whether its ranks, or its bins, are related to the target."""
    methods = (
        ("correlation", {"kind": "spearman"}),
        ("mutualinformation", {"estimator": "binned"}),
    )
    return Marginal(*(_p_values(problem, name, params, seed) for name, params in methods))


def _p_values(problem: Problem, name: str, params: dict[str, Any], seed: int) -> Floats:
    groups = None if problem.groups is None else problem.groups.tolist()
    rule = FalseDiscoveries(0.1, random_state=seed, groups=groups, n_jobs=1)
    selector = make_selector(name, **params, task=problem.task, n_features_to_select=rule)
    weight = {"sample_weight": problem.weight} if problem.is_weighted else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return np.asarray(selector.fit(problem.X, problem.y, **weight).p_values_)
        except TamisError:  # groups may leave no other order of the target: nothing can be shown
            return np.ones(problem.X.shape[1])


def interaction_test(problem: Problem, seed: int) -> float:
    """P-value of the best score of ReliefF, which features get together with others, too."""
    selector = make_selector("relieff", task=problem.task, n_features_to_select="all", n_jobs=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector.fit(problem.X, problem.y)
        found = chance_of_best(
            selector, problem.X, problem.y, n_permutations=N_PERMUTATIONS, random_state=seed
        )
    return 1.0 if found is None else found


def conditional_test(problem: Problem, level: float, seed: int) -> tuple[Floats | None, str]:
    """E-values by knockoffs, or None and the reason why not."""
    n_rows, n_features = problem.X.shape
    if n_rows < FEWEST_ROWS:
        return None, f"knockoffs need at least {FEWEST_ROWS} rows to find anything"
    if n_features > MOST_FEATURES:
        return None, f"knockoffs of more than {MOST_FEATURES:,} features take too long here"
    if problem.groups is not None or problem.is_weighted:
        return None, "knockoffs need independent rows of equal weight"
    rule = Knockoffs(level, n_copies=N_COPIES, random_state=seed, n_jobs=1)
    selector = make_selector("correlation", task=problem.task, n_features_to_select=rule)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return np.asarray(selector.fit(problem.X, problem.y).e_values_), ""
        except TamisError as error:
            return None, str(error)


def frequencies(
    problem: Problem, choice: Choice, n_pairs: int, seed: int, is_late: Callable[[], bool]
) -> SelectionFrequency:
    """How often half of the rows select each feature again, by the same method."""
    counts, n_halves = np.zeros(problem.X.shape[1]), 0
    for pair in range(n_pairs):
        for half, _ in problem.folds(2, stream(seed, 3, pair)):
            counts[choice.method.rank(problem, half, choice.n_features, seed_of(seed, pair))] += 1
            n_halves += 1
        if is_late():
            break
    return wilson(counts, n_halves, 0.95)


def describe_effects(
    problem: Problem, columns: Rows, marginal: Marginal, classes: NDArray[Any] | None
) -> list[str]:
    """What every selected feature does to the target, in a few words."""
    ranks = ranked(problem.cells(problem.rows, columns))
    return [
        _effect(problem, ranks[:, i], marginal.by_rank[j], marginal.by_bins[j], classes)
        for i, j in enumerate(columns)
    ]


def _effect(
    problem: Problem, ranks: Floats, by_rank: float, by_bins: float, classes: NDArray[Any] | None
) -> str:
    if min(by_rank, by_bins) > SHOWN:
        return "only together with others"
    if by_rank > SHOWN:
        return "not monotone"
    if classes is None:
        rises = np.corrcoef(ranks, rankdata(problem.y))[0, 1] > 0
        return "increasing" if rises else "decreasing"
    means = [ranks[problem.y == code].mean() for code in range(classes.size)]
    most = "higher" if classes.size == 2 else "highest"
    return f"{most} for {classes[int(np.argmax(means))]}"


def near_copies(problem: Problem, columns: Rows) -> list[list[tuple[int, float]]]:
    """For every selected feature, the others that could replace it, and their rank correlation."""
    found: list[list[tuple[int, float]]] = [[] for _ in columns]
    n_features = problem.X.shape[1]
    own = standardised(problem.cells(problem.rows, columns))
    for start in range(0, n_features, COLUMNS_AT_ONCE):
        block = np.arange(start, min(start + COLUMNS_AT_ONCE, n_features))
        related = own.T @ standardised(problem.cells(problem.rows, block))
        for i, j in np.argwhere(np.abs(related) >= NEAR_COPY):
            if block[j] != columns[i]:
                found[i].append((int(block[j]), float(np.clip(related[i, j], -1.0, 1.0))))
    return [sorted(pairs, key=lambda pair: -abs(pair[1]))[:N_COPIES_NAMED] for pairs in found]


def standardised(cells: Floats) -> Floats:
    """Ranks of every column, less their mean, at length 1; 0 for constant columns."""
    ranks = ranked(cells)
    ranks -= ranks.mean(axis=0)
    length = np.sqrt((ranks**2).sum(axis=0))
    return ranks / np.where(length > 0, length, 1.0)


def ranked(cells: Floats) -> Floats:
    """Ranks of every column; missing values stand at the median."""
    missing = np.isnan(cells)
    if missing.any():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # columns without any value
            middle = np.nan_to_num(np.nanmedian(cells, axis=0))
        cells = np.where(missing, middle, cells)
    return np.asarray(rankdata(cells, axis=0))
