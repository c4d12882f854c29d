"""reproduce: run an experiment, put our numbers beside the paper's, and keep all of it."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from numbers import Integral
from pathlib import Path
from typing import Any, NamedTuple

from tamis.data import atomic_path
from tamis.evaluation import make_progress
from tamis.exceptions import InputError

from tamis_papers._published import Paper, Published, Statement, published
from tamis_papers._run import ExperimentRun
from tamis_papers._unit_store import UnitStore, versions
from tamis_papers._verdict import claim_word, judge_all
from tamis_papers.experiment import Experiment, find_experiment
from tamis_papers.result import Claim, ExperimentResult, Measurement

__all__ = ["Reproduction", "reproduce"]

STORE = "units.sqlite"


class Pair(NamedTuple):
    """A number of the paper and ours of the same case; either may be missing."""

    theirs: Published | None
    ours: Measurement | None


@dataclass(frozen=True)
class Reproduction:
    """Numbers of a paper and ours, with verdicts; what the table, the page and the JSON show.

    Examples
    --------
    >>> from tamis_papers._reproduce import Reproduction
    >>> "rows" in Reproduction.__dataclass_fields__
    True
    """

    name: str
    title: str
    paper: str
    stand_in: str
    quick: bool
    repeats: int | None
    planned: int
    seed: int
    seconds: float
    rows: list[dict[str, Any]]
    claims: list[dict[str, Any]]
    findings: list[str]
    tables: dict[str, list[list[str]]]
    remarks: list[str]
    figures: list[str]
    versions: dict[str, str]


def reproduce(
    name: str,
    *,
    quick: bool = False,
    folder: str | os.PathLike[str] = "tamis-reproduction",
    seed: int = 0,
    n_jobs: int | None = None,
    progress: bool = True,
    repeats: int | None = None,
) -> Reproduction:
    """Run an experiment of a paper and say whether its numbers hold.

    Parameters
    ----------
    name : str
        Name of an experiment, see :func:`~tamis_papers.list_experiments`.
    quick : bool, default=False
        Run a reduced version that takes less than two minutes.
    folder : str or path-like, default="tamis-reproduction"
        Where finished work, the result and its figures are kept. A run that was stopped goes on
        from there.
    seed : int, default=0
        From which all randomness follows.
    n_jobs : int or None, default=None
        Processes; None means all cores. Results do not depend on it.
    progress : bool, default=True
        Whether to show how far the work is.
    repeats : int or None, default=None
        Most splits, draws or random starts to take, where the complete run takes more. All else
        stays as it is, intervals become wider. What is done counts when more are asked for later,
        except where a unit of work is all repeats at once (inffs-fig1).

    Returns
    -------
    reproduction : Reproduction
        Also written to ``<folder>/<name>.json`` (``<name>-quick.json``).

    Examples
    --------
    >>> import tempfile, tamis_papers
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = tamis_papers.reproduce("inffs-fig1", quick=True, folder=folder, n_jobs=1)
    >>> [claim["holds"] for claim in found.claims][0]
    False
    """
    _check_whole(seed, "seed", at_least=0)
    if n_jobs is not None and n_jobs >= 0:
        _check_whole(n_jobs, "n_jobs", at_least=1)
    if repeats is not None:
        _check_whole(repeats, "repeats", at_least=1)
    experiment, paper = find_experiment(name), published(name)
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    shown = make_progress(progress, command="reproduce")
    with UnitStore(place / STORE) as store:
        run = ExperimentRun(
            name, store, place,
            quick=quick, seed=seed, n_jobs=n_jobs, progress=shown, repeats=repeats,
        )  # fmt: skip
        try:
            outcome = experiment.load()(run)
        finally:
            shown.close()
    stem = stem_of(name, quick)
    figures = draw_figures(outcome, place, stem)
    found = compose(experiment, paper, outcome, run, figures)
    with atomic_path(place / f"{stem}.json", force=True) as temporary:
        temporary.write_text(json.dumps(asdict(found), indent=1) + "\n", encoding="utf-8")
    return found


def _check_whole(value: int, name: str, at_least: int) -> None:
    if not isinstance(value, Integral) or value < at_least:
        raise InputError(
            f"reproduce: {name} must be an int of at least {at_least}, got {value!r}. Give another."
        )


def stem_of(name: str, quick: bool) -> str:
    """Beginning of the names of the files of a run."""
    return f"{name}-quick" if quick else name


def compose(
    experiment: Experiment,
    paper: Paper,
    outcome: ExperimentResult,
    run: ExperimentRun,
    figures: list[str],
) -> Reproduction:
    """Put everything that is known of a run together."""
    pairs = _pairs(paper.values, outcome.measurements)
    return Reproduction(
        name=experiment.name,
        title=experiment.title,
        paper=experiment.paper,
        stand_in=experiment.stand_in,
        quick=run.quick,
        repeats=run.repeats,
        planned=run.planned,
        seed=run.seed,
        seconds=run.seconds,
        rows=judge_all([_row(pair, run) for pair in pairs], quick=run.quick),
        claims=_claims(paper.statements, outcome.claims, run.quick),
        findings=list(outcome.findings),
        tables=dict(outcome.tables),
        remarks=list(outcome.remarks),
        figures=figures,
        versions=versions(*experiment.packages),
    )


def _claims(
    statements: Sequence[Statement], claims: Sequence[Claim], quick: bool
) -> list[dict[str, Any]]:
    """The sentences of the paper with what was found."""
    said = {claim.name: claim for claim in claims}
    rows = []
    for statement in statements:
        claim = said.get(statement.name, Claim(statement.name, None, "not checked", tested=False))
        word = claim_word(claim.holds, claim.tested, quick)
        rows.append({**asdict(statement), **claim._asdict(), "word": word})
    return rows


def _pairs(values: Sequence[Published], measurements: Sequence[Measurement]) -> list[Pair]:
    """Every number of the paper with ours, then what only we have measured."""
    left = list(measurements)
    pairs = []
    for theirs in values:
        mine = next((one for one in left if theirs.is_of(one.case)), None)
        if mine is not None:
            left.remove(mine)
        pairs.append(Pair(theirs, mine))
    return pairs + [Pair(None, mine) for mine in left]


def _row(pair: Pair, run: ExperimentRun) -> dict[str, Any]:
    theirs, ours = pair
    case = dict(theirs.case if theirs else {}) | dict(ours.case if ours else {})
    low, high = ours.interval() if ours else (None, None)
    # Without repeats in the protocol, nothing random is left to repeat.
    limited = run.planned > 0 and (run.quick or (run.repeats or run.planned) < run.planned)
    return {
        "case": {key: item for key, item in case.items() if key != "selector"},
        "theirs": theirs.value if theirs else None,
        "unit": theirs.unit if theirs else None,
        "rounding": theirs.rounding if theirs else None,
        "where": theirs.where if theirs else None,
        "doubtful": bool(theirs and theirs.doubtful),
        "quoted": bool(theirs and theirs.quoted),
        "ours": ours.mean if ours else None,
        "low": low,
        "high": None if ours is None or ours.at_least else high,  # JSON knows no infinity
        "repeats": len(ours.values) if ours else 0,
        "once": bool(ours and len(ours.values) == 1 and not ours.at_least and not limited),
        "at_least": bool(ours and ours.at_least),
        "note": ours.note if ours else "",
    }


def draw_figures(outcome: ExperimentResult, folder: Path, stem: str) -> list[str]:
    """Write the figures as PNG; none where matplotlib is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return []
    names = []
    for part, draw in outcome.figures.items():
        figure = Figure(figsize=(7.0, 4.2), layout="constrained")
        draw(figure)
        name = f"{stem}-{part}.png"
        with atomic_path(folder / name, force=True) as temporary:
            figure.savefig(temporary, dpi=120, format="png")
        names.append(name)
    return names
