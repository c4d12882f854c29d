"""Figures 5 to 7 of the DFT paper: against mRMR."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tamis_papers._run import ExperimentRun, UnitTask
from tamis_papers._sure import all_sure, in_part, surely
from tamis_papers.dft._methods import LEARNER_REMARK, known, remarks_on_packages
from tamis_papers.dft._tables import (
    Rows,
    folds_of,
    held_out_scores,
    load_table,
    order_on_all_rows,
)
from tamis_papers.result import Claim, ExperimentResult, Measurement

METHODS = {"dft": "DFT", "mrmr_difference": "mRMR", "mrmr_quotient": "mRMR (quotient)"}
RIVAL = "mrmr_difference"
COUNTS = (1, 2, 3, 5, 10, 15, 20, 30, 50, 80, 100)
# Readings of words that the paper illustrates by curves only. "Very competitive": the error is no
# more than this many points above that of mRMR.
COMPETITIVE = 2.0
# A curve has converged when it is this near to its last value, and stays so.
CONVERGED = 1.0
# "Much lower": by at least half of the gaps that are read off the paper's figure.
PAPER_GAPS = {"SVM": 2.5, "XGBoost": 5.0}


class RedundancySetting(NamedTuple):
    """How a table is split, and which SVM it gets; 0 folds means that every row is held out."""

    n_folds: int
    n_repeats: int
    svm: str


SETTINGS = {
    "multifeat": RedundancySetting(10, 1, "SVM (RBF)"),
    "colon": RedundancySetting(0, 1, "SVM (linear)"),
    "arr": RedundancySetting(10, 3, "SVM (RBF)"),
}
QUICK = {"arr": RedundancySetting(3, 1, "SVM (RBF)")}

# Data, method, learner: a row per split and a column per count.
Errors = dict[tuple[str, str, str], Any]


def run(run: ExperimentRun) -> ExperimentResult:
    """Error of both methods over the number of features, on three tables."""
    settings = QUICK if run.quick else SETTINGS
    counts = (5, 20, 100) if run.quick else COUNTS
    settings = {
        data: one._replace(n_repeats=run.at_most(one.n_repeats)) for data, one in settings.items()
    }
    learners = known(("SVM",) if run.quick else ("SVM", "XGBoost"))
    firsts = run.units(
        UnitTask(f"first/{method}", order_on_all_rows, ("multifeat", method, run.seed))
        for method in METHODS
    )
    errors = _errors(run, settings, counts, learners)
    return ExperimentResult(
        measurements=_measurements(errors, counts, settings),
        claims=_claims(errors, counts, firsts),
        figures={"errors": lambda figure: _draw(figure, errors, counts, learners)},
        remarks=[
            "mRMR: mutual information of columns in five bins of equal weight, relevance less "
            "redundancy (the incremental search of Peng and others, to which the paper refers); "
            "relevance over redundancy follows as a second line. The paper does not say which, nor "
            "how it discretises.",
            f"Features are chosen inside the folds ({_folds_in_words(settings)}). SVM: linear for "
            "colon as in the paper's Table 7, else RBF.",
            "The paper cites its Figure 7, which is ARR, for the convergence; it must mean 6.",
            LEARNER_REMARK,
            *remarks_on_packages(),
        ],
    )


def _folds_in_words(settings: dict[str, RedundancySetting]) -> str:
    def words(one: RedundancySetting) -> str:
        if not one.n_folds:
            return "every row is held out once"
        return f"{one.n_folds} folds " + (
            "once" if one.n_repeats == 1 else f"{one.n_repeats} times"
        )

    return "; ".join(f"{data}: {words(one)}" for data, one in settings.items())


def _errors(
    run: ExperimentRun,
    settings: dict[str, RedundancySetting],
    counts: Sequence[int],
    learners: Sequence[str],
) -> Errors:
    tasks: dict[tuple[str, str, int], UnitTask] = {}
    for data, setting in settings.items():
        y = load_table(data)[1]
        splits: list[Rows] = [(row,) for row in range(y.size)]
        if setting.n_folds:
            splits = folds_of(y, setting.n_folds, setting.n_repeats, run.seed)
        names = tuple(setting.svm if one == "SVM" else one for one in learners)
        for method in METHODS:
            for number, test in enumerate(splits):
                call = (data, test, method, tuple(counts), names, run.seed)
                task = UnitTask(f"{data}/{method}/{number}", held_out_scores, call)
                tasks[data, method, number] = task
    found = run.units(tasks.values())
    rows: dict[tuple[str, str, str], list[list[float]]] = defaultdict(list)
    for (data, method, _), task in tasks.items():
        for learner, values in found[task.name].items():
            short = "SVM" if learner.startswith("SVM") else learner
            rows[data, method, short].append([100 - value for value in values])
    return {key: np.array(values) for key, values in rows.items()}


def _measurements(
    errors: Errors, counts: Sequence[int], settings: dict[str, RedundancySetting]
) -> list[Measurement]:
    measured = []
    for (data, method, learner), values in errors.items():
        for column, count in enumerate(counts):
            case = {
                "data": data, "method": METHODS[method], "learner": learner, "n_features": count,
                "metric": "error (%)",
            }  # fmt: skip
            measured.append(Measurement(case, values[:, column].tolist()))
    for method in (name for name in METHODS if name != "dft"):
        for (data, other, learner), values in errors.items():
            if (data, other) == ("arr", method) and 100 in counts:
                gap = values[:, -1] - errors[data, "dft", learner][:, -1]
                against = "" if method == RIVAL else " (quotient)"
                case = {
                    "data": data, "method": f"DFT against mRMR{against}", "learner": learner,
                    "n_features": 100, "metric": "error of mRMR minus error of DFT",
                }  # fmt: skip
                measured.append(Measurement(case, gap.tolist()))
    return measured


def _claims(errors: Errors, counts: Sequence[int], orders: dict[str, list[int]]) -> list[Claim]:
    gaps = {
        key[0::2]: values - errors[key[0], RIVAL, key[2]]
        for key, values in errors.items()
        if key[1] == "dft"
    }
    return [
        _competitive(gaps, counts),
        _same_first(orders["first/dft"], orders[f"first/{RIVAL}"]),
        *_multifeat(gaps, counts),
        _converge(errors, counts),
        _arrhythmia(errors),
    ]


def _same_first(ours: list[int], theirs: list[int]) -> Claim:
    return Claim(
        "same-first",
        ours[0] == theirs[0],
        f"first columns of MultiFeat: DFT {ours[0]}, mRMR {theirs[0]}, which is number "
        f"{ours.index(theirs[0]) + 1} of DFT",
    )


def _competitive(gaps: dict[Any, Any], counts: Sequence[int]) -> Claim:
    chosen = {key: gap for key, gap in gaps.items() if key[0] in ("multifeat", "colon")}
    if not chosen:
        return Claim("competitive", None, "MultiFeat and colon are not in a quick run", False)
    late = [column for column, count in enumerate(counts) if count >= 10]
    worst = {key: float(gap.mean(axis=0)[late].max()) for key, gap in chosen.items()}
    words = ", ".join(f"{data} {learner} {gap:+.1f}" for (data, learner), gap in worst.items())
    near = [gap <= COMPETITIVE for gap in worst.values()]
    return Claim(
        "competitive", all_sure(near),
        f"largest error of DFT less that of mRMR from 10 features on, in points: {words}; up to "
        f"{COMPETITIVE:g} is taken as competitive",
    )  # fmt: skip


def _multifeat(gaps: dict[Any, Any], counts: Sequence[int]) -> list[Claim]:
    chosen = {key[1]: gap for key, gap in gaps.items() if key[0] == "multifeat"}
    if not chosen:
        missing = "MultiFeat is not in a quick run"
        return [
            Claim(name, None, missing, tested=False)
            for name in ("mrmr-better-at-5", "narrow-after-10")
        ]
    five, ten = counts.index(5), counts.index(10)
    at_five = {learner: float(gap[:, five].mean()) for learner, gap in chosen.items()}
    after = {one: float(np.abs(gap.mean(axis=0)[ten:]).max()) for one, gap in chosen.items()}
    words = ", ".join(f"{learner} {gap:+.1f}" for learner, gap in at_five.items())
    narrow = ", ".join(f"{learner} {gap:.1f}" for learner, gap in after.items())
    better = {learner: surely(gap[:, five]) for learner, gap in chosen.items()}
    # Where no gap at 5 is sure, there is none to narrow.
    smaller = [None if better[one] is None else after[one] < abs(at_five[one]) / 2 for one in after]
    return [
        Claim("mrmr-better-at-5", all_sure(list(better.values())),
              f"error of DFT less that of mRMR at 5 features, in points: {words}"),
        Claim("narrow-after-10", all_sure(smaller),
              f"largest difference from 10 features on, in points: {narrow}; at 5: {words}; less "
              "than half is taken as substantially narrowed"),
    ]  # fmt: skip


def converged_at(errors: Any, counts: Sequence[int]) -> int:
    """Number of features from which the error stays within a point of its last value."""
    far = np.flatnonzero(np.abs(np.asarray(errors) - errors[-1]) > CONVERGED)
    return counts[int(far[-1]) + 1] if far.size else counts[0]


def _converge(errors: Errors, counts: Sequence[int]) -> Claim:
    found = {
        (data, learner): (
            converged_at(values.mean(axis=0), counts),
            converged_at(errors[data, RIVAL, learner].mean(axis=0), counts),
        )
        for (data, method, learner), values in errors.items()
        if method == "dft" and data != "arr"
    }
    if not found:
        return Claim("converge", None, "MultiFeat and colon are not in a quick run", False)
    words = ", ".join(f"{data} {learner} {a} and {b}" for (data, learner), (a, b) in found.items())
    similar = [max(pair) <= 2 * min(pair) for pair in found.values()]
    return Claim(
        "converge", in_part(float(np.mean(similar)), 1.0),
        f"features from which DFT and mRMR stay within a point of their last error: {words}; up to "
        "twice as many is taken as similar",
    )  # fmt: skip


def _arrhythmia(errors: Errors) -> Claim:
    gaps = {
        learner: errors["arr", RIVAL, learner][:, -1] - values[:, -1]
        for (data, method, learner), values in errors.items()
        if (data, method) == ("arr", "dft")
    }
    words = ", ".join(
        f"{learner} {gap.mean():+.1f} (the paper: about {PAPER_GAPS[learner]:g})"
        for learner, gap in gaps.items()
    )
    clear = sum(surely(gap) is True for gap in gaps.values())
    return Claim(
        "arr-much-lower",
        all_sure([_is_much(gap, PAPER_GAPS[learner] / 2) for learner, gap in gaps.items()]),
        f"error of mRMR less that of DFT at 100 features, in points: {words}; clearly above 0 for "
        f"{clear} of {len(gaps)} learners, and half of the paper's is taken as much",
    )


def _is_much(gap: Any, least: float) -> bool | None:
    """Whether a gap is surely there and large enough; False if it is surely smaller."""
    if surely(gap) and gap.mean() >= least:
        return True
    return False if surely(least - gap) else None


def _draw(figure: Any, errors: Errors, counts: Sequence[int], learners: Sequence[str]) -> None:
    names = list(dict.fromkeys(data for data, _, _ in errors))
    figure.set_size_inches(1 + 3.2 * len(learners), 1 + 2.7 * len(names))
    axes = figure.subplots(len(names), len(learners), squeeze=False, sharex=True, sharey="row")
    for row, data in zip(axes, names, strict=True):
        for ax, learner in zip(row, learners, strict=True):
            for method, label in METHODS.items():
                ax.plot(counts, errors[data, method, learner].mean(axis=0), "o-",
                        markersize=3, label=label)  # fmt: skip
            ax.set(title=f"{data}, {learner}")
        row[0].set_ylabel("error (%)")
    for ax in axes[-1]:
        ax.set_xlabel("features")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
