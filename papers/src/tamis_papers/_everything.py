"""All experiments one after the other; one that fails does not keep the others from running."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from tamis_papers._reproduce import reproduce, stem_of
from tamis_papers.experiment import list_experiments


class FinishedExperiment(NamedTuple):
    """What became of one experiment: its result, or why there is none."""

    name: str
    status: str
    result: dict[str, Any] | None
    why: str = ""


def reproduce_all(
    *,
    quick: bool,
    folder: Path,
    seed: int,
    n_jobs: int | None,
    progress: bool,
    repeats: int | None,
    tell: Callable[[str], None],
) -> list[FinishedExperiment]:
    """Run what is not finished, and say what became of each.

    Finished is an experiment whose result is in the folder, for the same seed and size and with
    as many repeats.

    Parameters
    ----------
    quick, folder, seed, n_jobs, progress, repeats
        As for :func:`reproduce`.
    tell : callable
        Told of every experiment before and after it runs.
    """
    from dataclasses import asdict

    done = []
    for experiment in list_experiments():
        stored = stored_result(folder, experiment.name, quick, seed, repeats)
        if stored is not None:
            done.append(FinishedExperiment(experiment.name, "was finished", stored))
            continue
        tell(f"{experiment.name}: {experiment.title}")
        try:
            found = reproduce(
                experiment.name,
                quick=quick, folder=folder, seed=seed, n_jobs=n_jobs, progress=progress,
                repeats=repeats,
            )  # fmt: skip
        except Exception as error:
            tell(f"{experiment.name} failed: {error}")
            done.append(FinishedExperiment(experiment.name, "failed", None, _reason(error)))
        else:
            done.append(FinishedExperiment(experiment.name, "finished", asdict(found)))
    return done


def stored_result(
    folder: Path, name: str, quick: bool, seed: int, repeats: int | None
) -> dict[str, Any] | None:
    """The result of a run that came to its end; None if there is none such."""
    try:
        text = (folder / f"{stem_of(name, quick)}.json").read_text(encoding="utf-8")
        result: dict[str, Any] = json.loads(text)
    except (OSError, ValueError):
        return None
    wanted = (seed, repeats)
    return result if (result.get("seed"), result.get("repeats")) == wanted else None


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
