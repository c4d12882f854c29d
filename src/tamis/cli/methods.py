"""``tamis methods``: what there is."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

import click

from tamis.cli import _options
from tamis.cli.console import Command

EPILOG = """
\b
Examples:
  tamis methods
  tamis methods --json

The cost counts steps in samples T, features n, classes K and bins B.
"""


@click.command(cls=Command, epilog=EPILOG, short_help="List the methods, what they need and cost.")
@click.option("--json", "as_json_", is_flag=True, help="Print a JSON list instead.")
@_options.debug
def methods(as_json_: bool, debug: bool) -> None:
    """List the methods: what they need, what they cost, where they come from."""
    from tamis.cli._output import as_json, is_terminal, make_console, print_data
    from tamis.selectors import list_selectors, selector_info

    infos = [selector_info(name) for name in list_selectors()]
    if as_json_:
        print_data(as_json([_record(info) for info in infos]))
    elif is_terminal():
        console = make_console()
        for line in _lines(infos, console.width):
            console.print(line)
    else:
        print_data(_as_csv(infos))


def _record(info: Any) -> dict[str, Any]:
    return {
        "name": info.name,
        "supervised": info.supervised,
        "tasks": list(info.tasks),
        "cost": info.cost,
        "summary": info.summary,
        "reference": info.reference,
    }


def _cells(info: Any) -> tuple[str, ...]:
    """Everything about a method but its name and summary."""
    kind = "supervised" if info.supervised else "unsupervised"
    return kind, " ".join(info.tasks), f"cost {info.cost}", info.reference


def _lines(infos: list[Any], width: int) -> list[str]:
    """One line per method, or two where one is not enough."""
    names = _padded([info.name for info in infos])
    columns = [_padded(column) for column in zip(*map(_cells, infos), strict=True)]
    facts = ["  ".join(cells) for cells in zip(*columns, strict=True)]
    summaries = [info.summary for info in infos]
    longest = max(len(summary) for summary in summaries)
    gap = "  "
    if len(names[0]) + len(facts[0]) + longest + 2 * len(gap) > width:
        gap = "\n" + " " * (len(names[0]) + 2)
    return [
        f"{name}  {fact.rstrip() if gap != '  ' else fact}{gap}{summary}"
        for name, fact, summary in zip(names, facts, summaries, strict=True)
    ]


def _padded(texts: Sequence[str]) -> list[str]:
    width = max(map(len, texts))
    return [f"{text:<{width}}" for text in texts]


def _as_csv(infos: list[Any]) -> str:
    text = io.StringIO()
    rows = [_record(info) for info in infos]
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        tasks, supervised = " ".join(row["tasks"]), str(row["supervised"]).lower()
        writer.writerow({**row, "tasks": tasks, "supervised": supervised})
    return text.getvalue()
