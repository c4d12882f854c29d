"""What the runs on leukemia say: rows, claims, figures 24 to 26 of the OFW paper."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamis.reproduce.ofw.learning import NAMES, percent, surely
from tamis.reproduce.ofw.leukemia import METHODS, N_DRAWN, PAPER_TABLE
from tamis.reproduce.outcome import Claim, Measurement

LABELS = {
    "OFW diffusion": "OFW, reflected diffusion",
    "OFW riemannian": "OFW, exponential gradient",
    "RFE": "RFE",
    "L0-SVM": "L0-SVM",
    "Fisher": "Fisher",
}
ENERGY = "mean error on the training set"


def _folds(units: dict[str, Any], table: str, repeat: int) -> list[Any]:
    return [unit for name, unit in units.items() if name.startswith(f"{table}/{repeat}/")]


def errors(units: dict[str, Any], settings: dict[str, Any], table: str, *path: str) -> list[float]:
    """Share of wrong rows over the folds, in percent, one per repeat."""
    found = []
    for repeat in range(settings["n_repeats"]):
        wrong = total = 0
        for fold in _folds(units, table, repeat):
            value = fold
            for key in path:
                value = value[key]
            wrong, total = wrong + value, total + fold["n_test"]
        found.append(100.0 * wrong / total)
    return found


def measurements(
    units: dict[str, Any], whole: dict[str, Any], settings: dict[str, Any]
) -> list[Measurement]:
    """Energies, the time, and the errors of figures 25 and 26."""
    paper = [unit for name, unit in units.items() if name.startswith(PAPER_TABLE)]
    before, after = (
        percent(unit["energies"]["diffusion"][i] for unit in paper) for i in (0, 1)
    )  # fmt: skip
    rows = [
        _row("uniform draws of 100 features", ENERGY, before, n_features=N_DRAWN),
        _row("OFW constrained diffusion, k = 100", ENERGY, after, n_features=N_DRAWN),
        _row("OFW exponential gradient, k = 100", ENERGY,
             percent(unit["energies"]["riemannian"][1] for unit in paper), n_features=N_DRAWN),
        _row("OFW", "learning time", [whole["diffusion"][2] / 3600.0]),
    ]  # fmt: skip
    for table in settings["tables"]:
        for name, label in LABELS.items():
            rows += [
                _row(f"{label}, {table}", "error, ten folds",
                     errors(units, settings, table, "wrong", name, str(count)), n_features=count)
                for count in settings["counts"]
            ]  # fmt: skip
        everything = errors(units, settings, table, "all")
        rows.append(_row(f"none, {table}", "error, ten folds", everything, n_features=3859))
    return rows + [
        _row(f"random forest, {n_trees} trees", "error, ten folds",
             errors(units, settings, PAPER_TABLE, "forests", str(n_trees)), n_features=3859)
        for n_trees in settings["trees"]
    ]  # fmt: skip


def _row(method: str, metric: str, values: list[float], **more: Any) -> Measurement:
    return Measurement({"data": "leukemia", "method": method, "metric": metric, **more}, values)


def claims(units: dict[str, Any], settings: dict[str, Any]) -> list[Claim]:
    """What the paper says of figures 25 and 26."""

    def at(name: str, count: int) -> float:
        return float(np.mean(errors(units, settings, PAPER_TABLE, "wrong", name, str(count))))

    counts = settings["counts"]
    everything = float(np.mean(errors(units, settings, PAPER_TABLE, "all")))
    middle = [count for count in counts if 20 <= count <= 25]
    best = {name: min(at(name, count) for count in counts) for name in LABELS}
    five = {name: at(name, 5) for name in ("OFW diffusion", "RFE", "L0-SVM")}
    more = {name: float(np.mean([at(name, c) for c in middle])) for name in five}
    pair = {name: float(np.mean([at(name, c) for c in counts])) for name in ("L0-SVM", "RFE")}
    rfe, l0 = (
        np.array([errors(units, settings, PAPER_TABLE, "wrong", name, str(c)) for c in counts])
        for name in ("RFE", "L0-SVM")
    )
    trees = [
        float(np.mean(errors(units, settings, PAPER_TABLE, "forests", str(n))))
        for n in settings["trees"]
    ]
    one_row = 100.0 / 72
    return [
        Claim(
            "no-selection-better",
            everything <= min(best.values()),
            f"all genes {everything:.1f} %; best of all counts: {_told(best)}",
        ),
        Claim("small-worse", five["OFW diffusion"] > min(five["RFE"], five["L0-SVM"]), _told(five)),
        Claim(
            "competitive-20-25",
            more["OFW diffusion"] <= min(more["RFE"], more["L0-SVM"]) + one_row,
            f"mean of {' and '.join(map(str, middle))} genes: {_told(more)} (one sample is 1.4 %)",
        ),
        Claim("l0-beats-rfe", surely((rfe - l0).mean(axis=0)), f"mean over counts: {_told(pair)}"),
        Claim(
            "rf-irregular",
            bool(np.any(np.diff(trees) > one_row)),
            "error by number of trees: "
            + ", ".join(f"{e:.1f} % ({n})" for n, e in zip(settings["trees"], trees, strict=True))
            + "; it is said to rise again where it does by more than one sample",
        ),
    ]


def _told(values: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.1f} %" for name, value in values.items())


def draw_energy(figure: Any, whole: dict[str, Any]) -> None:
    """Figure 24: energy during learning on all samples."""
    ax = figure.subplots()
    for method in METHODS:
        evaluations, energy, _ = whole[method]
        ax.plot(evaluations, percent(energy), label=NAMES[method])
    ax.set(xlabel="classifiers trained", ylabel="mean error of 100 drawn genes, percent")
    ax.set(ylim=(0, None))
    ax.legend()


def draw_genes(figure: Any, units: dict[str, Any], settings: dict[str, Any]) -> None:
    """Figure 25: error over ten folds by number of genes."""
    axes = figure.subplots(1, len(settings["tables"]), sharey=True, squeeze=False)[0]
    for ax, table in zip(axes, settings["tables"], strict=True):
        for name, label in LABELS.items():
            means = [
                np.mean(errors(units, settings, table, "wrong", name, str(count)))
                for count in settings["counts"]
            ]
            ax.plot(settings["counts"], means, marker="o", label=label)
        everything = np.mean(errors(units, settings, table, "all"))
        ax.axhline(everything, color="black", ls=":", label="all genes")
        ax.set(xscale="log", xlabel="genes", title=table)
    axes[0].set_ylabel("error over the folds, percent")
    axes[0].legend(fontsize="small")


def draw_trees(figure: Any, units: dict[str, Any], settings: dict[str, Any]) -> None:
    """Figure 26: error of forests by number of trees, mean and range of the repeats."""
    ax = figure.subplots()
    table = np.array(
        [errors(units, settings, PAPER_TABLE, "forests", str(n)) for n in settings["trees"]]
    )
    mean = table.mean(axis=1)
    spread = [mean - table.min(axis=1), table.max(axis=1) - mean]
    ax.errorbar(settings["trees"], mean, yerr=spread, marker="o", capsize=3)
    ax.set(xscale="log", xlabel="trees", ylabel="error over the folds, percent")
