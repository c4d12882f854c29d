"""Figures 6 to 9 of the OFW paper: ternary variables, exact and stochastic gradients."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from tamis_papers._run import ExperimentRun, UnitTask
from tamis_papers.result import Claim, ExperimentResult, Measurement

N_DRAWS, N_TEST, MAX_ITER = 10, 10_000, 20_000
SIZES = (2, 3, 4)
# Four columns have 3.9 million sets, too many to enumerate.
MOST_ENUMERATED = 3
# Times the default step of the library.
STEPS = (1, 4, 16)
METHODS = ("riemannian", "euclidean", "diffusion")
EXACT = {"exponential": "exact exponential gradient", "euclidean": "exact Euclidean gradient"}
# Numbered from 1, as in the paper.
REUSABLE, SECOND = (1, 4, 8), (2, 3, 5, 6, 7, 9)
ROWS_PER_SAMPLE = 200
KINDS = {
    "features in none of the sets": 99,
    "features in only one set (one class)": 1,
    "features in two sets (two classes)": 0,
}


def run(run: ExperimentRun) -> ExperimentResult:
    """Learn the weights of several draws of the data, and compare them with what is exact."""
    sizes, n_draws, max_iter, n_test = quick_settings() if run.quick else full_settings()
    n_draws = run.at_most(n_draws)
    tasks = [
        UnitTask(f"k{size}/{draw}", one_draw, (size, run.seed + draw, max_iter, n_test))
        for size in sizes
        for draw in range(n_draws)
    ]
    units = run.units(tasks)
    found = {size: [units[f"k{size}/{draw}"] for draw in range(n_draws)] for size in sizes}
    from tamis_papers.ofw import synthetic_shown as shown

    entropies = conditional_entropies()
    enumerated = max(size for size in sizes if size <= MOST_ENUMERATED)
    return ExperimentResult(
        measurements=[*_entropy_rows(entropies), *shown.measurements(found)],
        claims=[*shown.claims(found, enumerated), _entropy_claim(entropies)],
        figures={
            "training": lambda figure: shown.draw_curves(figure, found[enumerated], "train"),
            "test": lambda figure: shown.draw_curves(figure, found[enumerated], "test"),
            "weights": lambda figure: shown.draw_weights(figure, found),
        },
        remarks=[
            f"{n_draws} draws of the data. The mean error of weights is exact for 2 and 3 columns "
            "a step: all sets of columns are tried, leaving one training row out (training error), "
            f"or on {n_test} new rows (the paper has 100), so curves can be compared.",
            "Open in the paper: M (here 1), the rows of a bootstrap sample (here "
            f"{ROWS_PER_SAMPLE}), steps. Step sizes of 1, 4 and 16 times the library's default are "
            "run, and of each method the one with the least training error at the end is compared.",
            "The paper's horizontal axis is time on its machine; here it is classifiers trained. "
            "The exact gradient has no step size: a step is halved until the energy falls. It has "
            "to train all sets once (5,050 for 2 columns, 171,700 for 3), and none afterwards.",
            "Figure 4 of the paper misprints the exponential step; Eq. 12 is used.",
        ],
    )


def full_settings() -> tuple[tuple[int, ...], int, int, int]:
    """Numbers of columns drawn, draws of the data, steps, and test rows of the complete run."""
    return SIZES, N_DRAWS, MAX_ITER, N_TEST


def quick_settings() -> tuple[tuple[int, ...], int, int, int]:
    """The same of the reduced run."""
    return (2, 4), 2, 3000, 1000


def one_draw(size: int, seed: int, max_iter: int, n_test: int) -> dict[str, Any]:
    """All methods on one draw of the data."""
    from tamis.datasets import make_ofw_ternary

    from tamis_papers.ofw.enumeration import energy_tables

    data = make_ofw_ternary(random_state=seed)
    tables = None
    if size <= MOST_ENUMERATED:
        new = make_ofw_ternary(n_samples=n_test, random_state=np.random.default_rng([seed, 1]))
        tables = energy_tables(data.X, data.y, new.X, new.y, size)
    runs = {
        f"{method}/{step}": learned_path(data, size, method, step, "mean", max_iter, seed, tables)
        for method in METHODS
        for step in STEPS
    }
    runs["riemannian/as printed"] = learned_path(
        data, size, "riemannian", 1, None, max_iter, seed, tables
    )
    return {"runs": runs, "exact": {} if tables is None else exact_paths(tables, seed)}


def learned_path(
    data: Any, size: int, method: str, step: int, baseline: str | None, max_iter: int, seed: int,
    tables: Any,
) -> dict[str, Any]:  # fmt: skip
    """Weights at the end, and the exact energies on the way."""
    from tamis import OFW
    from tamis.weighting import default_schedule

    first, _ = default_schedule(method, data.X.shape[1], size)
    selector = OFW(
        estimator="nn", estimator_params={"n_neighbors": 1, "metric": "mismatch"}, method=method,
        subset_size=size, sample_size=ROWS_PER_SAMPLE, max_iter=max_iter, step=step * first,
        baseline=baseline, scale=False, random_state=seed, n_jobs=1,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # leaving the simplex is in the status
        selector.fit(data.X, data.y)
    steps = [*selector.path_evaluations_, selector.n_evaluations_]
    path = [*np.asarray(selector.weights_path_, dtype=float), selector.weights_]
    return {
        **_energies(tables, list(zip(steps, path, strict=True))),
        "weights": np.round(selector.weights_, 6).tolist(),
        "status": selector.status_,
    }


def exact_paths(tables: Any, seed: int, n_starts: int = 20) -> dict[str, Any]:
    """Exact descents from the uniform weights, and the best end from random ones."""
    from tamis_papers.ofw.enumeration import descend, energy

    paths = {name: descend(tables[0], name) for name in EXACT}
    random = np.random.default_rng([seed, 2])
    starts = random.dirichlet(np.full(tables[0].shape[0], 0.1), size=n_starts)
    ends = [energy(tables[0], descend(tables[0], "euclidean", start=p)[-1][1]) for p in starts]
    return {
        **{
            name: {**_energies(tables, path), "weights": np.round(path[-1][1], 6).tolist()}
            for name, path in paths.items()
        },
        "starts": ends,
    }


def _energies(tables: Any, path: list[tuple[int, Any]]) -> dict[str, Any]:
    from tamis_papers.ofw.enumeration import energy
    from tamis_papers.ofw.learning import thinned

    if tables is None:
        return {"steps": [], "train": [], "test": []}
    path = thinned(path, 60)
    return {
        "steps": [int(step) for step, _ in path],
        "train": [energy(tables[0], weights / weights.sum()) for _, weights in path],
        "test": [energy(tables[1], weights / weights.sum()) for _, weights in path],
    }


def conditional_entropies() -> dict[str, float]:
    """Entropy of the class given one variable, in nats, from the construction as printed."""
    from tamis.datasets import make_ofw_ternary

    of_one = make_ofw_ternary(n_samples=3, random_state=0).probability_of_one
    return {kind: conditional_entropy(of_one[:, column]) for kind, column in KINDS.items()}


def conditional_entropy(of_one: Any) -> float:
    """From the probability of the value 1 in each of three equally frequent classes.

    The two other values share the rest equally.
    """
    of_one = np.asarray(of_one)
    joint = np.column_stack([of_one, (1 - of_one) / 2, (1 - of_one) / 2]) / of_one.size
    inside = joint * np.log(joint / joint.sum(axis=0))
    return float(-inside.sum())


def _entropy_rows(entropies: dict[str, float]) -> list[Measurement]:
    return [
        Measurement(
            {
                "data": "synthetic ternary",
                "method": "conditional entropy of the class given one feature",
                "features": kind,
                "metric": "conditional entropy",
            },
            [value],
            f"in nats, exact; {value / math.log(2):.4f} bits",
        )
        for kind, value in entropies.items()
    ]


def _entropy_claim(entropies: dict[str, float]) -> Claim:
    none, one, two = entropies.values()
    return Claim(
        "entropy-fails",
        bool(none > max(one, two) and abs(one - two) < 0.1 * (none - max(one, two))),
        f"{none:.4f} nats for noise, {one:.4f} for one class, {two:.4f} for two: the conclusion "
        "holds, though the three printed numbers do not (a feature in no set must have ln 3)",
    )
