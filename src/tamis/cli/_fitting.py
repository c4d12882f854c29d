"""From a request to a fitted selector: read, choose columns, prepare, choose a method, fit."""

from __future__ import annotations

import glob
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tamis._runtime.callbacks import report_to
from tamis._runtime.progress import StderrProgress
from tamis._validation import check_parameters
from tamis.cli import _options
from tamis.cli.console import Misuse, Talk, misuse_if_refused
from tamis.cutoff import CutRule
from tamis.cutoff.best_count import BestCount
from tamis.data import PreparedTable, prepare, read_table
from tamis.data.preparation import make_choice
from tamis.selectors import make_selector


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
    """A fitted selector and its table; `carried` are columns of ``--keep`` without a score."""

    table: Any
    prepared: PreparedTable
    method: str
    selector: Any
    target: str | None
    carried: tuple[str, ...] = ()


def rank_table(request: Request, talk: Talk) -> RankedTable:
    """Do all of it; whatever can be checked before reading is checked before reading."""
    rule = None if request.select is None else _options.parse_select(request.select)
    if request.method is not None:
        request = replace(request, method=_options.check_method(request.method))
        build_selector(str(request.method), rule, request.param, n_jobs=request.n_jobs)
    if request.cluster is None and request.workers is None:
        return _rank(request, rule, None, talk)
    from tamis.cli._scanning import opened_cluster

    with opened_cluster(request.cluster, request.workers) as client:
        return _rank(request, rule, client, talk)


def _rank(request: Request, rule: CutRule | None, client: Any, talk: Talk) -> RankedTable:
    if scanned := _is_scanned(request):
        from tamis.cli import _scanning

        table = _scanning.read_outline(request.data)
    else:
        table = read_table(request.data)
    if request.target is None:  # an NPZ file knows its own
        request = replace(request, target=table.target_name)
    names = column_names(table, vars(request))
    with misuse_if_refused():  # wrong names are the user's mistakes, the rest is the data's
        choice = make_choice(table, request.target, **names)
    if request.target is None:
        _options.check_needs_no_target(request.method, table)
    if scanned:
        prepared = _scanning.prepare_scan(table, choice, request, client)
    else:
        prepared = prepare(table, request.target, task=request.task, **names)
    method = request.method or _options.DEFAULT_METHODS[str(prepared.task)]
    if request.method is not None:
        _options.check_suits(method, prepared)
    selector = build_selector(
        method, rule, request.param, n_jobs=request.n_jobs, task=prepared.task
    )
    if client is not None and not scanned:
        selector.set_params(cluster=client.scheduler.address)
    _report_decisions(selector, method, prepared, request, talk)
    selector.set_params(n_features_to_select=selector._rule())
    carried = _options.apply_keep(selector, table, prepared, request, talk) if request.keep else ()
    begun = time.perf_counter()
    fit_named(selector, prepared, talk)
    if not selector._seen_chance:
        from tamis.cli._chance import compare_with_chance

        compare_with_chance(selector, prepared, time.perf_counter() - begun, talk)
    return RankedTable(table, prepared, method, selector, request.target, carried)


def _is_scanned(request: Request) -> bool:
    """Tell whether the table is read block by block rather than into memory."""
    data, method = request.data, request.method
    if data.is_dir() or (not data.exists() and glob.has_magic(str(data))):
        return request.may_scan
    has_workers = request.cluster is not None or request.workers is not None
    # A method with a cluster of its own reads the table into memory.
    has_own = method is not None and _has(make_selector(method), "cluster")
    return request.may_scan and has_workers and not has_own


def column_names(table: Any, options: Mapping[str, Any]) -> dict[str, list[str] | None]:
    """Values of ``--columns``, ``--include`` and ``--exclude``, as `prepare` takes them."""
    given = {name: options[name] for name in ("columns", "include", "exclude")}
    return {
        name: (_options.split_names(values, table) or None) if values else None
        for name, values in given.items()
    }


def build_selector(method: str, rule: CutRule | None, param: Iterable[str], **given: Any) -> Any:
    """Make the selector and check its parameters, before any data is read if possible."""
    selector = make_selector(method)
    given["n_features_to_select"] = rule
    params = {name: v for name, v in given.items() if v is not None and _has(selector, name)}
    if param:
        params |= _options.parse_params(selector, param)
    if isinstance(rule, BestCount) and not selector._chooses_count:
        takes = f"it takes {_options.SELECT_HELP}"
        raise Misuse(f"--select best: {method} finds no number of its own; {takes}")
    selector.set_params(**params)
    with misuse_if_refused():
        check_parameters(selector, selector._constraints)
    return selector


def _has(selector: Any, parameter: str) -> bool:
    return parameter in selector.get_params(deep=False)


def _report_decisions(
    selector: Any, method: str, prepared: PreparedTable, request: Request, talk: Talk
) -> None:
    talk.say(prepared.task_reason)
    why = f", the default for {prepared.task} (set --method to change)"
    talk.say(f"method: {method}{'' if request.method else why}")
    for note in prepared.notes:
        if note != prepared.task_reason:
            talk.note(note)
    if request.n_jobs is not None and not _has(selector, "n_jobs"):
        talk.note(f"{method} has no n_jobs, so --n-jobs changes nothing")


class ColumnNames:
    """Tells a fit the names of its columns, so that messages can use them.

    The matrix made from a file has no names, and a data frame would be a second copy of it.
    """

    def __init__(self, names: Any):
        self.names = np.array(names, dtype=object)

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Set the names as soon as the input was checked."""
        if context.parent is None:
            estimator.feature_names_in_ = self.names

    def setup(self, estimator: Any, context: Any) -> None:
        """Do nothing."""

    on_fit_task_end = teardown = setup


def fit_named(selector: Any, prepared: PreparedTable, talk: Talk, **more: Any) -> None:
    """Fit with the names of the columns, and with a progress bar if somebody watches."""
    callbacks: list[Any] = [ColumnNames(prepared.feature_names)]
    if talk.shows_progress:
        callbacks.append(StderrProgress())
    report_to(selector, *callbacks)
    try:
        selector.fit(prepared.X, prepared.y, **more)
    finally:
        report_to(selector)
