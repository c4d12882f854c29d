"""Finished units of experiments, by key, as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, ClassVar

from tamis._runtime.sqlite import SqliteFile, key_conditions
from tamis.evaluation._versions import versions

_SCHEMA = """
CREATE TABLE IF NOT EXISTS results (
    key TEXT PRIMARY KEY NOT NULL,
    value TEXT NOT NULL,
    seconds REAL NOT NULL,
    versions TEXT NOT NULL
)
"""


class UnitStore(SqliteFile):
    """Results of units of work; a key that is there already stays as it is."""

    application_id: ClassVar[int] = 0x74616D72  # "tamr"
    schema: ClassVar[str] = _SCHEMA

    def put(self, key: str, value: Any, seconds: float) -> None:
        """Store a result, whole or not at all."""
        row = (key, json.dumps(value), float(seconds), json.dumps(versions()))
        with self._refusals("write"):
            self._connection.execute("INSERT OR IGNORE INTO results VALUES (?, ?, ?, ?)", row)

    def read(self, keys: Iterable[str]) -> dict[str, tuple[Any, float]]:
        """Value and seconds of those units that are stored."""
        found = {}
        for condition, wanted in key_conditions(keys):
            query = f"SELECT key, value, seconds FROM results {condition}"
            with self._refusals("read"):
                for key, value, seconds in self._connection.execute(query, wanted).fetchall():
                    found[key] = (json.loads(value), seconds)
        return found
