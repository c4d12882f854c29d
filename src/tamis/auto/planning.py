"""Plan: how much is tried within a time limit, by estimates that do not depend on a clock."""

from __future__ import annotations

from typing import NamedTuple

from tamis.auto.choosing import Inner, counts_for
from tamis.auto.methods import Method, methods_for
from tamis.auto.problem import Problem

# Seconds of one core that are planned for where no limit is given.
USUAL_SECONDS = 300.0
# Share of a limit that is planned for: estimates are rough.
PLANNED_SHARE = 0.4
# Share of the plan that the rankings of one method may take.
LARGEST_SHARE = 0.4
# Seconds to judge one set of features by one model: for a set, and for a row of it.
SECONDS_PER_SET, SECONDS_PER_ROW = 3e-4, 5e-7
# From rich to poor: repeats and folds outside, repeats and folds inside.
SCHEMES = (
    (2, 5, 2, 5), (2, 5, 1, 5), (1, 5, 1, 5), (1, 5, 1, 3), (1, 3, 1, 3), (1, 3, 1, 2),
)  # fmt: skip
# With more rows, repeats add little.
MANY_ROWS = 500


class Plan(NamedTuple):
    """What is tried, on how many folds."""

    methods: tuple[Method, ...]
    left_out: tuple[Method, ...]
    n_repeats: int
    n_folds: int
    inner: Inner


def make_plan(problem: Problem, time_limit: float | None, n_jobs: int) -> Plan:
    """The richest plan within the time, without the methods that would take most of it."""
    n_rows, n_features = problem.X.shape
    seconds = USUAL_SECONDS if time_limit is None else PLANNED_SHARE * time_limit * n_jobs
    known = methods_for(problem)
    cost = {method: method.seconds(n_rows, n_features) for method in known}
    poorest = _n_rankings(SCHEMES[-1])
    methods = tuple(m for m in known if cost[m] * poorest <= LARGEST_SHARE * seconds)
    methods = methods or (min(known, key=lambda method: cost[method]),)
    per_set = SECONDS_PER_SET + SECONDS_PER_ROW * n_rows
    n_sets = len(methods) * len(problem.models) * len(counts_for(problem))
    once = sum(cost[method] for method in methods) + n_sets * per_set
    schemes = SCHEMES[2:] if n_rows > MANY_ROWS else SCHEMES
    chosen = next((s for s in schemes if _n_rankings(s) * once <= seconds), schemes[-1])
    left_out = tuple(method for method in known if method not in methods)
    return Plan(methods, left_out, chosen[0], chosen[1], Inner(chosen[3], chosen[2]))


def _n_rankings(scheme: tuple[int, int, int, int]) -> int:
    """Rankings per method: on inner folds, outside and for the table as a whole."""
    outer_repeats, outer_folds, inner_repeats, inner_folds = scheme
    return (outer_repeats * outer_folds + 1) * (inner_repeats * inner_folds + 1)
