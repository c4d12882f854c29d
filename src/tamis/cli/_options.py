"""What the user typed: options named like the parameters in Python, and what they mean."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from tamis._runtime.wording import closest, unknown_column
from tamis.cli.console import Misuse, misuse_if_refused
from tamis.cutoff import CutRule, Elbow, as_rule
from tamis.cutoff.best_count import BestCount

SELECT_HELP = "elbow, early, late, all, a count such as 20 or a share such as 0.1"
_NAMES: dict[str, Any] = {"multiple": True, "metavar": "NAMES"}
SELECT_WORDS = ("elbow", "early", "late", "best", "all")
DEFAULT_METHODS = {"classification": "dft", "regression": "rft"}
# Parameters that have an option of their own.
OWN_OPTION = {"n_features_to_select": "--select", "n_jobs": "--n-jobs"}
_WORDS = {"true": True, "false": False, "none": None}

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
        help="What the target is. [default: inferred from it, and reported]",
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
        help="Address of a Dask scheduler whose workers do the work, such as tcp://host:8786.",
    ),
    click.option(
        "--workers",
        type=click.IntRange(min=1),
        metavar="N",
        help="Number of local Dask workers.",
    ),
)

force = click.option("--force", is_flag=True, help="Replace existing files.")
quiet = click.option("--quiet", is_flag=True, help="Print nothing on stderr but errors.")
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


def parse_select(text: str | None) -> CutRule | None:
    """Turn the value of ``--select`` into a cut rule.

    Parameters
    ----------
    text : str or None
        One of `SELECT_WORDS`, a count or a share; None leaves the choice to the method.

    Returns
    -------
    CutRule or None
        The rule meant; anything else is a usage error.

    Examples
    --------
    >>> from tamis.cli._options import parse_select
    >>> parse_select("late").which, parse_select("20").k, parse_select("0.1").f
    ('late', 20, 0.1)
    """
    if text is None:
        return None
    if text in ("early", "late"):
        return Elbow("late" if text == "late" else "early")
    if text == "best":
        return BestCount()
    try:
        return as_rule(_number(text))
    except ValueError as error:
        guess = closest(text, SELECT_WORDS)
        hint = f"; did you mean {guess!r}?" if guess else ""
        raise Misuse(f"--select must be {SELECT_HELP}, got {text!r}{hint}") from error


def _number(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def parse_params(method: str, words: Iterable[str]) -> dict[str, Any]:
    """Turn ``name=value`` words into parameters of a selector that it would accept."""
    from tamis.selectors import make_selector, selector_info

    who = selector_info(method).class_name
    known = list(make_selector(method).get_params(deep=False))
    params = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise Misuse(f"--param must be name=value, such as n_bins=32, got {word!r}")
        if name in OWN_OPTION:
            raise Misuse(f"--param {name}: use the option {OWN_OPTION[name]} instead")
        if name not in known:
            raise Misuse(f"--param {word}: {who} has no parameter {name!r}{_advice(name, known)}")
        params[name] = _literal(value)
    return params


def _advice(name: str, known: Sequence[str]) -> str:
    names = [item for item in known if item not in OWN_OPTION]
    guess = closest(name, names)
    return f"; {f'did you mean {guess!r}? ' if guess else ''}it has: {', '.join(names)}"


def _literal(text: str) -> Any:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def build_selector(
    method: str, rule: CutRule | None, param: Iterable[str], n_jobs: int | None
) -> Any:
    """Make the selector and check its parameters, before any data is read if possible."""
    from tamis._validation import check_parameters
    from tamis.selectors import make_selector

    params = parse_params(method, param)
    selector = make_selector(method, **params)
    if isinstance(rule, BestCount) and not selector._chooses_count:
        raise Misuse(f"--select best: {method} finds no number of its own; it takes {SELECT_HELP}")
    if rule is not None:
        selector.set_params(n_features_to_select=rule)
    if n_jobs is not None and has_n_jobs(method):
        selector.set_params(n_jobs=n_jobs)
    with misuse_if_refused():
        check_parameters(selector, selector._constraints)
    return selector


def has_n_jobs(method: str) -> bool:
    """Tell whether a method can use several threads."""
    from tamis.selectors import make_selector

    return "n_jobs" in make_selector(method).get_params(deep=False)


def check_method(method: str, option: str = "--method") -> str:
    """Return the name of a method as we write it, or say which there are."""
    from tamis.selectors import list_selectors, selector_info

    known = list_selectors()
    if method.lower() not in known:
        guess = closest(method, known)
        hint = f"; did you mean {guess!r}?" if guess else ""
        raise Misuse(f"{option} must be one of {', '.join(known)}, got {method!r}{hint}")
    return selector_info(method).name


def fitting_method(method: str | None, prepared: Any) -> str:
    """Choose the method for the task, or check that the chosen one suits it."""
    from tamis.selectors import selector_info

    if method is None:
        return DEFAULT_METHODS[prepared.task]
    tasks = selector_info(method).tasks
    if not selector_info(method).supervised or prepared.task in tasks:
        return method
    is_numeric = prepared.y is not None and prepared.y.dtype.kind in "biuf"
    other = f", or --task {tasks[0]}" if is_numeric else ""
    raise Misuse(
        f"--method {method} is for {' or '.join(tasks)}, got {prepared.task_reason}; "
        f"use --method {DEFAULT_METHODS[prepared.task]}{other}"
    )


def split_names(values: Iterable[str], table: Any) -> list[str]:
    """Column names from a repeated option: each value is a name, or names with commas between.

    A value that is a column as it stands is taken as it stands, commas and all.
    """
    known = set(table.column_names)
    names: list[str] = []
    for value in values:
        pieces = [value] if value in known else value.split(",")
        names += [piece if piece in known else piece.strip() for piece in pieces]
    return [name for name in names if name or name in known]


def known_names(values: Iterable[str], table: Any) -> list[str]:
    """As :func:`split_names`, all of which the table must have."""
    names = split_names(values, table)
    known = set(table.column_names)
    for name in names:
        if name not in known:
            raise Misuse(str(unknown_column(table.who, name, table.column_names)))
    return names
