"""Store: finished units of work in a SQLite file that survives being killed at any moment."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, ClassVar

from tamis._runtime.sqlite import SqliteFile, key_conditions
from tamis.evaluation._stored import RESULT, StoredUnit, packed, unpacked
from tamis.evaluation._versions import versions
from tamis.evaluation.run.units import UnitResult

__all__ = ["Store", "StoredUnit"]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS units (
    key TEXT PRIMARY KEY NOT NULL,
    meta TEXT NOT NULL,
    ranking BLOB NOT NULL,
    scores TEXT NOT NULL,
    select_seconds REAL NOT NULL,
    peak_bytes INTEGER,
    probe_share TEXT,
    best_n_features INTEGER,
    error TEXT,
    warnings TEXT NOT NULL,
    versions TEXT NOT NULL,
    finished TEXT NOT NULL
)
"""
_COLUMNS = f"key, meta, {RESULT}, versions, finished"
_INSERT = f"INSERT OR IGNORE INTO units ({_COLUMNS}) VALUES ({', '.join('?' * 12)})"


class Store(SqliteFile):
    """Finished units of work in a SQLite file.

    A unit (one selector on one split of one data set) is one row under a key that is made of
    everything its result depends on. It is written in a transaction of its own, and a key that is
    there already is left as it is: a run that was killed continues where it was, two processes may
    fill one store, and a store may hold many comparisons.

    Parameters
    ----------
    path : str, path-like or None, default=None
        The file; it is created if it is missing. `None` keeps everything in memory.
    read_only : bool, default=False
        Open an existing file for reading only.

    Raises
    ------
    InputError
        When the file cannot be opened, is no store, or a row cannot be written (disk full, no
        permission). What was stored before stays.

    Notes
    -----
    The file is in write-ahead mode: while it is open there are two more files beside it, ending
    in ``-wal`` and ``-shm``, which belong to it and go away when the last process closes it. A
    store should not be on a network disk if two machines write to it.

    Failures are results: a unit that failed is not tried again unless :meth:`forget_failures`
    drops its row.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.evaluation.store import Store
    >>> from tamis.evaluation.run.units import UnitResult
    >>> result = UnitResult(np.array([2, 0, 1], dtype=np.int32), [], 0.1, None, None, None, None)
    >>> store = Store()
    >>> store.put("a key", {"method": "dft"}, result)
    >>> store.has("a key"), len(store), next(store.rows()).result.order.tolist()
    (True, 1, [2, 0, 1])
    """

    application_id: ClassVar[int] = 0x74616D69  # "tami"
    schema: ClassVar[str] = _SCHEMA

    def __init__(self, path: str | os.PathLike[str] | None = None, *, read_only: bool = False):
        super().__init__(path, read_only=read_only)
        self._versions = json.dumps(versions())

    def __len__(self) -> int:
        with self._refusals("read"):
            return int(self._connection.execute("SELECT count(*) FROM units").fetchone()[0])

    def has(self, key: str) -> bool:
        """Whether the result of this unit is stored.

        Parameters
        ----------
        key : str
            Key of the unit.

        Returns
        -------
        bool
            True for a failure, too: that is a result.
        """
        with self._refusals("read"):
            query = self._connection.execute("SELECT 1 FROM units WHERE key = ?", (key,))
            return query.fetchone() is not None

    def put(self, key: str, meta: Mapping[str, Any], result: UnitResult) -> None:
        """Store a result, unless the unit has one.

        Parameters
        ----------
        key : str
            Key of the unit.
        meta : mapping
            What a reader of the store should know of the unit; plain JSON values.
        result : UnitResult
            What came out, or the error.
        """
        row = (key, json.dumps(dict(meta)), *packed(result), self._versions, _now())
        with self._refusals("write"):
            # A statement on its own is a transaction: all of the row or nothing.
            self._connection.execute(_INSERT, row)

    def rows(self, keys: Iterable[str] | None = None) -> Iterator[StoredUnit]:
        """Stored units.

        Parameters
        ----------
        keys : iterable of str or None, default=None
            Only these; keys that are not stored are left out. `None` means all.

        Yields
        ------
        StoredUnit
            In the order of their keys.
        """
        for condition, values in key_conditions(keys):
            statement = f"SELECT {_COLUMNS} FROM units {condition} ORDER BY key"
            with self._refusals("read"):
                found = self._connection.execute(statement, values).fetchall()
            yield from map(unpacked, found)

    def finished(self, keys: Iterable[str]) -> dict[str, tuple[float | None, bool]]:
        """Which of these units are stored, without reading their results.

        Parameters
        ----------
        keys : iterable of str
            Keys of units.

        Returns
        -------
        dict
            For the keys that are stored, the seconds that the unit took (None if nobody noted
            them) and whether it failed.
        """
        found = {}
        for condition, values in key_conditions(keys):
            statement = f"SELECT key, meta, error IS NOT NULL FROM units {condition}"
            with self._refusals("read"):
                for key, meta, failed in self._connection.execute(statement, values).fetchall():
                    found[key] = (json.loads(meta).get("seconds"), bool(failed))
        return found

    def forget_failures(self) -> int:
        """Drop the units that failed, so that the next comparison tries them again.

        Returns
        -------
        int
            How many they were.
        """
        with self._refusals("write"):
            done = self._connection.execute("DELETE FROM units WHERE error IS NOT NULL")
            return int(done.rowcount)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
