"""From a request to a fitted selector: read, choose columns, prepare, choose a method, fit."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tamis._runtime.callbacks import report_to
from tamis._runtime.progress import StderrProgress
from tamis._runtime.wording import listed
from tamis.cli._options import (
    build_selector,
    check_method,
    fitting_method,
    has_n_jobs,
    known_names,
    parse_select,
    split_names,
)
from tamis.cli.console import Misuse, Talk, misuse_if_refused
from tamis.cutoff import CutRule
from tamis.data import ColumnRole, PreparedTable, RawTable, prepare, read_table
from tamis.data.preparation import ColumnChoice, make_choice
from tamis.data.roles import column_notes
from tamis.data.table_target import check_task

IN_BLOCKS = "is read block by block"


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
class RankedTable:
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


def rank_table(request: Request, talk: Talk) -> RankedTable:
    """Do all of it; whatever can be checked before reading is checked before reading."""
    rule = parse_select(request.select)
    if request.method is not None:
        method = check_method(request.method)
        request = replace(request, method=method)
        build_selector(method, rule, request.param, request.n_jobs)
    with opened_cluster(request.cluster, request.workers) as client:
        return _rank(request, rule, client, talk)


def _rank(request: Request, rule: CutRule | None, client: Any, talk: Talk) -> RankedTable:
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
    return RankedTable(table, prepared, method, selector, _target_name(table, request), carried)


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
    report_to(selector, *callbacks)
    try:
        selector.fit(prepared.X, prepared.y)
    finally:
        report_to(selector)


def is_scanned(request: Request) -> bool:
    """Tell whether the table is read block by block rather than into memory."""
    if not request.may_scan or is_many(request.data):
        return request.may_scan
    asked = request.cluster is not None or request.workers is not None
    return asked and not takes_cluster(request.method)


def is_many(data: Path) -> bool:
    """Tell a folder or a pattern from a single file."""
    return data.is_dir() or (not data.exists() and glob.has_magic(str(data)))


def takes_cluster(method: str | None) -> bool:
    """Tell whether a method has a cluster of its own, and reads the table into memory."""
    from tamis.selectors import make_selector

    return method is not None and "cluster" in make_selector(method).get_params(deep=False)


@contextmanager
def opened_cluster(cluster: str | None, workers: int | None) -> Iterator[Any]:
    """Client of the workers that were asked for, or None."""
    if cluster is not None and workers is not None:
        raise Misuse("--cluster and --workers: give one of the two")
    from tamis.passes.dask.client import open_client

    with open_client(workers if cluster is None else cluster, "--cluster") as client:
        yield client


def check_streams(method: str, selector: Any) -> None:
    """Refuse a method that needs the whole table at once."""
    from tamis.selectors import list_selectors, make_selector

    if not selector._streams:
        able = [name for name in list_selectors() if make_selector(name)._streams]
        raise Misuse(
            f"--method {method} needs the whole table in memory, and this one {IN_BLOCKS}; use one "
            f"of {', '.join(able)}, or a single file without --cluster and --workers"
        )


@dataclass(frozen=True)
class Outline:
    """What the files say of their columns before rows are read; stands in for a RawTable.

    Parameters
    ----------
    path : Path
        What was asked for: a file, a folder or a pattern.
    names : tuple of str
        The columns.
    are_given : bool
        Whether the files name them.
    beside : tuple of str
        Arrays that may be a target and are no columns.
    target_name : str or None
        The target that the files bring.
    """

    path: Path
    names: tuple[str, ...]
    are_given: bool
    beside: tuple[str, ...]
    target_name: str | None

    @property
    def column_names(self) -> tuple[str, ...]:
        """Every name that can be asked for."""
        return (*self.names, *self.beside)

    @property
    def who(self) -> str:
        """The name with which messages start."""
        return self.path.name

    @property
    def target(self) -> str | None:
        """Not None if the files bring a target."""
        return self.target_name


def read_scan(request: Request, client: Any) -> tuple[Any, PreparedTable]:
    """Open the files, choose columns by their types, and find out what the target is."""
    from tamis.data import scan
    from tamis.data.reading import open_files

    table: Any = _outline(request.data, open_files(request.data))
    target = request.target if request.target is not None else table.target_name
    choice = _choice(request, table, target)
    # Workers may have been started in another folder.
    paths = request.data if client is None else os.path.abspath(request.data)
    source = scan(paths, target=target, **_wanted(choice, table))
    source.cluster = request.cluster if client is None else client
    judged = {role.name: role for role in source.roles}
    roles = [judged.get(name) or _unused(name, choice) for name in table.names]
    used = [role.name for role in roles if role.used]
    task, reason = _find_task(request, source, target, table.who)
    notes = column_notes(roles, numbers=source.text_notes)
    return table, PreparedTable(source, None, used, task, reason, tuple(roles), notes)


def _outline(path: Path, files: list[Any]) -> Outline:
    first = files[0]
    names = first.names or tuple(f"x{j}" for j in range(first.n_columns))
    beside = tuple(name for name in first.beside if name not in names)
    target = "y" if "y" in beside and first.y_is_target else None
    return Outline(path, names, first.names is not None, beside, target)


def _choice(request: Request, table: Any, target: str | None) -> ColumnChoice:
    names = {
        "columns": split_names(request.columns, table) or None,
        "include": split_names(request.include, table),
        "exclude": split_names(request.exclude, table),
    }
    with misuse_if_refused():
        choice = make_choice(table, target, **names)
        check_task(table.who, request.task, target)
    return choice


def _wanted(choice: ColumnChoice, table: Outline) -> dict[str, Any]:
    """The columns as `tamis.scan` takes them: by name, or by number where there are no names."""
    asked = [n for n in table.names if choice.objection(n) is None and n != choice.target]
    if not table.are_given:
        return {"columns": [table.names.index(name) for name in asked]}
    if choice.columns is not None:
        return {"columns": asked}
    return {
        "include": [name for name in table.names if name in choice.include],
        "exclude": [name for name in table.names if name in choice.exclude],
    }


def _unused(name: str, choice: ColumnChoice) -> ColumnRole:
    if name == choice.target:
        return ColumnRole(name, "target", False, "target")
    return ColumnRole(name, "numeric", False, choice.objection(name) or "target")


def _find_task(
    request: Request, source: Any, target: str | None, who: str
) -> tuple[str | None, str]:
    """Tell the task from the option or the method, or from reading the target once."""
    from tamis.passes.opening import read_target
    from tamis.selectors import selector_info

    if target is None:
        return None, "no target, so unsupervised"
    if request.task is not None:
        return request.task, f"target {target!r}: {request.task} as asked"
    tasks = () if request.method is None else selector_info(request.method).tasks
    if len(tasks) == 1:
        return tasks[0], f"target {target!r}: {tasks[0]}, which {request.method} is for"
    found = read_target(source, who, "auto")
    n_values = "many different values" if found.labels is None else f"{found.labels.size:,} classes"
    return found.task, f"target {target!r}: {n_values}, so {found.task} (set --task to change)"


class ColumnNames:
    """Tell a fit the names of its columns, so that messages can use them.

    The matrix made from a file has no names, and a data frame would be a second copy of it.

    Parameters
    ----------
    names : sequence of str
        One per column.
    """

    def __init__(self, names: Any):
        import numpy as np

        self.names = np.array(names, dtype=object)

    def setup(self, estimator: Any, context: Any) -> None:
        """Do nothing."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Set the names as soon as the input was checked."""
        if context.parent is None:
            estimator.feature_names_in_ = self.names

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        """Do nothing."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """Do nothing."""
