"""Tables 1 to 5 of the DFT paper: MNIST and Fashion-MNIST, clean and noisy, at the elbows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from tamis_papers._run import ExperimentRun
from tamis_papers._sure import all_sure, in_part, surely
from tamis_papers.dft._claims import share_claim
from tamis_papers.dft._elbow_cells import (
    FULL,
    Cells,
    Rankings,
    cells_of,
    name_of,
    networks_of,
    rankings_of,
)
from tamis_papers.dft._features import (
    N_FEATURES,
    NOISE_REMARK,
    Deep,
    accuracies,
    load_features,
    number_of_networks,
    remarks_on_network,
)
from tamis_papers.dft._methods import (
    IMPORTANCE_REMARK,
    LEARNER_REMARK,
    fitted,
    known,
    remarks_on_packages,
)
from tamis_papers.dft._tables import accuracy
from tamis_papers.result import Claim, ExperimentResult, Measurement

# Data, whether noisy, early and late elbow as the paper reads them from the DFT curve.
CONDITIONS = (
    ("mnist", False, 30, 100),
    ("mnist", True, 40, 100),
    ("fashion-mnist", False, 30, 150),
    ("fashion-mnist", True, 40, 150),
)
METHODS = {"anova": "ANOVA", "correlation": "Corr.", "importance": "Feat. imp.", "dft": "DFT"}
LEARNERS = ("LR", "SVM (RBF)", "RF", "XGBoost")
OWN = "DFT at our own elbow"
GAP = "accuracy gap full set minus late elbow"
# What the paper calls comparable, small and robust: the largest such differences in its own tables
# (Table 5; 1.6 on noisy Fashion-MNIST, which is 0.66 more than on clean).
COMPARABLE, SMALL_GAP, SIMILAR_GAP = 1.11, 1.6, 0.66
# Its share of cells in which DFT is best at the early elbow.
BEST_AT_EARLY = 13 / 16


def run(run: ExperimentRun) -> ExperimentResult:
    """Networks, then rankings, then learners on the first columns of every ranking."""
    conditions, plan = networks_of(run, CONDITIONS)
    learners = known(("LR", "RF") if run.quick else LEARNERS)
    networks = accuracies(run, [deep for deep, _, _ in plan])
    rankings = rankings_of(run, plan, METHODS, ranking)
    cells = cells_of(run, plan, rankings, METHODS, learners, learner_accuracy, ("dft", OWN))
    elbows = _elbows(rankings)
    return ExperimentResult(
        measurements=_measurements(networks, cells, elbows, conditions),
        claims=_claims(cells, elbows, plan[0][0].size.test_rows),
        figures={"accuracy": lambda figure: _draw(figure, cells, learners)},
        remarks=[
            *remarks_on_network(run),
            NOISE_REMARK,
            "All methods keep as many features as the paper's early and late elbow of DFT; the "
            "elbows of our own DFT curves follow as a line of their own.",
            number_of_networks(len(plan) // len(conditions)),
            LEARNER_REMARK,
            IMPORTANCE_REMARK,
            *remarks_on_packages(),
        ],
    )


def ranking(deep: Deep, method: str) -> dict[str, Any]:
    """Columns from best to worst by the training rows, and the elbows of the scores."""
    from tamis.cutoff import find_elbows

    features = load_features(deep)
    selector = fitted(method, features.X, features.y, deep.seed + deep.repeat)
    early, late = find_elbows(np.sort(selector.scores_)[::-1])
    return {"order": selector.order_.tolist(), "early": early, "late": late}


def learner_accuracy(deep: Deep, learner: str, columns: Sequence[int]) -> float:
    """Test accuracy of a learner on some of the features, in percent."""
    X, y, X_test, y_test, _ = load_features(deep)
    return accuracy(learner, X, y, X_test, y_test, columns, deep.seed + deep.repeat)


def _elbows(rankings: Rankings) -> dict[tuple[str, str], list[int]]:
    """Our own elbows of the DFT curve, by condition and kind."""
    found: dict[tuple[str, str], list[int]] = defaultdict(list)
    for (deep, method), one in rankings.items():
        if method == "dft":
            for which in ("early", "late"):
                found[deep.name, which].append(one[which])
    return dict(found)


def _measurements(
    networks: dict[Deep, float],
    cells: Cells,
    elbows: dict[tuple[str, str], list[int]],
    conditions: Sequence[tuple[str, bool, int, int]],
) -> list[Measurement]:
    by_name: dict[str, list[float]] = defaultdict(list)
    for deep, value in networks.items():
        by_name[deep.name].append(value)
    measured = [
        Measurement(_case(name, "LeNet-5 (no selection)", "LeNet-5"), values)
        for name, values in by_name.items()
    ]
    counts = {name_of(data, noisy): {"early": early, "late": late, "full": N_FEATURES}
              for data, noisy, early, late in conditions}  # fmt: skip
    for (name, method, learner, elbow), values in cells.items():
        case: dict[str, Any] = _case(name, method, learner) | {"elbow": elbow}
        if method != OWN:
            case["n_features"] = counts[name][elbow]
        measured.append(Measurement(case, values))
    for name, gap in _gaps(cells).items():
        measured.append(Measurement(_case(name, "DFT", "XGBoost", GAP), gap))
    for (name, which), found in elbows.items():
        metric = f"{which} elbow of the scores"
        measured.append(Measurement({"data": name, "method": "DFT", "metric": metric}, found))
    return measured


def _case(data: str, method: str, learner: str, metric: str = "accuracy") -> dict[str, Any]:
    return {"data": data, "method": method, "learner": learner, "metric": metric}


def _gaps(cells: Cells, learner: str = "XGBoost") -> dict[str, list[float]]:
    """Full set less DFT at the late elbow, by condition; one per network."""
    return {
        name: np.subtract(values, cells[name, "DFT", learner, "late"]).tolist()
        for (name, method, known_learner, _), values in cells.items()
        if method == FULL and known_learner == learner
    }


def _claims(cells: Cells, elbows: dict[tuple[str, str], list[int]], n_test: int) -> list[Claim]:
    margins = {which: dft_margins(cells, which) for which in ("early", "late")}
    best = {which: sum(margin >= 0 for margin in found) for which, found in margins.items()}
    both = margins["early"] + margins["late"]
    n = {which: len(found) for which, found in margins.items()}
    gaps = _gaps(cells)
    errors = {name: _error_of_gap(cells, name, n_test) for name in gaps}
    words = ", ".join(f"{name} {np.mean(gap):.2f}" for name, gap in gaps.items())
    shares = {name: float(np.mean(found)) / N_FEATURES
              for (name, which), found in elbows.items() if which == "late"}  # fmt: skip
    within = sum(margin >= -COMPARABLE for margin in both)
    return [
        Claim("comparable", within == len(both),
              f"DFT is at most {COMPARABLE} points (the paper's largest gap) below the best other "
              f"method in {within} of {len(both)} cells; worst {min(both):+.2f}"),
        Claim("early-best", in_part(best["early"] / n["early"], BEST_AT_EARLY),
              f"DFT is best of all in {best['early']} of {n['early']} cells at the early elbow; in "
              "the paper in 13 of 16"),
        Claim("late-not-best", best["late"] <= n["late"] / 2,
              f"DFT is best of all in {best['late']} of {n['late']} cells at the late elbow, in "
              "the paper in 4 of 16; not best is taken as in no more than half"),
        Claim("small-gap", all_sure([surely(np.subtract(SMALL_GAP, gap), errors[name])
                                     for name, gap in gaps.items()]),
              "full set less late elbow of DFT with XGBoost, in points: "
              f"{words or 'XGBoost was not run'}; small is taken as up to {SMALL_GAP}, the paper's "
              "largest", bool(gaps)),
        Claim(*share_claim("DFT", shares)),
        _robust(gaps, errors),
    ]  # fmt: skip


def dft_margins(cells: Cells, elbow: str) -> list[float]:
    """DFT less the best other method, a number per condition and learner."""
    rivals = [name for name in METHODS.values() if name != "DFT"]
    return [
        float(np.mean(values))
        - max(float(np.mean(cells[name, rival, learner, which]))
              for rival in rivals if (name, rival, learner, which) in cells)
        for (name, method, learner, which), values in cells.items()
        if method == "DFT" and which == elbow
    ]  # fmt: skip


def _error_of_gap(cells: Cells, name: str, n_test: int, learner: str = "XGBoost") -> float:
    """Standard error by the number of test rows, in points, as if other rows were drawn for each.

    The rows are the same, so it is less; but other networks would differ, too.
    """
    both = (cells[name, FULL, learner, "full"], cells[name, "DFT", learner, "late"])
    shares = np.array([np.mean(values) / 100 for values in both])
    return float(100 * np.sqrt((shares * (1 - shares)).sum() / n_test))


def _robust(gaps: dict[str, list[float]], errors: dict[str, float]) -> Claim:
    """Whether noise makes the gaps grow no more than in the paper."""
    growth = {
        name.removesuffix(" clean"): np.subtract(gaps[name.replace("clean", "noisy")], gap)
        for name, gap in gaps.items()
        if name.replace("clean", "noisy") in gaps and name.endswith("clean")
    }
    if not growth:
        return Claim("robust", None, "clean and noisy were not both run with XGBoost", False)
    words = ", ".join(f"{data} {values.mean():+.2f}" for data, values in growth.items())
    similar = [
        surely(
            SIMILAR_GAP - values, float(np.hypot(errors[f"{data} clean"], errors[f"{data} noisy"]))
        )
        for data, values in growth.items()
    ]
    return Claim(
        "robust",
        all_sure(similar),
        f"change of the gap by noise, in points: {words}; up to {SIMILAR_GAP}, the paper's larger "
        "change, is taken as similar",
    )


def _draw(figure: Any, cells: Cells, learners: Sequence[str]) -> None:
    names = list(dict.fromkeys(name for name, *_ in cells))
    figure.set_size_inches(8.5, 2.2 + 2.0 * len(names))
    axes = figure.subplots(len(names), 2, squeeze=False, sharey="row")
    for row, name in zip(axes, names, strict=True):
        for ax, elbow in zip(row, ("early", "late"), strict=True):
            methods = list(dict.fromkeys(m for n, m, _, e in cells if n == name and e == elbow))
            width = 0.8 / len(methods)
            for number, method in enumerate(methods):
                heights = [float(np.mean(cells[name, method, one, elbow])) for one in learners]
                where = np.arange(len(learners)) + (number - len(methods) / 2 + 0.5) * width
                ax.bar(where, heights, width, label=method)
            full = [float(np.mean(cells[name, FULL, one, "full"])) for one in learners]
            ax.plot(range(len(learners)), full, "k_", markersize=28, label="all 400")
            ax.set(title=f"{name}, {elbow} elbow", xticks=range(len(learners)))
            ax.set_xticklabels(learners)
        lowest = min(float(np.mean(v)) for key, v in cells.items() if key[0] == name)
        row[0].set(ylabel="accuracy (%)", ylim=(lowest - 2, None))
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=6)
