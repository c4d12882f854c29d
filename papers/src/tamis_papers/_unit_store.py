"""Finished units of experiments, by key, as JSON."""

from __future__ import annotations

import json
import platform
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Self

from tamis.exceptions import InputError

PACKAGES = ("tamis", "numpy", "scipy", "scikit-learn", "numba")
APPLICATION = 0x74616D72  # "tamr", which tells our files from other SQLite files
# How long a process waits for another that is writing; one write takes milliseconds.
BUSY_SECONDS = 60.0
_SCHEMA = """
CREATE TABLE IF NOT EXISTS results (
    key TEXT PRIMARY KEY NOT NULL,
    value TEXT NOT NULL,
    seconds REAL NOT NULL,
    versions TEXT NOT NULL
)
"""


class UnitStore:
    """Results of units of work in a SQLite file; a key that is there already stays as it is."""

    def __init__(self, path: Path):
        self.path = path
        with self._refusals("open"):
            self._connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
            try:
                self._prepare()
            except BaseException:
                self._connection.close()
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._connection.close()

    def _prepare(self) -> None:
        execute = self._connection.execute
        (known,) = execute("PRAGMA application_id").fetchone()
        (tables,) = execute("SELECT count(*) FROM sqlite_master").fetchone()
        if known != APPLICATION and tables:
            raise InputError(
                f"reproduce: expected a store of tamis-papers or a new file, got {self.path}, a "
                "SQLite file with other tables. Give another --folder."
            )
        execute("PRAGMA journal_mode = WAL")
        # In write-ahead mode this is safe against kill -9; a power cut costs the last rows only.
        execute("PRAGMA synchronous = NORMAL")
        execute(f"PRAGMA application_id = {APPLICATION}")
        execute(_SCHEMA)

    @contextmanager
    def _refusals(self, doing: str) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise InputError(
                f"reproduce: expected to {doing} {self.path}, got: {error}. Check the file and the "
                "space left, then run again: what was stored is kept."
            ) from error

    def put(self, key: str, value: Any, seconds: float) -> None:
        """Store a result, whole or not at all."""
        row = (key, json.dumps(value), float(seconds), json.dumps(versions()))
        with self._refusals("write"):
            self._connection.execute("INSERT OR IGNORE INTO results VALUES (?, ?, ?, ?)", row)

    def read(self, keys: Iterable[str]) -> dict[str, tuple[Any, float]]:
        """Value and seconds of those units that are stored."""
        query = "SELECT value, seconds FROM results WHERE key = ?"
        found = {}
        with self._refusals("read"):
            for key in keys:
                for value, seconds in self._connection.execute(query, (key,)):
                    found[key] = (json.loads(value), seconds)
        return found


def versions(*more: str) -> dict[str, str]:
    """Versions of Python, of the packages that compute, and of more packages."""
    found = {"python": platform.python_version()}
    for package in (*PACKAGES, *more):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found
