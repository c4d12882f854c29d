"""A SQLite file of ours: opened safely, killed safely, and with errors that say what to do."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Self

from tamis.exceptions import InputError

# How long a process waits for another that is writing; one write takes milliseconds.
BUSY_SECONDS = 60.0
KEYS_PER_QUERY = 500


class SqliteFile:
    """Base of our stores: one table in a SQLite file in write-ahead mode, or in memory."""

    # A number that tells our files from other SQLite files, and the form of the table.
    application_id: ClassVar[int]
    schema_version: ClassVar[int] = 1
    schema: ClassVar[str]

    def __init__(self, path: str | os.PathLike[str] | None = None, *, read_only: bool = False):
        self.path = None if path is None else os.fspath(path)
        self.read_only = read_only
        options: Any = {"timeout": BUSY_SECONDS, "isolation_level": None}
        address = ":memory:" if self.path is None else self.path
        if self.path is not None and read_only:
            address = Path(self.path).absolute().as_uri() + "?mode=ro"
            options["uri"] = True
        with self._refusals("open"):
            self._connection = sqlite3.connect(address, **options)
            try:
                self._prepare()
            except BaseException:
                self._connection.close()
                raise

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.path!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; a closed store cannot be used any more."""
        self._connection.close()

    def _prepare(self) -> None:
        """Refuse files that are not ours, then make the table if there is none."""
        execute = self._connection.execute
        # The file may come from anybody: functions in its schema are not to be trusted.
        execute("PRAGMA trusted_schema = OFF")
        # In the opposite order of writing: another process may be making the file right now.
        found = execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
        known = int(execute("PRAGMA application_id").fetchone()[0])
        version = int(execute("PRAGMA user_version").fetchone()[0])
        who, is_ours = type(self).__name__, known == self.application_id
        if is_ours and version != self.schema_version:
            age = "a newer tamis. Update tamis" if version > self.schema_version else "an older one"
            raise InputError(
                f"{who}: expected a store of version {self.schema_version}, got version {version} "
                f"in {self.path!r}, written by {age}, or give another name."
            )
        # Views, triggers and computed columns could read without end, or drop what is stored.
        wanted = self.schema.replace("IF NOT EXISTS ", "").split()
        is_new = not found and not self.read_only
        if not (is_new or (is_ours and all(sql.split() == wanted for (sql,) in found))):
            raise InputError(
                f"{who}: expected a store of tamis or a new file, got {self.path!r}, a SQLite file "
                "with other tables. Give another name."
            )
        if self.read_only:
            return
        # Two processes may arrive here together: all of this may be done twice.
        execute("PRAGMA journal_mode = WAL")
        # In write-ahead mode this is safe against kill -9, and a power cut costs the last rows
        # but never the file.
        execute("PRAGMA synchronous = NORMAL")
        if not is_ours:
            execute(f"PRAGMA user_version = {self.schema_version}")
            execute(f"PRAGMA application_id = {self.application_id}")
        execute(self.schema)

    @contextmanager
    def _refusals(self, doing: str) -> Iterator[None]:
        """Turn what SQLite says into what the user can do."""
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise InputError(
                f"{type(self).__name__}: expected to {doing} {self.path or 'a store in memory'!r}, "
                f"got: {error}. {_remedy(str(error), doing)}"
            ) from error


def key_conditions(keys: Iterable[str] | None) -> Iterator[tuple[str, list[str]]]:
    """Conditions for the rows with these keys, in parts that SQLite accepts; None means all."""
    if keys is None:
        yield "", []
        return
    wanted = sorted(set(keys))
    for start in range(0, len(wanted), KEYS_PER_QUERY):
        part = wanted[start : start + KEYS_PER_QUERY]
        yield f"WHERE key IN ({', '.join('?' * len(part))})", part


REMEDIES = {
    ("full", "disk I/O"): "Free some space and run the same call again: it continues from there.",
    ("readonly",): "Give a file in a folder that you may write to, or a copy of this one.",
    ("locked",): "Another process keeps it locked: wait for it or end it, then run again.",
    ("unable to open",): (
        "Give the name of a file (not a folder) in an existing folder you may write to."
    ),
    ("not a database", "malformed"): (
        "It is no SQLite file, or a damaged one: give another name, or remove it."
    ),
}


def _remedy(reason: str, doing: str) -> str:
    kept = "Nothing that was stored is lost. " if doing == "write" else ""
    for words, remedy in REMEDIES.items():
        if any(word in reason for word in words):
            return kept + remedy
    return f"{kept}Check the file, or give another name."
