"""All selectors on all data sets, one protocol: average ranks, stability, time."""

from __future__ import annotations

from typing import Any

from tamis_papers._run import ExperimentRun, UnitTask
from tamis_papers.arena import shown
from tamis_papers.arena.ranks import is_complete, standing
from tamis_papers.arena.tables import BUNDLED, MOST_ROWS, QUICK_ROWS, families, split_by_task
from tamis_papers.arena.unit import counts_for, run_selector
from tamis_papers.result import ExperimentResult, Measurement

N_SPLITS = 5
QUICK_METHODS = ("dft", "fisher", "inffs", "randomranking")
# Seconds of computing for a split after which a selector is stopped.
LIMIT, QUICK_LIMIT = 20.0, 10.0


def run(run: ExperimentRun) -> ExperimentResult:
    """Run every selector on every table that it suits."""
    plan = make_plan(run.quick)
    plan["n_splits"] = run.at_most(plan["n_splits"])
    cells = run_splits(run, plan)
    standings = {
        task: standing(cells, families(plan[task]), plan["methods"][task], plan["n_splits"])
        for task in ("classification", "regression")
        if plan[task]
    }
    view = shown.ArenaView(cells, standings, plan)
    return ExperimentResult(
        measurements=_measurements(view),
        figures=view.figures(),
        tables=view.tables(),
        findings=view.findings(),
        remarks=_remarks(plan),
    )


def run_splits(run: ExperimentRun, plan: dict[str, Any]) -> dict[tuple[str, str], Any]:
    """Result of every method on every table; who fails in a split is not asked again."""
    cells: dict[tuple[str, str], Any] = {}
    waiting = [
        (data, method)
        for task in ("classification", "regression")
        for data in plan[task]
        for method in plan["methods"][task]
    ]
    for split in range(plan["n_splits"]):
        names = {pair: f"{pair[0]}/{pair[1]}/split {split}/{plan['limit']:g} s" for pair in waiting}
        found = run.units(
            UnitTask(name, run_selector, (*pair, split, plan["rows"], run.seed, plan["limit"]))
            for pair, name in names.items()
        )
        for pair, name in names.items():
            before = cells[pair]["splits"] if pair in cells else []
            cells[pair] = found[name] | {"splits": before + found[name]["splits"]}
        waiting = [pair for pair in waiting if is_complete(cells[pair], split + 1)]
    return cells


def make_plan(quick: bool) -> dict[str, Any]:
    """Which methods meet which tables."""
    import tamis
    from tamis.selectors import selector_info

    names = QUICK_METHODS if quick else tuple(tamis.list_selectors())
    classes, numbers = split_by_task(BUNDLED if quick else tuple(tamis.datasets.list_datasets()))
    return {
        "methods": {
            task: tuple(name for name in names if task in selector_info(name).tasks)
            for task in ("classification", "regression")
        },
        "classification": classes,
        "regression": numbers,
        "n_splits": 2 if quick else N_SPLITS,
        "rows": QUICK_ROWS if quick else MOST_ROWS,
        "limit": QUICK_LIMIT if quick else LIMIT,
    }


def _measurements(view: shown.ArenaView) -> list[Measurement]:
    """The score of every method on every set."""
    metric = {"classification": "balanced accuracy", "regression": "R2"}
    rows = []
    for task in view.standings:
        for data in view.plan[task]:
            for method in view.standings[task].methods:
                cell = view.cells[data, method]
                if is_complete(cell, view.plan["n_splits"]):
                    case = {"data": data, "method": method, "metric": metric[task]}
                    rows.append(Measurement(case, [split["score"] for split in cell["splits"]]))
    return rows


def _splits_in_words(n: int) -> str:
    return "1 random split" if n == 1 else f"{n} random splits"


def _remarks(plan: dict[str, Any]) -> list[str]:
    counts = ", ".join(map(str, counts_for(10**6)))
    return [
        f"Protocol: {_splits_in_words(plan['n_splits'])} with two thirds of the rows for training; "
        "the selector with its defaults ranks the training rows; a linear SVM with its strength "
        f"tuned inside is trained on the best {counts} columns (never more than half of them), and "
        "the mean over these numbers of columns counts: balanced accuracy, or R2 for numbers.",
        f"Tables with more than {plan['rows']:,} rows are cut to that by a random draw that keeps "
        "the shares of the classes. Missing cells are put at the median of the training rows.",
        f"A selector that computes longer than {plan['limit']:g} s for a split, or takes more than "
        "8 GB, is stopped and shares the last places on that table. Times are of one thread, "
        "beside other work on the other cores.",
        "Sets that hold the same patients count as one in the average rank. Meta-features need a "
        "source of features with properties and do not apply to plain tables.",
        "Stability is that of Nogueira for the best 50 columns (at most half of them) over the "
        "splits, averaged over the tables; 0 is chance, 1 is always the same columns. A single "
        "split has none.",
    ]
