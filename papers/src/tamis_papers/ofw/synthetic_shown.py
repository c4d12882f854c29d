"""What the runs of the OFW paper's synthetic example say: rows, claims, figures 6 to 9."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamis_papers._sure import all_sure, surely, within
from tamis_papers.ofw.learning import NAMES
from tamis_papers.ofw.synthetic import EXACT, METHODS, REUSABLE, SECOND, STEPS
from tamis_papers.result import Claim, Measurement

Draws = list[dict[str, Any]]

LEFT = "left the simplex"
# Readings of vague words. "Almost equivalent" error rates, near a half, differ by no more than:
ALIKE = 0.01
# Relevant variables are told from noise if the area under the curve is more than:
APART = 0.95


def best_step(draws: Draws, method: str) -> int:
    """Step, in times the default, with the least mean training error at the end."""
    return min(STEPS, key=lambda step: float(np.mean(ends(draws, f"{method}/{step}"))))


def ends(draws: Draws, name: str, part: str = "train") -> list[float]:
    """Energy at the end, for every draw of the data."""
    if name in EXACT:
        return [draw["exact"][name][part][-1] for draw in draws]
    return [draw["runs"][name][part][-1] for draw in draws]


def measurements(found: dict[int, Draws]) -> list[Measurement]:
    """Energies at the end, and how much weight each group of variables has."""
    rows = []
    for size, draws in found.items():
        if draws[0]["exact"]:
            rows += _energy_rows(size, draws)
        rows += _group_rows(size, draws)
    return rows


def _energy_rows(size: int, draws: Draws) -> list[Measurement]:
    names = dict(EXACT) | {
        f"{method}/{step}": f"{NAMES[method]}, {step} x default step"
        for method in METHODS
        for step in STEPS
    }
    names["riemannian/as printed"] = f"{NAMES['riemannian']}, no baseline (as printed)"
    return [
        Measurement(
            {
                "data": "synthetic ternary",
                "method": method,
                "n_features": size,
                "metric": f"mean error at the end, {word}",
            },
            ends(draws, name, part),
        )
        for name, method in names.items()
        for part, word in (("train", "training"), ("test", "test"))
    ]


def _group_rows(size: int, draws: Draws) -> list[Measurement]:
    rows = []
    for method in METHODS:
        shares = np.array([groups(draw["runs"][chosen(draws, method)]) for draw in draws])
        for column, features in enumerate(("1, 4, 8", "2, 3, 5, 6, 7, 9", "10 to 100")):
            case = {
                "data": "synthetic ternary",
                "method": NAMES[method],
                "features": features,
                "n_features": size,
                "metric": "mean weight of a feature",
            }
            rows.append(Measurement(case, shares[:, column].tolist()))
    return rows


def chosen(draws: Draws, method: str) -> str:
    """The run of a method that is shown: the best step, or the default if energies are unknown."""
    if draws[0]["exact"]:
        return f"{method}/{best_step(draws, method)}"
    return f"{method}/{STEPS[0] if method == 'riemannian' else STEPS[-1]}"


def groups(one: dict[str, Any]) -> tuple[float, float, float]:
    """Mean weight of a variable for two classes, for one, and of noise."""
    weights = np.array(one["weights"])
    first, second = np.array(REUSABLE) - 1, np.array(SECOND) - 1
    return weights[first].mean(), weights[second].mean(), weights[9:].mean()


def claims(found: dict[int, Draws], enumerated: int) -> list[Claim]:
    """What the paper says of figures 6 to 9."""
    draws = found[enumerated]
    names = {method: f"{method}/{best_step(draws, method)}" for method in METHODS}
    words = {method: f"{NAMES[method]} {_mean(ends(draws, names[method]))}" for method in METHODS}
    exact = {name: f"{EXACT[name]} {_mean(ends(draws, name))}" for name in EXACT}
    starts = np.array([min(draw["exact"]["starts"]) for draw in draws])
    caught = f"best of 20 random starts of the exact descent {_mean(starts)}"
    where = f"training error at the end, k = {enumerated}, {len(draws)} draws: "
    euclidean, riemannian, diffusion = (
        ends(draws, names[method]) for method in ("euclidean", "riemannian", "diffusion")
    )
    sooner = mean_of_run(draws, names["riemannian"]) - mean_of_run(draws, names["euclidean"])
    left = [draw["runs"][names["euclidean"]]["status"] == LEFT for draw in draws]
    return [
        Claim(
            "fig6-left",
            surely(np.subtract(ends(draws, "exponential"), riemannian)),
            f"{where}{exact['exponential']}, {words['riemannian']}; {caught}",
        ),
        Claim(
            "fig6-right",
            all_sure([surely(np.subtract(riemannian, euclidean)), surely(sooner)]),
            f"{where}{words['euclidean']}, {words['riemannian']}; mean over the run (for faster) "
            f"lower by {_mean(sooner)}; Euclidean runs {_fates(draws)}",
        ),
        Claim(
            "fig7",
            within(np.subtract(euclidean, diffusion), ALIKE),
            f"{where}{words['euclidean']}, {words['diffusion']}; alike is taken as within {ALIKE}",
        ),
        Claim(
            "diffusion-slightly-better",
            surely([a - b for a, b, ended in zip(euclidean, diffusion, left, strict=True)
                    if not ended]) if not all(left) else None,
            f"{where}{words['diffusion']}, {words['euclidean']}; the gradient leaves the simplex "
            f"in {sum(left)}, which do not count",
            tested=not all(left),
        ),
        Claim(
            "fig8",
            within(np.subtract(ends(draws, "euclidean", "test"),
                               ends(draws, names["euclidean"], "test")), ALIKE),
            f"test error: exact {_mean(ends(draws, 'euclidean', 'test'))}, stochastic Euclidean "
            f"{_mean(ends(draws, names['euclidean'], 'test'))}; alike is taken as within {ALIKE}",
        ),
        *_weight_claims(found),
    ]  # fmt: skip


def mean_of_run(draws: Draws, name: str) -> Any:
    """Training error, mean over the whole run, for every draw of the data."""
    last = max(one["steps"][-1] for draw in draws for one in draw["runs"].values())
    grid = np.linspace(0, last, 100)
    runs = [draw["runs"][name] for draw in draws]
    return np.array([np.interp(grid, one["steps"], one["train"]).mean() for one in runs])


def _mean(values: Any) -> str:
    return f"{np.mean(values):.3f}"


def _fates(draws: Draws) -> str:
    left = {
        step: sum(draw["runs"][f"euclidean/{step}"]["status"] == LEFT for draw in draws)
        for step in STEPS
    }
    counts = ", ".join(f"{count} at {step} x default step" for step, count in left.items())
    return f"leave the simplex, where the algorithm ends, in {counts}, of {len(draws)} draws"


def _weight_claims(found: dict[int, Draws]) -> list[Claim]:
    tops, orders, aucs, details = [], [], [], []
    for size, draws in found.items():
        runs = [[draw["runs"][chosen(draws, method)] for method in METHODS] for draw in draws]
        tops.append(np.array([np.mean([_are_first(one) for one in by_draw]) for by_draw in runs]))
        # Of every draw, the mean over the methods: a row per draw, a column per group.
        table = np.array([np.mean([groups(one) for one in by_draw], axis=0) for by_draw in runs])
        orders += [surely(table[:, 0] - table[:, 1]), surely(table[:, 1] - table[:, 2])]
        shares = table.mean(axis=0)
        aucs.append(float(np.mean([_area(one) for by_draw in runs for one in by_draw])))
        details.append(f"k = {size}: {shares[0]:.3f}, {shares[1]:.3f}, {shares[2]:.4f}")
    means = f"mean weight of 1, 4, 8, of the other six, of noise: {'; '.join(details)}"
    first = ", ".join(f"{100 * top.mean():.0f} %" for top in tops)
    areas = ", ".join(f"{area:.3f}" for area in aucs)
    areas = f"area under the curve, relevant against noise: {areas} (told apart from {APART} on)"
    apart = min(aucs) > APART
    return [
        Claim(
            "fig9-reusable",
            all_sure([surely(top - 0.5) for top in tops]),
            f"runs with 1, 4, 8 on ranks 1 to 3 (more than half are wanted), by k as below: "
            f"{first}; {means}",
        ),
        Claim(
            "fig9-second",
            all_sure([*orders, apart]),
            f"{areas}; {means}",
        ),
        Claim("noise-low", apart, areas),
        Claim("discussion", all_sure(orders), means),
    ]


def _are_first(one: dict[str, Any]) -> bool:
    order = np.argsort(-np.array(one["weights"]), kind="stable")[:3] + 1
    return set(order.tolist()) == set(REUSABLE)


def _area(one: dict[str, Any]) -> float:
    weights = np.array(one["weights"])
    relevant, noise = weights[:9, None], weights[None, 9:]
    return float((relevant > noise).mean() + 0.5 * (relevant == noise).mean())


def draw_curves(figure: Any, draws: Draws, part: str) -> None:
    """Figures 6 and 7 (training) or 8 (test): energy against classifiers trained."""
    ax = figure.subplots()
    last = max(one["steps"][-1] for draw in draws for one in draw["runs"].values())
    grid = np.linspace(0, last, 100)
    for method in METHODS:
        curves = [
            np.interp(grid, draw["runs"][name]["steps"], draw["runs"][name][part])
            for draw in draws
            for name in [chosen(draws, method)]
        ]
        label = f"{NAMES[method]}, {chosen(draws, method).partition('/')[2]} x default step"
        ax.plot(grid, np.mean(curves, axis=0), label=label)
        ax.fill_between(grid, np.min(curves, axis=0), np.max(curves, axis=0), alpha=0.15)
    for style, (name, label) in zip(("--", ":"), EXACT.items(), strict=True):
        ax.axhline(np.mean(ends(draws, name, part)), color="black", ls=style, label=f"{label}, end")
    word = "training" if part == "train" else "test"
    ax.set(xlabel="classifiers trained", ylabel=f"mean {word} error of drawn subsets")
    ax.set_title(f"Mean and range of {len(draws)} draws of the data")
    ax.legend(fontsize="small", loc="upper right")


def draw_weights(figure: Any, found: dict[int, Draws]) -> None:
    """Figure 9: weights of the first 15 variables by how many are drawn."""
    ax = figure.subplots()
    table = [
        np.mean(
            [draw["runs"][chosen(draws, "riemannian")]["weights"][:15] for draw in draws], axis=0
        )
        for draws in found.values()
    ]
    image = ax.imshow(table, cmap="Greys", vmin=0.0, aspect="auto")
    ax.set_xticks(range(15), [str(number) for number in range(1, 16)])
    ax.set_yticks(range(len(found)), [f"|ω| = {size}" for size in found])
    ax.set(xlabel="variable (1, 4, 8 serve two classes, the others up to 9 one, from 10 on none)")
    ax.set_title(f"Mean weight, {NAMES['riemannian']}")
    figure.colorbar(image, ax=ax, label="weight", shrink=0.7)
