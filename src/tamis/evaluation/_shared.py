"""A plan on disk, so that workers map its tables instead of each receiving a copy."""

from __future__ import annotations

import os
import pickle
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from tamis.evaluation._plan import Plan
from tamis.evaluation._tables import Table
from tamis.exceptions import InputError

PREFIX = "tamis-compare-"
_PARTS = ("data", "indices", "indptr")


@contextmanager
def shared_plan(plan: Plan) -> Iterator[Path]:
    """Folder with the plan and its tables, there as long as the block lasts."""
    sweep()
    folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
    try:
        _write(plan, folder)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def sweep() -> None:
    """Remove what processes that were killed left behind."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*-*"):
        process = folder.name[len(PREFIX) :].partition("-")[0]
        if process.isdigit() and not _is_alive(int(process)):
            shutil.rmtree(folder, ignore_errors=True)


def _is_alive(process: int) -> bool:
    if os.name != "posix":  # there, signal 0 would end it
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # somebody else's
        return True
    return True


def _write(plan: Plan, folder: Path) -> None:
    try:
        for number, setting in enumerate(plan.settings):
            _write_table(setting.table.X, folder, number)
    except OSError as error:
        raise InputError(
            f"compare: expected to write the tables to {str(folder)!r} for the workers, got: "
            f"{error.strerror or error}. Free some space, set TMPDIR to another folder, or use "
            "n_jobs=1, which needs none."
        ) from error
    # Also takes functions and classes of notebooks and scripts, which pickle does not.
    from joblib.externals.loky.backend.reduction import dumps

    bare = [setting._replace(table=_without_cells(setting.table)) for setting in plan.settings]
    try:
        content = dumps(plan._replace(settings=bare, jobs=[]))
    except Exception as error:
        raise InputError(
            "compare: expected selectors, learners and metrics that can be sent to other "
            f"processes, got: {error}. Define them in a module, or use n_jobs=1."
        ) from error
    (folder / "plan").write_bytes(content)


def _without_cells(table: Table) -> Table:
    """The table with nothing but the class of a sparse matrix in the place of its cells."""
    return table._replace(X=type(table.X) if sparse.issparse(table.X) else None)


def _write_table(X: Any, folder: Path, number: int) -> None:
    if not sparse.issparse(X):
        np.save(folder / f"{number}.npy", X)
        return
    for part in _PARTS:
        np.save(folder / f"{number}-{part}.npy", getattr(X, part))
    np.save(folder / f"{number}-shape.npy", X.shape)


def read_plan(folder: Path) -> Plan:
    """The plan again, with tables that are mapped from the disk."""
    plan = pickle.loads((folder / "plan").read_bytes())
    settings = [
        setting._replace(table=setting.table._replace(X=_read_table(folder, number, setting)))
        for number, setting in enumerate(plan.settings)
    ]
    return plan._replace(settings=settings)


def _read_table(folder: Path, number: int, setting: Any) -> Any:
    kind = setting.table.X
    if kind is None:
        return _mapped(folder / f"{number}.npy")
    parts = tuple(_mapped(folder / f"{number}-{part}.npy") for part in _PARTS)
    return kind(parts, shape=tuple(np.load(folder / f"{number}-shape.npy").tolist()))


def _mapped(path: Path) -> Any:
    """A plain array over the mapped file; numpy's memmap class would infect what is made of it."""
    try:
        return np.load(path, mmap_mode="r").view(np.ndarray)
    except ValueError:  # nothing to map in an empty array
        return np.load(path)
