"""The record of a feature source: what was measured, what failed, and where it is kept."""

from __future__ import annotations

import copy
import threading
import time
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.exceptions import InputError
from tamis.meta.sources._folder import Folder, Stored

Floats = NDArray[np.float64]


class Ledger:
    """Measured columns, and why other candidates failed.

    A copy, a deep copy or a pickle is independent: it knows what was known, and what either of
    them measures later is unknown to the other one, unless both keep it in one folder.
    """

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

    def start(self, batch: Iterable[int]) -> None:
        """Give every candidate its turn; the results may then arrive in any order."""
        self.last_turn = max(time.time_ns(), self.last_turn)  # clocks are set back at times
        for index in batch:
            self.last_turn += 1
            self.turns[index] = self.last_turn

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

    def prepare(self) -> None:
        """Before measuring: look what others stored, and make sure that storing works."""
        if self.folder is not None:
            self._take(self.folder.refresh())
            self.folder.check_writable()

    def order(self) -> list[int]:
        """Measured candidates in the order of their turns."""
        known = list(self.stored)  # at once: another thread may be adding
        return sorted(known, key=self._turn)

    def copy(self) -> Ledger:
        """An independent record of the same measurements."""
        twin = Ledger()
        with self.lock:
            twin.stored, twin.failures = dict(self.stored), dict(self.failures)
            twin.n_samples, twin.unsaved = self.n_samples, set(self.unsaved)
            twin.last_turn = self.last_turn
            twin.folder = copy.deepcopy(self.folder)
        return twin

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
        kept = vars(self.copy())
        del kept["lock"], kept["busy"]
        return kept

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, lock=threading.RLock(), busy=set())
