"""Measured columns on disk: files that are complete or absent, and a page with their owner.

Files are checkpoints with checksums, and never changed: many small ones are joined into a larger
one before they are removed. So several processes may use one folder, and one may be killed at any
moment: a column is then in one file, in two, or in none, and never half in one.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis._runtime import checkpoint
from tamis._runtime.fingerprint import fingerprint
from tamis._runtime.warning import warn
from tamis.data import atomic_path
from tamis.exceptions import InputError

FORMAT = "tamis feature source, version 3"
KIND = "columns of a feature source"
PAGE = "tamis-source.json"
# Files below this size are joined as soon as there are so many of them.
SMALL_BYTES = 1 << 20
SMALL_FILES = 100
# Unfinished files of a killed process are removed when nobody can be writing them any more.
STALE_SECONDS = 24 * 3600
# Files named in a warning.
SHOWN = 3


class Stored(NamedTuple):
    """A column, and its turn: columns in the order of turns are in the order of measuring."""

    turn: int
    column: NDArray[np.float64]


class Folder:
    """The folder of one source; `identity` is its number of candidates, hash of `meta`, and key."""

    def __init__(self, path: Any, identity: dict[str, Any], who: str) -> None:
        self.path, self.identity, self.who = Path(path).absolute(), identity, who
        self.name = fingerprint(identity)
        self.n_samples: int | None = None
        self.seen: set[str] = set()
        self.small: dict[str, list[int]] = {}

    def open(self, n_samples: int | None) -> dict[int, Stored]:
        """Create or check the folder, and read what is in it."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"{self.who}: expected a folder or a place to create one, got {str(self.path)!r} "
                f"({error.strerror or error}). Choose another path."
            ) from error
        ignored: dict[str, str] = {}
        page = self._read_page(ignored)
        found = self._read_files(ignored, has_page=page is not None)
        for unfinished in self.path.glob(".tamis-*"):
            with contextlib.suppress(OSError):
                if time.time() - unfinished.stat().st_mtime > STALE_SECONDS:
                    unfinished.unlink()
        if n_samples is not None:
            self._agree(n_samples)
        if page is None or page.get("n_samples") != self.n_samples:
            self._write_page()
        self._tell(ignored)
        return found

    def refresh(self) -> dict[int, Stored]:
        """What other processes stored since the folder was last looked at."""
        ignored: dict[str, str] = {}
        found = self._read_files(ignored, has_page=True)
        self._tell(ignored)
        return found

    def write(self, columns: dict[int, Stored], known: dict[int, Stored]) -> None:
        """Store columns whole or not at all; `known` are all there are, for joining files."""
        self._agree(next(iter(columns.values())).column.size)
        self._write_file(columns)
        if len(self.small) >= SMALL_FILES:
            with contextlib.suppress(InputError):  # the disk is full: then they stay as they are
                self._join_small(known)

    def _write_file(self, columns: dict[int, Stored]) -> None:
        turns = [stored.turn for stored in columns.values()]
        name = f"columns-{min(turns):020d}-{secrets.token_hex(4)}.tamis"
        content = {
            "indices": np.array(list(columns), dtype=np.int64),
            "turns": np.array(turns, dtype=np.int64),
            "columns": np.stack([stored.column for stored in columns.values()]),
        }
        checkpoint.save(self.path / name, KIND, self.name, content)
        self._have_seen(name, columns)

    def _have_seen(self, name: str, columns: dict[int, Stored]) -> None:
        self.seen.add(name)
        if sum(stored.column.nbytes for stored in columns.values()) < SMALL_BYTES:
            self.small[name] = list(columns)

    def _join_small(self, known: dict[int, Stored]) -> None:
        """One file instead of many: written first, then the many are removed."""
        names = list(self.small)
        indices = dict.fromkeys(index for name in names for index in self.small[name])
        self._write_file({index: known[index] for index in indices if index in known})
        for name in names:
            del self.small[name]
            with contextlib.suppress(OSError):  # another process was quicker
                (self.path / name).unlink()

    def _read_files(self, ignored: dict[str, str], has_page: bool) -> dict[int, Stored]:
        found: dict[int, Stored] = {}
        strangers = 0
        while new := [name for name in self._names() if name not in self.seen]:
            for name in new:  # and look again: another process may join files while we read
                self.seen.add(name)
                try:
                    owner, content = _read_file(self.path / name)
                    strangers += owner != self.name
                    self._check_file(owner, content)
                except FileNotFoundError:
                    continue
                except (OSError, ValueError) as error:
                    ignored[name] = str(error)
                    continue
                self._have_seen(name, content)
                for index, stored in content.items():
                    found.setdefault(index, stored)
        if strangers and not found and not has_page:
            raise self._not_ours("columns of another source")
        return found

    def _names(self) -> list[str]:
        """Files to look at; hidden ones are unfinished, or no business of ours."""
        try:
            names = sorted(path.name for path in self.path.iterdir())
        except OSError as error:
            raise InputError(
                f"{self.who}: expected to read the folder {str(self.path)!r}, got "
                f"{error.strerror or error}."
            ) from error
        return [name for name in names if name != PAGE and not name.startswith(".")]

    def _check_file(self, owner: str, content: dict[int, Stored]) -> None:
        if owner != self.name:
            raise ValueError("columns of another source")
        for index, stored in content.items():
            if self.n_samples is None:
                self.n_samples = stored.column.size
            if stored.column.size != self.n_samples:
                raise ValueError(f"{stored.column.size} rows instead of {self.n_samples}")
            if not 0 <= index < self.identity["n_candidates"] or np.isinf(stored.column).any():
                raise ValueError(f"no column of candidate {index}")

    def _agree(self, n_samples: int) -> None:
        """Make sure that the folder holds columns of this length, or will."""
        if self.n_samples is None:
            page = self._read_page({})
            self.n_samples = n_samples if page is None else page.get("n_samples") or n_samples
            if self.n_samples == n_samples:
                self._write_page()
        if self.n_samples != n_samples:
            raise self._not_ours(f"columns of {self.n_samples} samples instead of {n_samples}")

    def _read_page(self, ignored: dict[str, str]) -> dict[str, Any] | None:
        """The page of the folder; None for a new folder or a damaged page."""
        place = self.path / PAGE
        try:
            if place.exists() and not place.is_file():
                raise ValueError  # a pipe might never end
            page = json.loads(place.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            ignored[PAGE] = type(error).__name__
            return None
        if not isinstance(page, dict) or page.get("format") != FORMAT:
            raise self._not_ours("a file of this name from another program or version of tamis")
        for part, text in _PARTS.items():
            if page.get(part) != self.identity[part]:
                raise self._not_ours(text.format(page.get(part), self.identity[part]))
        n_samples = page.get("n_samples")
        if n_samples is not None and type(n_samples) is not int:
            raise self._not_ours(f"columns of {n_samples!r:.40} samples")
        self.n_samples = n_samples
        return page

    def _write_page(self) -> None:
        page = {"format": FORMAT, **self.identity, "n_samples": self.n_samples}
        with atomic_path(self.path / PAGE, force=True) as temporary:
            temporary.write_text(json.dumps(page, indent=1) + "\n", encoding="utf-8")

    def _tell(self, ignored: dict[str, str]) -> None:
        if not ignored:
            return
        shown = [f"{name} ({why})" for name, why in list(ignored.items())[:SHOWN]]
        if len(ignored) > SHOWN:
            shown.append(f"and {len(ignored) - SHOWN} more")
        warn(
            f"{self.who}: the folder {str(self.path)!r} holds files that are no whole columns of "
            f"this source: {', '.join(shown)}. They are ignored, and what they held is measured "
            "again; remove them."
        )

    def _not_ours(self, what: str) -> InputError:
        return InputError(
            f"{self.who}: expected a new folder or one with columns of this source, got "
            f"{str(self.path)!r} with {what}. Give every source (and set of samples) a folder of "
            "its own."
        )


# Messages for what differs between the page of the folder and the source.
_PARTS = {
    "n_candidates": "columns for {} candidates instead of {}",
    "meta": "columns for other values or names in meta",
    "key": "the key {!r} instead of {!r}",
}


def _read_file(path: Path) -> tuple[str, dict[int, Stored]]:
    """Name of the source, and columns by candidate."""
    owner, content = checkpoint.read(path, KIND)
    if not isinstance(content, dict):
        raise ValueError("no columns")
    arrays: list[Any] = [content.get(name) for name in ("indices", "turns", "columns")]
    kinds = [(getattr(array, "ndim", None), getattr(array, "dtype", None)) for array in arrays]
    if kinds != [(1, np.int64), (1, np.int64), (2, np.float64)]:
        raise ValueError("no table of columns")
    indices, turns, rows = arrays
    parts = zip(indices.tolist(), turns.tolist(), rows, strict=True)
    return owner, {index: Stored(turn, row.copy()) for index, turn, row in parts}
