"""Options that several commands share, named like the parameters in Python, and what they mean."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from tamis._runtime.wording import closest, listed, unknown_column
from tamis.cli.console import Misuse, Talk, misuse_if_refused
from tamis.cutoff import CutRule, Elbow, as_rule
from tamis.cutoff.best_count import BestCount

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
# Rules of tamis.certainty; a level may follow, as in fdr:0.1.
CERTAINTY = {
    "fdr": "FalseDiscoveries",
    "fwer": "FamilyWise",
    "knockoffs": "Knockoffs",
    "shadows": "Shadows",
    "stability": "StabilitySelection",
}
SELECT_HELP = (
    "auto, elbow, early, late, all, a count such as 20, a share such as 0.1, or a test with its "
    "level: fdr:0.1, fwer:0.05, knockoffs:0.1, shadows, stability"
)
SELECT_WORDS = ("auto", "elbow", "early", "late", "best", "all", *CERTAINTY)
DEFAULT_METHODS = {"classification": "anovaf", "regression": "anovaf"}
# Parameters that have an option of their own.
OWN_OPTION = {"n_features_to_select": "--select", "n_jobs": "--n-jobs"}


def path(name: str, text: str, metavar: str = "FILE", **settings: Any) -> Decorator:
    """Make an option that takes a path."""
    kind = click.Path(path_type=Path)
    return click.option(name, type=kind, metavar=metavar, help=text, **settings)


def names(name: str, text: str) -> Decorator:
    """Make an option that takes names of columns, and may be repeated."""
    return click.option(name, multiple=True, metavar="NAMES", help=text)


data = click.argument("data", type=click.Path(path_type=Path))
target = click.option("--target", metavar="NAME", help="The column to predict.")
task = click.option(
    "--task",
    type=click.Choice(["classification", "regression"]),
    help="What the target is. [default: inferred from it, and reported]",
)
json = click.option("--json", is_flag=True, help="Print one JSON object instead.")
force = click.option("--force", is_flag=True, help="Replace existing files.")
quiet = click.option("--quiet", is_flag=True, help="Print nothing on stderr but errors.")
debug = click.option("--debug", is_flag=True, help="Show warnings, and tracebacks of errors.")
cluster = click.option(
    "--cluster",
    metavar="ADDRESS",
    help="Address of a Dask scheduler whose workers do the work, such as tcp://host:8786.",
)
workers = click.option(
    "--workers", type=click.IntRange(min=1), metavar="N", help="Number of local Dask workers."
)
_method = click.option(
    "--method",
    metavar="NAME",
    help="How to score; 'tamis methods' lists them. [default: anovaf]",
)
_select = click.option(
    "--select",
    metavar="RULE",
    help=f"How many columns: {SELECT_HELP}. 'auto' keeps those beyond chance at a false discovery "
    "rate of 10%, 'elbow' is the early one, 'best' the number that some methods find by "
    "themselves; tests keep the columns that pass and print p-, q- or e-values. "
    "[default: auto, or elbow without a target]",
)
_param = click.option(
    "--param",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of the method, such as n_bins=32; may be repeated.",
)


def table_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add DATA and the options that say what to rank, and how."""
    n_jobs = click.option("--n-jobs", type=int, metavar="N", help="Threads. [default: all cores]")
    columns = (
        names("--columns", "Rank only these columns."),
        names("--include", "Rank these too, though they look like text or ids."),
        names("--exclude", "Do not rank these columns."),
        names("--keep", "Always select these columns."),
    )
    for option in reversed((data, target, _method, _select, task, *columns, _param, n_jobs)):
        command = option(command)
    return command


