"""``tamis methods``: what there is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from tamis.cli import _options
from tamis.cli.console import Command, as_csv, as_json, is_terminal, print_data

EPILOG = """
\b
Examples:
  tamis methods
  tamis methods --json

The cost counts steps in samples T, features n, classes K and bins B.
"""
FACTS = ("name", "supervised", "tasks", "cost", "summary", "reference")


@click.command(cls=Command, epilog=EPILOG, short_help="List the methods, what they need and cost.")
@click.option("--json", is_flag=True, help="Print a JSON list instead.")
@_options.debug
def methods(json: bool, debug: bool) -> None:
    """List the methods: what they need, what they cost, where they come from."""
    from tamis.selectors import list_selectors, selector_info

    infos = [selector_info(name) for name in list_selectors()]
    rows = [{key: getattr(info, key) for key in FACTS} for info in infos]
    if json:
        print_data(as_json(rows))
    elif is_terminal():
        from tamis.cli._output import make_console

        console = make_console()
        for line in _lines(infos, console.width):
            console.print(line)
    else:
        print_data(as_csv(rows))


def _lines(infos: Sequence[Any], width: int) -> list[str]:
    """One line per method, or two where one is not enough."""
    rows = [
        (
            info.name,
            "supervised" if info.supervised else "unsupervised",
            " ".join(info.tasks),
            f"cost {info.cost}",
            info.reference,
        )
        for info in infos
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(map(str.ljust, row, widths)) for row in rows]
    gap = "  "
    if len(lines[0]) + len(gap) + max(len(info.summary) for info in infos) > width:
        lines = [line.rstrip() for line in lines]
        gap = "\n" + " " * (widths[0] + 2)
    return [f"{line}{gap}{info.summary}" for line, info in zip(lines, infos, strict=True)]
