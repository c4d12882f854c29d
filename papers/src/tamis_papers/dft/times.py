"""Table 8 of the DFT paper: running times."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from tamis_papers._run import ExperimentRun, UnitTask
from tamis_papers._sure import all_sure
from tamis_papers.dft._methods import has_xgboost, make_selector, remarks_on_packages
from tamis_papers.dft._tables import load_table
from tamis_papers.result import Claim, ExperimentResult, Measurement

DATA = ("multifeat", "colon", "arr")
# Name of the paper: selector and number of bins.
METHODS = {
    "ANOVA": ("anova", 16),
    "Feat. Imp. (XGBoost, depth 1, 300 trees)": ("importance", 16),
    "mRMR (max 100)": ("mrmr_difference", 16),
    "DFT (B = 8)": ("dft", 8),
    "DFT (B = 16)": ("dft", 16),
}
IMPORTANCE, MRMR, DFT = "Feat. Imp. (XGBoost, depth 1, 300 trees)", "mRMR (max 100)", "DFT (B = 16)"
RATIO = "mRMR time over DFT (B = 16) time"
N_RUNS = 5
LEVEL = 0.05

Seconds = dict[tuple[str, str], list[float]]


def run(run: ExperimentRun) -> ExperimentResult:
    """Every method on every table, one after the other, on one thread."""
    methods = [name for name in METHODS if name != IMPORTANCE or has_xgboost()]
    tasks = {
        (data, name): UnitTask(f"{data}/{name}", seconds_to_fit, (data, name, run.seed))
        for data in DATA
        for name in methods
        # 3,000 trees are the slow part of the table, and tell nothing new on a part of it.
        if not (run.quick and (data, name) == ("multifeat", IMPORTANCE))
    }
    found = run.units(tasks.values(), parallel=False)
    seconds = {key: found[task.name] for key, task in tasks.items()}
    return ExperimentResult(
        measurements=_measurements(seconds),
        claims=_claims(seconds),
        figures={"seconds": lambda figure: _draw(figure, seconds)},
        remarks=[
            "One thread, after a first run that is not counted; the paper names neither its "
            "machine nor its code. Our DFT is compiled, and so is our mRMR: orders and ratios are "
            "the result, seconds are shown.",
            "XGBoost grows its trees by histograms (its default now), mRMR as in dft-fig5-7.",
            *remarks_on_packages(),
        ],
    )


def seconds_to_fit(data: str, name: str, seed: int) -> list[float]:
    """Time of every run after the first."""
    from threadpoolctl import threadpool_limits

    X, y = load_table(data)
    method, n_bins = METHODS[name]
    seconds = []
    with threadpool_limits(1):
        for _ in range(N_RUNS + 1):
            selector = make_selector(method, seed, X.shape[1], n_bins=n_bins)
            start = time.perf_counter()
            selector.fit(X, y)
            seconds.append(time.perf_counter() - start)
    return seconds[1:]


def _measurements(seconds: Seconds) -> list[Measurement]:
    measured = [
        Measurement({"data": data, "method": name, "metric": "time"}, values)
        for (data, name), values in seconds.items()
    ]
    for data in DATA:
        case = {"data": data, "method": RATIO, "metric": "ratio"}
        measured.append(Measurement(case, [_ratio(seconds, data)], "of the medians"))
    return measured


def _ratio(seconds: Seconds, data: str) -> float:
    return float(np.median(seconds[data, MRMR]) / np.median(seconds[data, DFT]))


def _claims(seconds: Seconds) -> list[Claim]:
    orders: list[str] = []
    second: list[bool | None] = []
    faster: list[bool | None] = []
    for data in DATA:
        medians = {
            name: float(np.median(values)) for (one, name), values in seconds.items() if one == data
        }
        ranked = sorted(medians, key=medians.__getitem__)
        words = ", ".join(f"{_short(name)} {1000 * medians[name]:.3g} ms" for name in ranked)
        orders.append(f"{data}: {words}")
        slow = [name for name in medians if name in (IMPORTANCE, MRMR)]
        pairs = [("ANOVA", DFT), *((DFT, name) for name in slow)]
        second.append(all_sure([is_faster(seconds[data, a], seconds[data, b]) for a, b in pairs]))
        faster.append(is_faster(seconds[data, DFT], seconds[data, MRMR]))
    evidence = "; ".join(orders)
    return [
        Claim(
            "anova-first",
            all_sure(second),
            f"clearly on {second.count(True)} of {len(DATA)} tables (rank test of the runs); "
            f"{evidence}",
        ),
        Claim(
            "faster-than-mrmr",
            all_sure(faster),
            "mRMR takes so many times as long as DFT with 16 bins: "
            + ", ".join(f"{data} {_ratio(seconds, data):.3g}" for data in DATA),
        ),
    ]


def is_faster(one: list[float], other: list[float]) -> bool | None:
    """Whether runs of one take less time than runs of the other, by a rank test; None if unsure."""
    from scipy.stats import mannwhitneyu

    if mannwhitneyu(one, other).pvalue >= LEVEL:
        return None
    return float(np.median(one)) < float(np.median(other))


def _short(name: str) -> str:
    return "importance" if name == IMPORTANCE else name


def _draw(figure: Any, seconds: Seconds) -> None:
    ax = figure.subplots()
    methods = list(dict.fromkeys(name for _, name in seconds))
    width = 0.8 / len(methods)
    for number, name in enumerate(methods):
        known = [place for place, data in enumerate(DATA) if (data, name) in seconds]
        heights = [float(np.median(seconds[DATA[place], name])) for place in known]
        where = np.array(known) + (number - len(methods) / 2 + 0.5) * width
        ax.bar(where, heights, width, label=_short(name))
    ax.set(yscale="log", ylabel="seconds", xticks=range(len(DATA)))
    ax.set_xticklabels(DATA)
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=5)
