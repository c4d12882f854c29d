"""Runs of OFW in a checkpoint."""

from __future__ import annotations

import math
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from tamis._runtime import checkpoint
from tamis.weighting._learning import Run

KIND = "OFW"
STATUS = ("running", "settled", "max_iter", "stopped", "left the simplex")
# Lists of a run, and the type of their items.
LISTS = {"evaluations": int, "energy": float, "energy_error": float, "path_evaluations": int}


def save_runs(path: Path, fingerprint: str, runs: list[Run]) -> None:
    """Write the runs of a fit."""
    content = [{item.name: getattr(run, item.name) for item in fields(run)} for run in runs]
    checkpoint.save(path, KIND, fingerprint, content)


def load_runs(path: Path, fingerprint: str, who: str, n_runs: int, n_columns: int) -> list[Run]:
    """Read the runs of the same fit, as many as it has, for so many columns."""
    content = checkpoint.load(path, KIND, who, fingerprint).content
    if not isinstance(content, list) or len(content) != n_runs:
        raise checkpoint.not_a_checkpoint(who, KIND, path, f"no list of {n_runs} runs")
    if not all(_is_run(run, n_columns) for run in content):
        raise checkpoint.not_a_checkpoint(who, KIND, path, "values that no run has")
    return [Run(**run) for run in content]


def _is_run(found: Any, n_columns: int) -> bool:
    """Whether names, types, shapes and numbers are those of a run over so many columns."""
    empty = Run.begin(n_columns, 0)
    if not isinstance(found, dict) or set(found) != {item.name for item in fields(Run)}:
        return False
    for item in fields(Run):
        value, like = found[item.name], getattr(empty, item.name)
        if item.name in LISTS:
            if not _is_list(value, LISTS[item.name]):
                return False
        elif isinstance(like, np.ndarray):
            if not isinstance(value, np.ndarray) or value.dtype != like.dtype:
                return False
        elif type(value) is not type(like):
            return False
    return _agree(found, n_columns)


def _agree(run: dict[str, Any], n_columns: int) -> bool:
    weights, snapshot, path = run["weights"], run["snapshot"], run["path"]
    shapes = (
        weights.shape == (n_columns,)
        and snapshot.shape in ((0,), (n_columns,))
        and path.shape == (len(run["path_evaluations"]), n_columns)
        and len(run["evaluations"]) == len(run["energy"]) == len(run["energy_error"])
    )
    counts = ("seed", "n_iter", "n_evaluations", "n_errors", "snapshot_iter")
    return bool(
        shapes
        and run["status"] in STATUS
        and all(0 <= run[name] < 2**62 for name in counts)
        and math.isfinite(run["baseline"])
        and np.isfinite(weights).all()
        and (weights >= 0).all()
        and weights.sum() > 0
        and np.isfinite(snapshot).all()
        and np.isfinite(path).all()
    )


def _is_list(values: Any, kind: type) -> bool:
    return isinstance(values, list) and all(type(value) is kind for value in values)
