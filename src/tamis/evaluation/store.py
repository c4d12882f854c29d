"""Store: finished units of work in a SQLite file that survives being killed at any moment."""

from __future__ import annotations

import json
import os
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.evaluation._versions import versions
from tamis.evaluation.units import UnitResult
from tamis.exceptions import InputError

__all__ = ["Store", "StoredUnit"]

# "tami" as a number: tells our files from other SQLite files.
APPLICATION_ID = 0x74616D69
SCHEMA_VERSION = 1
# How long a process waits for another that is writing; one write takes milliseconds.
BUSY_SECONDS = 60.0
KEYS_PER_QUERY = 500

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
_RESULT = (
    "ranking, scores, select_seconds, peak_bytes, probe_share, best_n_features, error, warnings"
)
_COLUMNS = f"key, meta, {_RESULT}, versions, finished"
_INSERT = f"INSERT OR IGNORE INTO units ({_COLUMNS}) VALUES ({', '.join('?' * 12)})"


class StoredUnit(NamedTuple):
    """A finished unit of work as it is in the store.

    Examples
    --------
    >>> from tamis.evaluation.store import StoredUnit
    >>> StoredUnit._fields
    ('key', 'meta', 'result', 'versions', 'finished')
    """

    key: str
    meta: dict[str, Any]
    result: UnitResult
    versions: dict[str, str]
    finished: str


class Store:
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
    >>> from tamis.evaluation.units import UnitResult
    >>> result = UnitResult(np.array([2, 0, 1], dtype=np.int32), [], 0.1, None, None, None, None)
    >>> store = Store()
    >>> store.put("a key", {"method": "dft"}, result)
    >>> store.has("a key"), len(store), next(store.rows()).result.order.tolist()
    (True, 1, [2, 0, 1])
    """

    def __init__(self, path: str | os.PathLike[str] | None = None, *, read_only: bool = False):
        self.path = None if path is None else os.fspath(path)
        self.read_only = read_only
        self._versions = json.dumps(versions())
        with self._refusals("open"):
            self._connection = self._connect()
            try:
                self._prepare()
            except BaseException:
                self._connection.close()
                raise

    def __repr__(self) -> str:
        return f"Store({self.path!r})"

    def __len__(self) -> int:
        with self._refusals("read"):
            return int(self._connection.execute("SELECT count(*) FROM units").fetchone()[0])

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; a closed store cannot be used any more."""
        self._connection.close()

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
        row = (key, json.dumps(dict(meta)), *_packed(result), self._versions, _now())
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
        for condition, values in _conditions(keys):
            statement = f"SELECT {_COLUMNS} FROM units {condition} ORDER BY key"
            with self._refusals("read"):
                found = self._connection.execute(statement, values).fetchall()
            yield from map(_unpacked, found)

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
        for condition, values in _conditions(keys):
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

    def _connect(self) -> sqlite3.Connection:
        options: Any = {"timeout": BUSY_SECONDS, "isolation_level": None}
        if self.path is None:
            return sqlite3.connect(":memory:", **options)
        if self.read_only:
            from pathlib import Path

            address = Path(self.path).absolute().as_uri() + "?mode=ro"
            return sqlite3.connect(address, uri=True, **options)
        return sqlite3.connect(self.path, **options)

    def _prepare(self) -> None:
        """Refuse files that are not ours, then make the table if there is none."""
        execute = self._connection.execute
        known = int(execute("PRAGMA application_id").fetchone()[0])
        version = int(execute("PRAGMA user_version").fetchone()[0])
        tables = int(execute("SELECT count(*) FROM sqlite_master").fetchone()[0])
        if known != APPLICATION_ID and (tables or self.read_only):
            raise InputError(
                f"Store: expected a store of tamis or a new file, got {self.path!r}, a SQLite file "
                "with other tables. Give another name."
            )
        if version > SCHEMA_VERSION:
            raise InputError(
                f"Store: expected a store of version {SCHEMA_VERSION}, got version {version} in "
                f"{self.path!r}, written by a newer tamis. Update tamis, or give another name."
            )
        if self.read_only:
            return
        # Two processes may arrive here together: all of this may be done twice.
        execute("PRAGMA journal_mode = WAL")
        # In write-ahead mode this is safe against kill -9, and a power cut costs the last rows
        # but never the file.
        execute("PRAGMA synchronous = NORMAL")
        if known != APPLICATION_ID:
            execute(f"PRAGMA application_id = {APPLICATION_ID}")
            execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        execute(_SCHEMA)

    @contextmanager
    def _refusals(self, doing: str) -> Iterator[None]:
        """Turn what SQLite says into what the user can do."""
        try:
            yield
        except sqlite3.Error as error:
            raise InputError(
                f"Store: expected to {doing} {self.path or 'a store in memory'!r}, got: {error}. "
                f"{_remedy(str(error), doing)}"
            ) from error


def _remedy(reason: str, doing: str) -> str:
    kept = "Nothing that was stored is lost. " if doing == "write" else ""
    if "full" in reason or "disk I/O" in reason:
        return f"{kept}Free some space and run the same call again: it continues from there."
    if "readonly" in reason or "read-only" in reason:
        return f"{kept}Give a file in a folder that you may write to, or a copy of this one."
    if "locked" in reason or "busy" in reason:
        return f"{kept}Another process keeps it locked: wait for it or end it, then run again."
    if "unable to open" in reason:
        return "Give the name of a file (not a folder) in an existing folder you may write to."
    if "not a database" in reason or "malformed" in reason:
        return "It is no SQLite file, or a damaged one: give another name, or remove it."
    return f"{kept}Check the file, or give another name."


def _conditions(keys: Iterable[str] | None) -> Iterator[tuple[str, list[str]]]:
    if keys is None:
        yield "", []
        return
    wanted = sorted(set(keys))
    for start in range(0, len(wanted), KEYS_PER_QUERY):
        part = wanted[start : start + KEYS_PER_QUERY]
        yield f"WHERE key IN ({', '.join('?' * len(part))})", part


def _packed(result: UnitResult) -> tuple[Any, ...]:
    """The result as values of SQLite, in the order of `_RESULT`."""
    order = zlib.compress(np.ascontiguousarray(result.order, dtype="<i4").tobytes(), 1)
    share = result.probe_share
    return (
        order,
        json.dumps(list(result.scores)),
        float(result.select_seconds),
        None if result.peak_bytes is None else int(result.peak_bytes),
        None if share is None else json.dumps({str(k): float(v) for k, v in share.items()}),
        None if result.best_n_features is None else int(result.best_n_features),
        result.error,
        json.dumps(list(result.warnings)),
    )


def _unpacked(row: tuple[Any, ...]) -> StoredUnit:
    key, meta, order, scores, seconds, peak, share, best, error, warned, versions_, finished = row
    result = UnitResult(
        order=_order(order),
        scores=json.loads(scores),
        select_seconds=seconds,
        peak_bytes=peak,
        probe_share=share and {int(k): v for k, v in json.loads(share).items()},
        best_n_features=best,
        error=error,
        warnings=tuple(json.loads(warned)),
    )
    return StoredUnit(key, json.loads(meta), result, json.loads(versions_), finished)


def _order(packed: bytes) -> NDArray[np.int32]:
    return np.frombuffer(zlib.decompress(packed), dtype="<i4").astype(np.int32)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
