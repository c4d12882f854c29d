"""Runs on disk: what a killed fit needs to go on, written whole or not at all."""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from tamis.data import atomic_path
from tamis.exceptions import InputError
from tamis.weighting._learning import Run

VERSION = 1
# What is kept as an array; the rest are numbers, words and lists.
ARRAYS = ("weights", "snapshot", "path")


def fingerprint(settings: dict[str, Any], *arrays: Any) -> str:
    """Short name of a fit: what it does, on which numbers."""
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True, default=repr).encode())
    for array in arrays:
        if array is not None:
            digest.update(f"{array.dtype}{array.shape}".encode())
            digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def save_runs(path: Path, name: str, runs: list[Run]) -> None:
    """Write the runs of a fit; an older file is replaced in one step."""
    content: dict[str, Any] = {}
    for number, run in enumerate(runs):
        for item in fields(run):
            content[f"{number}/{item.name}"] = np.asarray(getattr(run, item.name))
    header = json.dumps({"version": VERSION, "fit": name, "n_runs": len(runs)})
    with atomic_path(path, force=True) as temporary, temporary.open("wb") as file:
        np.savez(file, header=np.asarray(header), **content)


def load_runs(path: Path, name: str, who: str) -> list[Run]:
    """Read the runs of the same fit; those of another one are not touched."""
    try:
        with np.load(path, allow_pickle=False) as file:
            header = json.loads(str(file["header"]))
            content = {key: file[key] for key in file.files}
    except (OSError, ValueError, KeyError, EOFError) as error:
        raise InputError(
            f"{who}: expected a checkpoint of OFW in {str(path)!r}, got something else "
            f"({type(error).__name__}). Give another path, or remove the file."
        ) from error
    if header.get("version") != VERSION or header.get("fit") != name:
        raise InputError(
            f"{who}: the checkpoint {str(path)!r} belongs to a fit with other data or parameters. "
            "Give another path, or remove the file to start anew."
        )
    return [_read_run(content, number) for number in range(header["n_runs"])]


def _read_run(content: dict[str, Any], number: int) -> Run:
    values: dict[str, Any] = {}
    for item in fields(Run):
        value = content[f"{number}/{item.name}"]
        values[item.name] = value if item.name in ARRAYS else value.tolist()
    return Run(**values)
