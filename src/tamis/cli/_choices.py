"""What the user typed, turned into a rule, parameters, column names and a method."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import Any

from tamis._runtime.wording import closest, unknown_column
from tamis.cli._errors import Misuse, misuse_if_refused
from tamis.cli._options import SELECT_HELP
from tamis.cutoff import CutRule, Elbow, as_rule
from tamis.cutoff._best_count import BestCount
from tamis.data import PreparedTable, RawTable

SELECT_WORDS = ("elbow", "early", "late", "best", "all")
DEFAULT_METHODS = {"classification": "dft", "regression": "rft"}
# Parameters that have an option of their own.
OWN_OPTION = {"n_features_to_select": "--select", "n_jobs": "--n-jobs"}
_WORDS = {"true": True, "false": False, "none": None}


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
    >>> from tamis.cli._choices import parse_select
    >>> parse_select("late").which, parse_select("20").k, parse_select("0.1").f
    ('late', 20, 0.1)
    """
    if text is None:
        return None
    if text in ("early", "late"):
        return Elbow(which=text)
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


def fitting_method(method: str | None, prepared: PreparedTable) -> str:
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


def split_names(values: Iterable[str], table: RawTable) -> list[str]:
    """Column names from a repeated option: each value is a name, or names with commas between.

    A value that is a column as it stands is taken as it stands, commas and all.
    """
    known = set(table.column_names)
    names: list[str] = []
    for value in values:
        pieces = [value] if value in known else value.split(",")
        names += [piece if piece in known else piece.strip() for piece in pieces]
    return [name for name in names if name or name in known]


def known_names(values: Iterable[str], table: RawTable) -> list[str]:
    """As :func:`split_names`, all of which the table must have."""
    names = split_names(values, table)
    known = set(table.column_names)
    for name in names:
        if name not in known:
            raise Misuse(str(unknown_column(table.who, name, table.column_names)))
    return names
