"""Figure 1 of the Inf-FS paper: four columns of iris among mixtures of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamis_papers._run import ExperimentRun, UnitTask
from tamis_papers._sure import all_sure, surely
from tamis_papers.result import Claim, ExperimentResult, Measurement

N_REPEATS = 20
# The paper does not say which alpha it used here.
ALPHAS = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)
# Fewer draws tell nothing of how much ranks vary.
LEAST_FOR_SPREAD = 5
KINDS = {"linear": "linear", "sine": "periodic"}


def run(run: ExperimentRun) -> ExperimentResult:
    """Rank the columns of every draw for every alpha, and look where the originals are."""
    n_repeats = run.at_most(5 if run.quick else N_REPEATS)
    tasks = [
        UnitTask(
            f"{kind}/{alpha}/{n_repeats}", ranks_of_originals, (kind, alpha, n_repeats, run.seed)
        )
        for kind in KINDS
        for alpha in ALPHAS
    ]
    units = run.units(tasks, parallel=False)
    found = {name.rpartition("/")[0]: np.array(ranks) for name, ranks in units.items()}
    return ExperimentResult(
        measurements=_measurements(found),
        claims=_claims(found, n_repeats),
        figures={"ranks": lambda figure: _draw(figure, found)},
        remarks=[
            "The paper does not say how the mixing coefficients are drawn (here uniformly over all "
            "convex combinations), nor which alpha was used: six are shown.",
        ],
    )


def ranks_of_originals(kind: str, alpha: float, n_repeats: int, seed: int) -> list[list[int]]:
    """Ranks of the four originals among 20 columns, one list per draw."""
    from tamis import InfFS
    from tamis.datasets import make_iris_combinations

    ranks = []
    for repeat in range(n_repeats):
        draw = make_iris_combinations(kind=kind, random_state=seed + repeat)
        selector = InfFS(alpha=alpha, n_features_to_select=4).fit(draw.X)
        ranks.append(selector.ranking_[draw.relevant].tolist())
    return ranks


def _measurements(found: dict[str, Any]) -> list[Measurement]:
    return [
        Measurement(
            {
                "data": f"iris, {KINDS[kind]}",
                "method": f"Inf-FS, alpha {alpha}",
                "metric": "mean rank of the originals (best 2.5, chance 10.5)",
            },
            found[f"{kind}/{alpha}"].mean(axis=1).tolist(),
        )
        for kind in KINDS
        for alpha in ALPHAS
    ]


def _claims(found: dict[str, Any], n_repeats: int) -> list[Claim]:
    linear = {alpha: found[f"linear/{alpha}"] for alpha in ALPHAS}
    sine = {alpha: found[f"sine/{alpha}"] for alpha in ALPHAS}
    first = {alpha: int((linear[alpha].max(axis=1) == 4).sum()) for alpha in ALPHAS}
    nearer = {
        alpha: surely(sine[alpha].mean(axis=1) - linear[alpha].mean(axis=1)) for alpha in ALPHAS
    }
    wider = {alpha: surely(_deviations(sine[alpha]) - _deviations(linear[alpha]))
             for alpha in ALPHAS}  # fmt: skip
    most = max(first.values()) > n_repeats / 2 if n_repeats > 1 else None
    counts = ", ".join(f"{count} at {alpha}" for alpha, count in first.items())
    return [
        Claim(
            "linear-top4",
            most,
            f"draws of {n_repeats} with the four originals on ranks 1 to 4, by alpha: {counts}",
        ),
        Claim(
            "linear-better-than-periodic",
            all_sure(list(nearer.values())),
            "the mean rank is clearly better in the linear case at alpha "
            f"{_listed(nearer, True)}, and clearly worse at {_listed(nearer, False)}",
        ),
        Claim(
            "periodic-varies",
            all_sure(list(wider.values())) if n_repeats >= LEAST_FOR_SPREAD else None,
            "ranks clearly vary more between draws in the periodic case at alpha "
            f"{_listed(wider, True)}, and clearly less at {_listed(wider, False)}",
        ),
        Claim(
            "expected",
            most,
            "see the first claim: petal length and width follow each other, so no relation "
            "between columns can put both of them above all of their mixtures",
        ),
    ]


def _deviations(ranks: Any) -> Any:
    """How far the originals are from their median ranks, mean of the four, for every draw."""
    return np.abs(ranks - np.median(ranks, axis=0)).mean(axis=1)


def _listed(answers: dict[float, bool | None], wanted: bool) -> str:
    found = [str(alpha) for alpha, answer in answers.items() if answer is wanted]
    return ", ".join(found) or "no value"


def _draw(figure: Any, found: dict[str, Any]) -> None:
    from sklearn.datasets import load_iris

    names = [name.removesuffix(" (cm)") for name in load_iris().feature_names]
    axes = figure.subplots(1, 2, sharey=True)
    for ax, (kind, title) in zip(axes, KINDS.items(), strict=True):
        ranks = found[f"{kind}/0.0"]
        for column, name in enumerate(names):
            counts = np.bincount(ranks[:, column], minlength=21)[1:]
            ax.plot(np.arange(1, 21), counts / ranks.shape[0], label=name, marker=".")
        ax.set(title=f"{title} mixtures, alpha 0", xlabel="rank", xticks=[1, 5, 10, 15, 20])
    axes[0].set_ylabel("share of draws")
    axes[0].legend()
