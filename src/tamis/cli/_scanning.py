"""Ranking a table that is read block by block, here or by workers of Dask."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tamis.cli._fitting import Request
from tamis.cli.console import Misuse, misuse_if_refused
from tamis.data import ColumnRole, PreparedTable, scan
from tamis.data.preparation import ColumnChoice
from tamis.data.roles import column_notes
from tamis.data.scanning import open_files
from tamis.data.table_target import check_task
from tamis.passes.dask.client import open_client
from tamis.passes.opening import read_target
from tamis.selectors import list_selectors, selector_info


@contextmanager
def opened_cluster(cluster: str | None, workers: int | None) -> Iterator[Any]:
    """Client of the workers that were asked for, or None."""
    if cluster is not None and workers is not None:
        raise Misuse("--cluster and --workers: give one of the two")
    with open_client(workers if cluster is None else cluster, "--cluster") as client:
        yield client


@dataclass(frozen=True)
class Outline:
    """What the files say of their columns before rows are read; stands in for a RawTable.

    `are_given` tells whether the files name the columns; `beside` are arrays that may be a target
    and are no columns.
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


def read_outline(path: Path) -> Any:
    """Open the files, and take the columns of the first for those of all."""
    first = open_files(path)[0]
    names = first.names or tuple(f"x{j}" for j in range(first.n_columns))
    beside = tuple(name for name in first.beside if name not in names)
    target = "y" if "y" in beside and first.y_is_target else None
    return Outline(path, names, first.names is not None, beside, target)


def prepare_scan(
    table: Outline, choice: ColumnChoice, request: Request, client: Any
) -> PreparedTable:
    """Choose columns by their types, and find out what the target is."""
    with misuse_if_refused():
        check_task(table.who, request.task, request.target)
    if request.method is not None and not selector_info(request.method).out_of_core:
        able = [name for name in list_selectors() if selector_info(name).out_of_core]
        raise Misuse(
            f"--method {request.method} needs the whole table in memory, and this one is read "
            f"block by block; use one of {', '.join(able)}, or a single file without --cluster "
            "and --workers"
        )
    # Workers may have been started in another folder.
    paths = request.data if client is None else os.path.abspath(request.data)
    source = scan(paths, target=request.target, **_wanted(choice, table))
    source.cluster = request.cluster if client is None else client
    judged = {role.name: role for role in source.roles}
    roles = [judged.get(name) or _unused(name, choice) for name in table.names]
    used = [role.name for role in roles if role.used]
    task, reason = _find_task(request, source, table.who)
    notes = column_notes(roles, numbers=source.text_notes)
    return PreparedTable(source, None, used, task, reason, tuple(roles), notes)


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


def _find_task(request: Request, source: Any, who: str) -> tuple[str | None, str]:
    """Tell the task from the option or the method, or from reading the target once."""
    if request.target is None:
        return None, "no target, so unsupervised"
    start = f"target {request.target!r}:"
    if request.task is not None:
        return request.task, f"{start} {request.task} as asked"
    tasks = () if request.method is None else selector_info(request.method).tasks
    if len(tasks) == 1:
        return tasks[0], f"{start} {tasks[0]}, which {request.method} is for"
    found, _ = read_target(source, who, "auto")
    n_values = "many different values" if found.labels is None else f"{found.labels.size:,} classes"
    return found.task, f"{start} {n_values}, so {found.task} (set --task to change)"
