"""Table 2 of the Inf-FS paper: time of every method on 10,000 x 1,000, 20 classes."""

from __future__ import annotations

from typing import Any

from tamis_papers._run import ExperimentRun
from tamis_papers.inffs._methods import methods
from tamis_papers.inffs.stopwatch import (
    TableSize,
    Times,
    in_words,
    median_seconds,
    reversed_pairs,
    time_table,
)
from tamis_papers.result import Claim, ExperimentResult

PAPER = TableSize(10_000, 1_000, 20)
QUICK = TableSize(600, 100, 20)
LIMIT, QUICK_LIMIT = 300.0, 5.0
DATA = "synthetic-10000x1000-20classes"
# The table calls ReliefF "Relief-F"; the others it has no times for.
PRINTED = ("Fisher", "Inf-FS", "MutInf", "Relief-F", "FSV")


def run(run: ExperimentRun) -> ExperimentResult:
    """Time the five methods of the table, and the four that the paper has no code of."""
    return time_table(
        run,
        _selectors(run.quick),
        DATA,
        (PAPER, QUICK),
        (LIMIT, QUICK_LIMIT),
        _claims,
        remarks=[
            "Inf-FS is timed for one alpha, as 4 s in the paper leave no room for a search.",
            "SVM-RFE takes away half of the columns at a time: with 190 machines for 20 classes "
            "one by one would take days.",
        ],
    )


def _selectors(quick: bool) -> dict[str, Any]:
    from tamis import SVMRFE, InfFS

    known = methods(("Fisher", "MutInf", "ReliefF", "FSV", "SW ReliefF"))
    chosen = {
        "Fisher": known["Fisher"],
        "Inf-FS": InfFS(alpha=0.2),
        "MutInf": known["MutInf"],
        "Relief-F": known["ReliefF"],
        "FSV": known["FSV"],
    }
    if quick:
        return chosen
    return chosen | {
        "SW Relief-F": known["SW ReliefF"],
        "SVM-RFE": SVMRFE(step=0.5),
        "SW SVM-RFE": SVMRFE(step=0.5, sample_weighting=True),
        "Ens.SVM-RFE": SVMRFE(step=0.5, n_bootstraps=20),
    }


def _claims(found: Times, theirs: dict[str, float]) -> list[Claim]:
    seconds = median_seconds(found)
    order = sorted((name for name in PRINTED if name in seconds), key=seconds.__getitem__)
    wrong, n_pairs = reversed_pairs(found, theirs)
    swaps = ", ".join(f"{one} is slower than {other}" for one, other in wrong) or "none"
    return [
        Claim("second-best", order[:2] == ["Fisher", "Inf-FS"], in_words(found)),
        Claim(
            "order",
            not wrong,
            f"{len(wrong)} of {n_pairs} pairs are in the other order: {swaps}",
        ),
    ]
