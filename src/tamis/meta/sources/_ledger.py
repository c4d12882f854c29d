"""The record of a feature source: what was measured, what failed, and where it is kept."""

from __future__ import annotations

import contextlib
import copy
import threading
import time
from collections.abc import Generator, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from tamis.data import check_writable
from tamis.exceptions import InputError
from tamis.meta.sources._folder import PAGE, Folder, Stored
from tamis.meta.sources.meta_table import BadResult, Floats, read_columns

# Candidates (an int or several) with their columns, or with an exception, as they arrive.
Pieces = Generator[tuple[Any, Any]]


class Ledger:
    """Measured columns, and why other candidates failed; a copy of it is independent."""

    def __init__(self) -> None:
        self.stored: dict[int, Stored] = {}
        self.failures: dict[int, str] = {}
        self.n_samples: int | None = None
        self.folder: Folder | None = None
        # Columns that are not on disk yet, because the disk was full or a write was interrupted.
        self.unsaved: set[int] = set()
        self.turns: dict[int, int] = {}
        self.last_turn = 0
        self.busy: set[int] = set()
        self.lock = threading.RLock()

    def measure_missing(self, source: Any, wanted: Sequence[int]) -> Exception | None:
        """Measure candidates that are neither known nor failed; returns the last error met."""
        error: Exception | None = None
        with self.lock:
            missing = self._missing(wanted)
            if not missing:
                return None
            circle = self.busy.intersection(missing)
            if circle:
                raise InputError(
                    f"{source._who()}: measure asked for columns of candidate {min(circle)}, which "
                    "it is measuring itself. Ask for other candidates only."
                )
            if self.folder is not None:
                self._take(self.folder.refresh())
                # Raise before the long work, not after it, when nothing can be stored.
                check_writable(self.folder.path / PAGE, force=True)
            size = source.batch_size or len(missing)
            for start in range(0, len(missing), size):
                batch = self._missing(missing[start : start + size])
                self.busy.update(batch)
                # Turns are given now, as results may arrive in any order; clocks are set back.
                first = max(time.time_ns(), self.last_turn) + 1
                self.turns.update((index, first + place) for place, index in enumerate(batch))
                self.last_turn = first + len(batch) - 1
                try:
                    error = self._measure_batch(source, batch) or error
                except KeyboardInterrupt:
                    with contextlib.suppress(InputError):
                        self.save()  # in case that a write was interrupted
                    raise
                finally:
                    self.busy.difference_update(batch)
        return error

    def add(self, found: dict[int, Floats]) -> None:
        """Keep columns, here and in the folder; nobody can change them afterwards."""
        new = {index: Stored(self.turns[index], column) for index, column in found.items()}
        if new:
            self.unsaved.update(new)  # first, in case that the user stops the work right here
            self._take(new)
            self.save()

    def save(self) -> None:
        """Write what is not on disk yet, all of it or nothing."""
        self.unsaved.intersection_update(self.stored)
        if self.folder is None or not self.unsaved:
            return
        waiting = {index: self.stored[index] for index in sorted(self.unsaved, key=self._turn)}
        try:
            self.folder.write(waiting, self.stored)
        except InputError as error:
            raise InputError(
                f"{error} {len(waiting)} measured columns are kept in memory only; they are "
                "written with the next ones, or when keep_in is called again."
            ) from error
        self.unsaved.clear()

    def keep_in(self, folder: Folder, n_samples: int | None) -> None:
        """Read what is in the folder, and write there what it has not got."""
        found = folder.open(n_samples)
        self._take(found)
        self.folder, self.unsaved = folder, set(self.stored) - set(found)
        self.save()

    def order(self) -> list[int]:
        known = list(self.stored)  # at once: another thread may be adding
        return sorted(known, key=self._turn)

    def _missing(self, wanted: Sequence[int]) -> list[int]:
        """Candidates to measure, each once, in the order asked for."""
        unknown = [index for index in dict.fromkeys(wanted) if index not in self.stored]
        return [index for index in unknown if index not in self.failures]

    def _measure_batch(self, source: Any, batch: list[int]) -> Exception | None:
        """Try all together, then one by one those whose failure cannot be attributed."""
        waiting, attempt = batch, _Attempt(source, self)
        for _ in range(1 + source.retries):
            if not waiting:
                return None
            attempt = _Attempt(source, self)
            attempt.run(waiting)
            waiting = [index for index in waiting if index not in self.stored]
        suspects = [index for index in waiting if index not in attempt.messages]
        self.failures.update({i: attempt.messages[i] for i in waiting if i in attempt.messages})
        if len(batch) == 1 and suspects:
            self.failures[suspects[0]] = attempt.shared
            return attempt.error
        for index in suspects:
            attempt.error = self._measure_batch(source, [index]) or attempt.error
        return attempt.error if any(index in self.failures for index in batch) else None

    def _take(self, found: dict[int, Stored]) -> None:
        for index, stored in found.items():
            stored.column.flags.writeable = False
            self.n_samples = stored.column.size
            self.stored.setdefault(index, stored)
            self.last_turn = max(self.last_turn, stored.turn)
            self.failures.pop(index, None)

    def _turn(self, index: int) -> int:
        return self.stored[index].turn

    def __getstate__(self) -> dict[str, Any]:
        with self.lock:
            mutable = {name: copy.copy(vars(self)[name]) for name in ("stored", "failures")}
            own = {"unsaved": set(self.unsaved), "folder": copy.deepcopy(self.folder)}
            return {**vars(self), **mutable, **own, "turns": {}, "busy": set(), "lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, lock=threading.RLock())


class _Attempt:
    """One call of measure: what is good goes to the ledger, what is not stays here."""

    def __init__(self, source: Any, ledger: Ledger) -> None:
        self.source, self.ledger = source, ledger
        self.messages: dict[int, str] = {}
        self.shared = "measure returned nothing for it"
        self.error: Exception | None = None

    def run(self, waiting: list[int]) -> None:
        """Take the results as they arrive; an error of the ledger (a full disk) goes through."""
        pieces = self.source._measurements(np.array(waiting, dtype=np.int64))
        with contextlib.closing(pieces):
            while True:
                try:
                    piece = next(pieces)
                except StopIteration:
                    return
                except Exception as error:  # whatever a measurement of a user raises
                    self.shared, self.error = describe(error), error
                    return
                try:
                    self._keep(*piece)
                except KeyboardInterrupt as stop:
                    # Other threads may have finished more when the user stops the work.
                    with contextlib.suppress(StopIteration, KeyboardInterrupt):
                        piece = pieces.throw(stop)
                        while True:
                            self._keep(*piece)
                            piece = next(pieces)
                    raise

    def _keep(self, indices: Any, result: Any) -> None:
        indices, known = np.atleast_1d(indices), self.ledger.n_samples
        declared = self.source.n_samples if known is None else known
        has_length = isinstance(declared, Integral) and int(declared) > 0
        try:
            if isinstance(result, Exception):
                raise result
            rows = read_columns(result, indices.size, int(declared) if has_length else None)
        except Exception as error:
            self.shared, self.error = describe(error), error
            if indices.size == 1:
                self.messages[int(indices[0])] = self.shared
            return
        found = dict(zip(indices.tolist(), rows, strict=True))
        for index in indices[np.isinf(rows).any(axis=1)].tolist():
            column = found.pop(index)
            value = column[np.isinf(column)][0]
            self.messages[index] = f"expected finite values or NaN, got {value}"
            self.error = BadResult(self.messages[index])
        self.ledger.add(found)


def describe(error: Exception) -> str:
    if isinstance(error, BadResult):
        return str(error)
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:200]}" if lines else type(error).__name__
