"""Store: finished units of work in a SQLite file that survives being killed at any moment."""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.memory import free_memory
from tamis._runtime.plain import versions
from tamis._runtime.sqlite import SqliteFile, key_conditions
from tamis.evaluation.run.units import UnitResult
from tamis.exceptions import InputError

__all__ = ["Store", "StoredUnit"]

# Columns of the table: key and description, the result in the order of `_packed`, and the rest.
_COLUMNS = {
    "key": "TEXT PRIMARY KEY NOT NULL",
    "meta": "TEXT NOT NULL",
    "ranking": "BLOB NOT NULL",
    "scores": "TEXT NOT NULL",
    "select_seconds": "REAL NOT NULL",
    "peak_bytes": "INTEGER",
    "probe_share": "TEXT",
    "best_n_features": "INTEGER",
    "error": "TEXT",
    "warnings": "TEXT NOT NULL",
    "by_row": "BLOB",
    "versions": "TEXT NOT NULL",
    "finished": "TEXT NOT NULL",
    "sha256": "TEXT NOT NULL",
}
_NAMES = ", ".join(_COLUMNS)
_SCHEMA = ", ".join(f"{name} {kind}" for name, kind in _COLUMNS.items())
_INSERT = f"INSERT OR IGNORE INTO units ({_NAMES}) VALUES ({', '.join('?' * len(_COLUMNS))})"
# No ranking can be compressed to a smaller share than one in so many bytes.
_MOST_PACKED, _LEAST_BYTES = 64, 1024
# More clusters of rows than this are stored by nobody, see `plan.clusters_of`.
_MOST_CLUSTERS = 1_000_000
# What is known of a score.
_SCORE: dict[str, tuple[type, ...]] = {
    "count": (int,),
    "learner": (str,),
    "metric": (str,),
    "value": (int, float),
    "fit_seconds": (int, float),
    "note": (str, type(None)),
}


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


