"""Rankings of deep features, and models on their first columns at the paper's elbows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tamis_papers._run import ExperimentRun, UnitTask
from tamis_papers.dft._features import N_FEATURES, Deep, deep_features
from tamis_papers.dft._methods import known

N_NETWORKS = 3
FULL = "none (full set)"

# Data, whether noisy, early and late elbow as the paper reads them from its curve.
Condition = tuple[str, bool, int, int]
# A network with the two elbows.
Networks = Sequence[tuple[Deep, int, int]]
Rankings = dict[tuple[Deep, str], dict[str, Any]]
# Condition, method, model, elbow: a value per network.
Cells = dict[tuple[str, str, str, str], list[float]]


def name_of(data: str, noisy: bool) -> str:
    """The condition in words."""
    return f"{data} {'noisy' if noisy else 'clean'}"


def networks_of(run: ExperimentRun, conditions: Sequence[Condition]) -> tuple[list[Any], Networks]:
    """The conditions that are run, and their networks."""
    wanted = [c for c in conditions if not run.quick or c[:2] == ("fashion-mnist", False)]
    n_networks = run.at_most(1 if run.quick else N_NETWORKS)
    return wanted, [
        (deep_features(run, data, noisy=noisy, repeat=repeat), early, late)
        for data, noisy, early, late in wanted
        for repeat in range(n_networks)
    ]


def rankings_of(
    run: ExperimentRun,
    plan: Networks,
    methods: Iterable[str],
    ranking: Callable[[Deep, str], dict[str, Any]],
) -> Rankings:
    """What `ranking` returns for every network and method."""
    tasks = {
        (deep, method): UnitTask(
            f"ranking/{deep.name}/{deep.repeat}/{method}", ranking, (deep, method)
        )
        for deep, _, _ in plan
        for method in known(tuple(methods))
    }
    found = run.units(tasks.values())
    return {key: found[task.name] for key, task in tasks.items()}


def cells_of(
    run: ExperimentRun,
    plan: Networks,
    rankings: Rankings,
    methods: Mapping[str, str],
    models: Sequence[str],
    score: Callable[[Deep, str, Sequence[int]], float],
    own: tuple[str, str] | None = None,
) -> Cells:
    """Scores of all models on all features, and on the first ones of every method at the elbows.

    `own` is a method that is also cut at its own elbows, and the name of that line.
    """
    tasks: dict[tuple[Deep, str, str, str], UnitTask] = {}
    for deep, early, late in plan:
        chosen: dict[tuple[str, str], list[int]] = {(FULL, "full"): list(range(N_FEATURES))}
        for method in known(tuple(methods)):
            order = rankings[deep, method]["order"]
            chosen |= {(methods[method], "early"): order[:early]}
            chosen |= {(methods[method], "late"): order[:late]}
        if own is not None:
            found = rankings[deep, own[0]]
            chosen |= {
                (own[1], which): found["order"][: found[which]] for which in ("early", "late")
            }
        for (method, elbow), columns in chosen.items():
            for model in models:
                name = f"fit/{deep.name}/{deep.repeat}/{method}/{elbow}/{model}"
                tasks[deep, method, model, elbow] = UnitTask(name, score, (deep, model, columns))
    values = run.units(tasks.values())
    cells: Cells = defaultdict(list)
    for (deep, method, model, elbow), task in tasks.items():
        cells[deep.name, method, model, elbow].append(values[task.name])
    return dict(cells)
