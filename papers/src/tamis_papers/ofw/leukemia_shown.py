"""What the runs on leukemia say: rows, claims, figures 24 to 26 of the OFW paper."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamis_papers._sure import all_sure, in_part, surely
from tamis_papers.ofw.learning import NAMES, percent
from tamis_papers.ofw.leukemia import METHODS, N_DRAWN, PAPER_TABLE
from tamis_papers.result import Claim, Measurement

LABELS = {
    "OFW diffusion": "OFW, reflected diffusion",
    "OFW riemannian": "OFW, exponential gradient",
    "RFE": "RFE",
    "L0-SVM": "L0-SVM",
    "Fisher": "Fisher",
}
OFW = "OFW diffusion"
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

    def at(name: str, *some: int) -> Any:
        """Errors of the repeats, mean over some numbers of genes."""
        found = [errors(units, settings, PAPER_TABLE, "wrong", name, str(c)) for c in some]
        return np.mean(found, axis=0)

    counts = settings["counts"]
    everything = np.array(errors(units, settings, PAPER_TABLE, "all"))
    middle = [count for count in counts if 20 <= count <= 25]
    best = {name: min((at(name, count) for count in counts), key=np.mean) for name in LABELS}
    five = {name: at(name, 5) for name in (OFW, "RFE", "L0-SVM")}
    more = {name: at(name, *middle) for name in five}
    pair = {name: at(name, *counts) for name in ("L0-SVM", "RFE")}
    # A row per repeat, a column per number of trees.
    trees = np.array(
        [errors(units, settings, PAPER_TABLE, "forests", str(n)) for n in settings["trees"]]
    ).T
    one_row = 100.0 / 72
    rises = (np.diff(trees, axis=1) > one_row).any(axis=1)
    return [
        Claim(
            "no-selection-better",
            surely(min(best.values(), key=np.mean) - everything),
            f"all genes {everything.mean():.1f} %; best of all counts: {_told(best)}",
        ),
        Claim(
            "small-worse",
            all_sure([surely(five[OFW] - five[name]) for name in ("RFE", "L0-SVM")]),
            _told(five),
        ),
        Claim(
            "competitive-20-25",
            all_sure([surely(more[name] + one_row - more[OFW]) for name in ("RFE", "L0-SVM")]),
            f"mean of {' and '.join(map(str, middle))} genes: {_told(more)}; up to one sample "
            "(1.4 %) more is taken as competitive",
        ),
        Claim("l0-beats-rfe", surely(pair["RFE"] - pair["L0-SVM"]),
              f"mean over counts: {_told(pair)}"),
        Claim(
            "rf-irregular",
            in_part(float(rises.mean()), 1.0) if rises.size > 1 else None,
            f"with more trees the error rises again by more than one sample, which is taken as "
            f"irregular, in {rises.sum()} of {rises.size} repeats; their mean by number of trees: "
            + ", ".join(f"{e:.1f} % ({n})"
                        for n, e in zip(settings["trees"], trees.mean(axis=0), strict=True)),
        ),
    ]  # fmt: skip


def _told(values: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value.mean():.1f} %" for name, value in values.items())


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
