"""From a request to a fitted selector: read, choose columns, prepare, choose a method, fit."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tamis._runtime.wording import listed
from tamis.cli._choices import (
    build_selector,
    check_method,
    fitting_method,
    has_n_jobs,
    known_names,
    parse_select,
    split_names,
)
from tamis.cli._errors import Misuse, misuse_if_refused
from tamis.cli._progress import ColumnNames, StderrProgress
from tamis.cli._scanning import check_streams, is_scanned, opened_cluster, read_scan
from tamis.cli._talk import Talk
from tamis.cutoff import CutRule
from tamis.data import PreparedTable, RawTable, prepare, read_table


@dataclass(frozen=True)
class Request:
    """What to rank and how, as typed; see the help of ``tamis rank``."""

    data: Path
    target: str | None = None
    method: str | None = None
    select: str | None = None
    task: str | None = None
    columns: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    param: tuple[str, ...] = ()
    n_jobs: int | None = None
    cluster: str | None = None
    workers: int | None = None
    # Whether only the ranking is wanted, for which the table need not be in memory.
    may_scan: bool = False


@dataclass(frozen=True, eq=False)
class Outcome:
    """A fitted selector and what it was fitted on.

    Parameters
    ----------
    table : RawTable
        The file.
    prepared : PreparedTable
        Its numbers.
    method : str
        Short name of the selector.
    selector : BaseSelector
        Fitted.
    target : str or None
        Name of the target.
    carried : tuple of str
        Columns named in ``--keep`` that have no score.
    """

    table: RawTable = field(repr=False)
    prepared: PreparedTable = field(repr=False)
    method: str
    selector: Any
    target: str | None
    carried: tuple[str, ...] = ()

    @property
    def selected(self) -> list[str]:
        """Names of the columns that stay, in the order of the file, without the target."""
        support = zip(self.prepared.feature_names, self.selector.support_, strict=True)
        wanted = {name for name, chosen in support if chosen} | set(self.carried)
        return [name for name in self.table.names if name in wanted]


def rank_table(request: Request, talk: Talk) -> Outcome:
    """Do all of it; whatever can be checked before reading is checked before reading."""
    rule = parse_select(request.select)
    if request.method is not None:
        request = replace(request, method=check_method(request.method))
        build_selector(request.method, rule, request.param, request.n_jobs)
    with opened_cluster(request.cluster, request.workers) as client:
        return _rank(request, rule, client, talk)


def _rank(request: Request, rule: CutRule | None, client: Any, talk: Talk) -> Outcome:
    scanned = is_scanned(request)
    if scanned:
        table, prepared = read_scan(request, client)
        _check_target(table, request)
    else:
        table = read_table(request.data)
        prepared = _prepare(table, request)
    method = fitting_method(request.method, prepared)
    selector = build_selector(method, rule, request.param, request.n_jobs)
    if scanned:
        check_streams(method, selector)
    elif client is not None:
        selector.set_params(cluster=client.scheduler.address)
    _tell_task(selector, prepared, request)
    _say_what_was_decided(method, request, prepared, talk)
    rule, carried = _with_keep(selector._rule(), table, prepared, request, talk)
    selector.set_params(n_features_to_select=rule)
    fit_named(selector, prepared, talk)
    return Outcome(table, prepared, method, selector, _target_name(table, request), carried)


def _tell_task(selector: Any, prepared: PreparedTable, request: Request) -> None:
    """Tell a method that knows classes and numbers which of them the target is."""
    given = any(word.startswith("task=") for word in request.param)
    if prepared.task is not None and not given and "task" in selector.get_params(deep=False):
        selector.set_params(task=prepared.task)


def _prepare(table: RawTable, request: Request) -> PreparedTable:
    """Check the names first: those are the user's mistakes, the rest is the data's."""
    from tamis.data.preparation import make_choice

    target = _target_name(table, request)
    names = {
        "columns": split_names(request.columns, table) or None,
        "include": split_names(request.include, table),
        "exclude": split_names(request.exclude, table),
    }
    with misuse_if_refused():
        make_choice(table, target, **names)
    _check_target(table, request)
    return prepare(table, target, task=request.task, **names)


def _check_target(table: RawTable, request: Request) -> None:
    if _target_name(table, request) is None and _needs_target(request.method):
        raise Misuse(
            f"--target is needed, because {request.method or 'ranking'} looks at the column to "
            f"predict; the columns are {listed(table.column_names)}"
        )


def _needs_target(method: str | None) -> bool:
    from tamis.selectors import selector_info

    return method is None or selector_info(method).supervised


def _target_name(table: RawTable, request: Request) -> str | None:
    """Name the target; an NPZ file knows its own."""
    return request.target if request.target is not None else table.target_name


def _say_what_was_decided(
    method: str, request: Request, prepared: PreparedTable, talk: Talk
) -> None:
    talk.say(prepared.task_reason)
    why = f", the default for {prepared.task} (set --method to change)"
    talk.say(f"method: {method}{'' if request.method else why}")
    for note in prepared.notes:
        if note != prepared.task_reason:
            talk.note(note)
    if request.n_jobs is not None and not has_n_jobs(method):
        talk.note(f"{method} has no n_jobs, so --n-jobs changes nothing")


def _with_keep(
    rule: CutRule, table: RawTable, prepared: PreparedTable, request: Request, talk: Talk
) -> tuple[CutRule, tuple[str, ...]]:
    """Put ``--keep`` into the rule; columns without a score are carried along beside it."""
    position = {name: j for j, name in enumerate(prepared.feature_names)}
    target = _target_name(table, request)
    names = [name for name in known_names(request.keep, table) if name != target]
    carried = tuple(dict.fromkeys(name for name in names if name not in position))
    if carried:
        talk.note(f"kept without a score: {listed(carried)}")
    indices = [position[name] for name in dict.fromkeys(names) if name in position]
    return (replace(rule, keep=indices) if indices else rule), carried


def fit_named(selector: Any, prepared: PreparedTable, talk: Talk) -> None:
    """Fit with the names of the columns, and with a progress bar if somebody watches."""
    callbacks: list[Any] = [ColumnNames(prepared.feature_names)]
    if talk.shows_progress:
        callbacks.append(StderrProgress())
    selector.set_callbacks(*callbacks)
    try:
        selector.fit(prepared.X, prepared.y)
    finally:
        selector.set_callbacks()
