"""Table 2 of the ILFS paper: time of every method on 10,000 x 5,000, 2 classes."""

from __future__ import annotations

from typing import Any

from tamis_papers._run import ExperimentRun
from tamis_papers.ilfs._methods import TWELVE, methods
from tamis_papers.inffs.stopwatch import (
    TableSize,
    Times,
    in_words,
    median_seconds,
    reversed_pairs,
    time_table,
)
from tamis_papers.result import Claim, ExperimentResult

PAPER = TableSize(10_000, 5_000, 2)
QUICK = TableSize(300, 100, 2)
LIMIT, QUICK_LIMIT = 300.0, 4.0
DATA = "synthetic-10000x5000-2classes"


def run(run: ExperimentRun) -> ExperimentResult:
    """Time the twelve methods, and SVM-RFE that takes away half of the columns at a time."""
    return time_table(
        run,
        _selectors(),
        DATA,
        (PAPER, QUICK),
        (LIMIT, QUICK_LIMIT),
        _claims,
        remarks=[
            "The paper's CFS is a fast unsupervised filter by redundancy (2 s); ours is Hall's "
            "supervised search through subsets, a different method of the same name.",
            "Our ILFS never builds the matrix of the graph, whose form allows the sum over all "
            "paths in one pass over the columns; so it need not be slower than Fisher by much.",
        ],
    )


def _selectors() -> dict[str, Any]:
    named = {"ReliefF": "Relief-F"}
    chosen = {named.get(name, name): one for name, one in methods(TWELVE).items()}
    return chosen | {"RFE, half at a time": methods(("RFE",), step=0.5)["RFE"]}


def _claims(found: Times, theirs: dict[str, float]) -> list[Claim]:
    seconds = median_seconds(found)
    wrong, n_pairs = reversed_pairs(found, theirs)
    shown = ", ".join(f"{one} is slower than {other}" for one, other in wrong[:6]) or "none"
    more = f" and {len(wrong) - 6} more" if len(wrong) > 6 else ""
    ours, before = seconds.get("ILFS"), seconds.get("Inf-FS")
    known = ours is not None and before is not None
    return [
        Claim(
            "order",
            not wrong,
            f"{len(wrong)} of {n_pairs} pairs are in the other order: {shown}{more}. "
            f"Times: {in_words(found)}",
        ),
        Claim(
            "ilfs-faster-than-inffs",
            ours < before if ours is not None and before is not None else None,
            f"ILFS {ours:.2g} s, Inf-FS {before:.2g} s" if known else "one of the two did not run",
            tested=known,
        ),
    ]
