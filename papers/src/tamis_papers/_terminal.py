"""Experiments and their verdicts on the terminal."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import click
from tamis.cli.console import printable

from tamis_papers import _shown
from tamis_papers._shown import in_time
from tamis_papers.experiment import list_experiments


def show_experiments(as_json: bool = False) -> None:
    """Print a line per experiment."""
    experiments = list_experiments()
    if as_json:
        click.echo(json.dumps([asdict(experiment) for experiment in experiments], indent=1))
        return
    width = max(len(experiment.name) for experiment in experiments)
    for experiment in experiments:
        stand_in = " [stand-in data]" if experiment.stand_in else ""
        time = in_time(60 * experiment.minutes)
        click.echo(f"{experiment.name:{width}}  {time:>6}  {experiment.title}{stand_in}")
    click.echo("\nTimes: complete runs on one core, about. --quick takes less than two minutes.")


def show_reproduction(found: Any, as_json: bool) -> None:
    """Print the numbers of the paper, ours and the verdicts."""
    if as_json:
        click.echo(json.dumps(asdict(found), indent=1))
        return

    size = "reduced version" if found.quick else _shown.repeats_of(found.repeats, found.planned)
    where = ", ".join(filter(None, [found.paper, size]))
    click.echo("\n".join(filter(None, [found.title, where])) + "\n")
    if found.stand_in:
        click.echo(f"Stand-in: {found.stand_in}\n")
    for title, rows in found.tables.items():
        click.echo(f"{title}:")
        print_table(rows)
        click.echo("")
    if found.rows and (_shown.is_judged(found.rows) or not found.tables):
        print_table(lines_of(found.rows))
        click.echo("")
    for text in found.findings:
        click.echo(printable(text))
    for claim in found.claims:
        click.echo(printable(f'"{claim["quote"] or claim["text"]}"'))
        click.echo(printable(f"  {claim['word']}: {claim['evidence']}"))
    for remark in found.remarks:
        click.echo(f"\nRemark: {remark}")
    click.echo(f"\nSeed {found.seed}; {_shown.in_time(found.seconds)} of computing.")


def lines_of(rows: Sequence[dict[str, Any]]) -> list[list[str]]:
    """The table as text; without a paper there is nothing to judge."""
    judged = _shown.is_judged(rows)
    head = ["case", "paper", "ours", "95 %", "verdict"] if judged else ["case", "value", "95 %", ""]
    lines = [head]
    for row in rows:
        case = ", ".join(str(item) for item in row["case"].values() if item is not None)
        ours, interval = _shown.ours_of(row), _shown.interval_of(row)
        if judged:
            lines.append([case, _shown.theirs_of(row), ours, interval, _shown.verdict_of(row)])
        else:
            lines.append([case, ours, interval, row["note"]])
    return lines


def show_all(done: Sequence[Any], as_json: bool) -> None:
    """Print a line per experiment: what its numbers and the paper's sentences came to."""
    if as_json:
        click.echo(json.dumps([one._asdict() for one in done], indent=1))
        return
    print_table([["experiment", "", "numbers", "claims"], *map(_line, done)])


def _line(done: Any) -> list[str]:

    if done.result is None:
        return [done.name, done.status, done.why, ""]
    claims = done.result["claims"]
    held = sum(claim["word"] == "holds" for claim in claims)
    judged = [row for row in done.result["rows"] if row["verdict"] in _shown.VERDICTS]
    said = f"{held} of {len(claims)} hold" if claims else ""
    return [done.name, done.status, _shown.counted(judged), said]


def print_table(lines: Sequence[Sequence[str]]) -> None:
    """Print columns side by side; the last one may be as long as it likes."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        text = "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        click.echo(printable(text.rstrip()))
