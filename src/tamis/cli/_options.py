"""Options that several commands share, named like the parameters in Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

SELECT_HELP = "elbow, early, late, all, a count such as 20 or a share such as 0.1"
_NAMES = {"multiple": True, "metavar": "NAMES"}

data = click.argument("data", type=click.Path(path_type=Path))

_TABLE = (
    click.option("--target", metavar="NAME", help="The column to predict."),
    click.option(
        "--method",
        metavar="NAME",
        help="How to score; 'tamis methods' lists them. "
        "[default: dft for classification, rft for regression]",
    ),
    click.option(
        "--select",
        metavar="RULE",
        help=f"How many columns: {SELECT_HELP}. 'elbow' is the early one, 'best' the number that "
        "some methods find by themselves. "
        "[default: elbow, or what the method itself chooses]",
    ),
    click.option(
        "--task",
        type=click.Choice(["classification", "regression"]),
        help="What the target is. [default: guessed from it, and said]",
    ),
    click.option("--columns", **_NAMES, help="Rank only these columns."),
    click.option("--include", **_NAMES, help="Rank these too, though they look like text or ids."),
    click.option("--exclude", **_NAMES, help="Do not rank these columns."),
    click.option("--keep", **_NAMES, help="Always select these columns."),
    click.option(
        "--param",
        multiple=True,
        metavar="NAME=VALUE",
        help="A parameter of the method, such as n_bins=32; may be repeated.",
    ),
    click.option("--n-jobs", type=int, metavar="N", help="Threads. [default: all cores]"),
)

_WORKERS = (
    click.option(
        "--cluster",
        metavar="ADDRESS",
        help="Let the workers of a Dask scheduler do the work, such as tcp://host:8786.",
    ),
    click.option(
        "--workers",
        type=click.IntRange(min=1),
        metavar="N",
        help="Let so many processes of Dask on this machine do the work.",
    ),
)

force = click.option("--force", is_flag=True, help="Replace existing files.")
quiet = click.option("--quiet", is_flag=True, help="Say nothing on stderr but errors.")
debug = click.option("--debug", is_flag=True, help="Show warnings, and tracebacks of errors.")


def table_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add DATA and the options that say what to rank, and how."""
    return _with((data, *_TABLE), command)


def worker_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say who does the work."""
    return _with(_WORKERS, command)


def _with(options: Sequence[Any], command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(options):
        command = option(command)
    return command