def parse_select(text: str) -> CutRule:
    """Turn the value of ``--select`` into a rule; anything that is none is a usage error."""
    if text == "late":
        return Elbow("late")
    if text == "best":
        return BestCount()
    word, _, level = text.partition(":")
    if word in CERTAINTY:
        return _parse_test(text, word, level)
    try:
        return as_rule("elbow" if text == "early" else _number(text))
    except ValueError as error:
        hint = _did_you_mean(word, SELECT_WORDS)
        raise Misuse(f"--select must be {SELECT_HELP}, got {text!r}{hint}") from error


def _parse_test(text: str, word: str, level: str) -> CutRule:
    from tamis import certainty

    value = _number(level)
    if isinstance(value, str) and text != word:
        raise Misuse(f"--select {word}: the level must be a number, as in fdr:0.1, got {level!r}")
    with misuse_if_refused("--select: "):
        rule = getattr(certainty, CERTAINTY[word])
        made: CutRule = rule() if text == word else rule(value)
    return made


def _number(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _did_you_mean(name: str, known: Sequence[str]) -> str:
    guess = closest(name, known)
    return f"; did you mean {guess!r}?" if guess else ""


def check_method(method: str, option: str = "--method") -> str:
    """Return the name of a method as we write it, or say which there are."""
    from tamis.selectors import list_selectors

    known = list_selectors()
    if method.lower() in known:
        return method.lower()
    hint = _did_you_mean(method, known)
    raise Misuse(f"{option} must be one of {', '.join(known)}, got {method!r}{hint}")


def check_suits(method: str, prepared: Any) -> None:
    """Refuse a method that is not for the task."""
    from tamis.selectors import selector_info

    info = selector_info(method)
    if not info.supervised or prepared.task in info.tasks:
        return
    is_numeric = prepared.y is not None and prepared.y.dtype.kind in "biuf"
    other = f", or --task {info.tasks[0]}" if is_numeric else ""
    raise Misuse(
        f"--method {method} is for {' or '.join(info.tasks)}, got {prepared.task_reason}; "
        f"use --method {DEFAULT_METHODS[prepared.task]}{other}"
    )


def check_needs_no_target(method: str | None, table: Any) -> None:
    """Refuse a method that needs a target where there is none."""
    from tamis.selectors import selector_info

    if method is None or selector_info(method).supervised:
        raise Misuse(
            f"--target is needed, because {method or 'ranking'} looks at the column to predict; "
            f"the columns are {listed(table.column_names)}"
        )


def parse_params(selector: Any, words: Iterable[str]) -> dict[str, Any]:
    """Turn ``name=value`` words into parameters that a selector has."""
    known = selector.get_params(deep=False)
    params = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise Misuse(f"--param must be name=value, such as n_bins=32, got {word!r}")
        if name in OWN_OPTION:
            raise Misuse(f"--param {name}: use the option {OWN_OPTION[name]} instead")
        if name not in known:
            names = [item for item in known if item not in OWN_OPTION]
            hint = _did_you_mean(name, names)
            raise Misuse(
                f"--param {word}: {type(selector).__name__} has no parameter {name!r}"
                f"{hint or ';'} it has: {', '.join(names)}"
            )
        params[name] = _literal(value)
    return params


def _literal(text: str) -> Any:
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


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
    if unknown := set(names).difference(table.column_names):
        name = next(name for name in names if name in unknown)
        raise Misuse(str(unknown_column(table.who, name, table.column_names)))
    return names


def apply_keep(
    selector: Any, table: Any, prepared: Any, request: Any, talk: Talk
) -> tuple[str, ...]:
    """Put ``--keep`` into the cutoff of a selector, and return the columns that have no score."""
    position = {name: j for j, name in enumerate(prepared.feature_names)}
    names = dict.fromkeys(known_names(request.keep, table))
    names.pop(request.target, None)
    if indices := [position[name] for name in names if name in position]:
        rule = replace(selector.n_features_to_select, keep=indices)
        selector.set_params(n_features_to_select=rule)
    carried = tuple(name for name in names if name not in position)
    if carried:
        talk.note(f"kept without a score: {listed(carried)}")
    return carried