class Store(SqliteFile):
    """Finished units of work in a SQLite file.

    A unit (one selector on one split of one data set) is one row under a key that is made of
    everything its result depends on. It is written in a transaction of its own, and a key that is
    there already is left as it is: an interrupted run resumes, two processes may fill one store,
    and a store may hold many comparisons.

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
    in ``-wal`` and ``-shm``, which go away when the last process closes it. A store should not be
    on a network disk if two machines write to it. Every row has a checksum; a damaged row is
    refused. A unit that failed is not tried again unless :meth:`forget_failures` drops its row.

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
    schema_version: ClassVar[int] = 3
    schema: ClassVar[str] = f"CREATE TABLE IF NOT EXISTS units ({_SCHEMA})"

    def __init__(self, path: str | os.PathLike[str] | None = None, *, read_only: bool = False):
        super().__init__(path, read_only=read_only)
        self._versions = json.dumps(versions())

    def __len__(self) -> int:
        with self._refusals("read"):
            return int(self._connection.execute("SELECT count(*) FROM units").fetchone()[0])

    def has(self, key: str) -> bool:
        """Whether there is a result of the unit with this key; a failure is a result, too."""
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
        now = datetime.now(UTC).isoformat(timespec="seconds")
        row = (key, json.dumps(dict(meta)), *_packed(result), self._versions, now)
        with self._refusals("write"):
            # A statement on its own is a transaction: all of the row or nothing.
            self._connection.execute(_INSERT, (*row, _checksum(row)))

    def rows(self, keys: Iterable[str] | None = None) -> Iterator[StoredUnit]:
        """Stored units, in the order of their keys.

        Parameters
        ----------
        keys : iterable of str or None, default=None
            Only these; keys that are not stored are left out. `None` means all.
        """
        for condition, values in key_conditions(keys):
            statement = f"SELECT {_NAMES} FROM units {condition} ORDER BY key"
            with self._refusals("read"):
                found = self._connection.execute(statement, values).fetchall()
            for row in found:
                with self._whole(row[0]):
                    unit = _unpacked(row)
                yield unit

    @contextmanager
    def _whole(self, key: Any) -> Iterator[None]:
        """Refuse a row that cannot be read."""
        try:
            yield
        except (ValueError, TypeError, LookupError, RecursionError, zlib.error) as error:
            raise InputError(
                f"{type(self).__name__}: expected a whole row for the unit {key!r:.80} in "
                f"{self.path!r}, got a damaged one ({error}). Use a copy of the store from before, "
                "or a new one, which computes everything again."
            ) from error

    def finished(self, keys: Iterable[str]) -> dict[str, tuple[float | None, bool]]:
        """Which units with these keys are stored, without reading their results.

        For every key found: the seconds that the unit took (None if nobody noted them), and whether
        it failed.
        """
        found = {}
        for condition, values in key_conditions(keys):
            statement = f"SELECT key, meta, error IS NOT NULL FROM units {condition}"
            with self._refusals("read"):
                rows = self._connection.execute(statement, values).fetchall()
            for key, meta, failed in rows:
                with self._whole(key):
                    seconds = _of(json.loads(meta), dict).get("seconds")
                    known = None if seconds is None else float(_of(seconds, int, float))
                    found[key] = (known, bool(failed))
        return found

    def forget_failures(self) -> int:
        """Drop the units that failed, for another try, and return how many they were."""
        with self._refusals("write"):
            done = self._connection.execute("DELETE FROM units WHERE error IS NOT NULL")
            return int(done.rowcount)


def _packed(result: UnitResult) -> tuple[Any, ...]:
    """The result as values of SQLite."""
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
        None if result.by_row is None else zlib.compress(result.by_row.astype("<f4").tobytes(), 1),
    )


def _unpacked(row: tuple[Any, ...]) -> StoredUnit:
    """The unit of a row, whose checksum is verified before anything else."""
    if _checksum(row[:-1]) != row[-1]:
        raise ValueError("the checksum differs")
    key, meta, order, scores, seconds, peak, share, best, error, warned = row[:10]
    by_row, known, finished, _ = row[10:]
    shares = None if share is None else _of(json.loads(share), dict)
    listed = [_score(_of(one, dict)) for one in _of(json.loads(scores), list)]
    result = UnitResult(
        order=_order(order),
        scores=listed,
        select_seconds=float(_of(seconds, float)),
        peak_bytes=_of(peak, int, type(None)),
        probe_share=shares and {int(k): float(_of(v, float)) for k, v in shares.items()},
        best_n_features=_of(best, int, type(None)),
        error=_of(error, str, type(None)),
        warnings=tuple(_of(one, str) for one in _of(json.loads(warned), list)),
        by_row=None if by_row is None else _floats(by_row, len(listed)),
    )
    described, told = (_of(json.loads(text), dict) for text in (meta, known))
    return StoredUnit(_of(key, str), described, result, told, _of(finished, str))


def _checksum(row: tuple[Any, ...]) -> str:
    """Hash of the values of a row, and of their types."""
    text = json.dumps([value.hex() if isinstance(value, bytes) else value for value in row])
    return hashlib.sha256(text.encode()).hexdigest()


def _of(value: Any, *kinds: type) -> Any:
    if type(value) not in kinds:
        raise ValueError(f"a value of the type {type(value).__name__}")
    return value


def _score(stored: dict[str, Any]) -> dict[str, Any]:
    if stored.keys() != _SCORE.keys():
        raise ValueError("a score of another form")
    return {name: _of(stored[name], *kinds) for name, kinds in _SCORE.items()}


def _unzipped(packed: Any, most: int) -> bytes:
    """What was packed, if it is whole and not larger than it may be."""
    unpacker = zlib.decompressobj()
    content = unpacker.decompress(_of(packed, bytes), most)
    if not unpacker.eof or unpacker.unused_data:
        raise ValueError("values that cannot be unpacked")
    return content


def _floats(packed: Any, n_scores: int) -> NDArray[np.float32]:
    """One row of numbers per score."""
    most = min(4 * _MOST_CLUSTERS * n_scores, free_memory() // 4)
    content = _unzipped(packed, most + 1)
    if not content:
        raise ValueError("no scores by row")
    return np.frombuffer(content, dtype="<f4").astype(np.float32).reshape(n_scores, -1)


def _order(packed: Any) -> NDArray[np.int32]:
    """The ranking; what it unpacks to is bounded, and every column is in it once."""
    content = _unzipped(packed, _MOST_PACKED * len(_of(packed, bytes)) + _LEAST_BYTES)
    order = np.frombuffer(content, dtype="<i4").astype(np.int32)
    if not np.array_equal(np.sort(order), np.arange(order.size)):
        raise ValueError("a ranking without some columns")
    return order
