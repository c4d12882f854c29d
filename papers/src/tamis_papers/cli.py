"""``tamis reproduce``: a table or a figure of a paper, run again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from tamis.cli.console import (
    Command,
    Failure,
    Misuse,
    Talk,
    misuse_if_refused,
    overheard,
    remember_written,
)

from tamis_papers import _terminal
from tamis_papers._everything import reproduce_all
from tamis_papers._page import write_pages
from tamis_papers._reproduce import reproduce as run_experiment
from tamis_papers._shown import in_time
from tamis_papers.experiment import find_experiment

EPILOG = """
\b
Examples:
  tamis reproduce --list
  tamis reproduce inffs-fig1
  tamis reproduce inffs-table3 --quick
  tamis reproduce ilfs-table4 --repeats 5
  tamis reproduce all
  tamis reproduce --page docs/papers

Data sets are read from the folder that the environment variable TAMIS_DATA names. Finished work
is kept in --folder: an interrupted run resumes from there. The table goes to stdout.
"""
ALL = "all"


@click.command(cls=Command, epilog=EPILOG, short_help="Run an experiment of a paper; the verdict.")
@click.argument("name", required=False)
@click.option("--list", "listing", is_flag=True, help="Show what there is.")
@click.option("--quick", is_flag=True, help="A reduced version, in less than two minutes.")
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    default="tamis-reproduction",
    show_default=True,
    metavar="FOLDER",
    help="Where finished work, results and figures go.",
)
@click.option(
    "--page",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="PAGES",
    help="Add the complete runs of --folder to the CSV files in the folder PAGES, and write a page "
    "(Markdown) per paper from them; runs nothing.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, metavar="N")
@click.option("--n-jobs", type=int, metavar="N", help="Processes. [default: all cores]")
@click.option(
    "--repeats",
    type=click.IntRange(1),
    metavar="N",
    help="At most N splits, draws or starts where the complete run has more; wider intervals. "
    "More can be added later.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead.")
@click.option("--quiet", is_flag=True, help="Say nothing on stderr but errors.")
@click.option("--debug", is_flag=True, help="Show warnings, and tracebacks of errors.")
def reproduce(
    name: str | None,
    listing: bool,
    folder: Path,
    page: Path | None,
    as_json: bool,
    quiet: bool,
    debug: bool,
    **settings: Any,
) -> None:
    """Run a table or a figure of a paper again: their number, ours, the verdict.

    NAME is one of --list, or 'all' for everything that is not finished.
    """
    if sum((name is not None, listing, page is not None)) > 1:
        raise Misuse("give one of a name, --list and --page")
    talk = Talk(quiet)
    settings |= {"folder": folder, "progress": talk.shows_progress}
    with overheard(talk, debug):
        if page is not None:
            _write_page(folder, page, talk)
        elif name is None:
            _terminal.show_experiments(as_json)
        elif name == ALL:
            _run_all(settings, talk, as_json)
        else:
            _run_one(name, settings, talk, as_json)


def _run_one(name: str, settings: dict[str, Any], talk: Talk, as_json: bool) -> None:
    with misuse_if_refused():
        experiment = find_experiment(name)
    if not settings["quick"] and settings["repeats"] is None:
        time = in_time(60 * experiment.minutes)
        talk.say(f"{name}: {time} on one core, about; --repeats N or --quick take less")
    found = run_experiment(name, **settings)
    for figure in found.figures:
        remember_written(settings["folder"] / figure)
        talk.say(f"figure: {settings['folder'] / figure}")
    _terminal.show_reproduction(found, as_json)


def _run_all(settings: dict[str, Any], talk: Talk, as_json: bool) -> None:
    done = reproduce_all(tell=talk.say, **settings)
    _terminal.show_all(done, as_json)
    failed = [one.name for one in done if one.result is None]
    if failed:
        raise Failure(f"{len(failed)} of {len(done)} failed: {', '.join(failed)}")


def _write_page(folder: Path, page: Path, talk: Talk) -> None:
    n_written = write_pages(folder, page)
    remember_written(page)
    talk.say(f"wrote {page}: {n_written} experiments")
