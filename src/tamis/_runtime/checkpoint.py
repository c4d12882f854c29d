"""Checkpoint: what an unfinished fit knows, on disk, whole or not at all."""

from __future__ import annotations

import copy
import hashlib
import json
import pickle
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tamis._runtime.atomic import atomic_path
from tamis.exceptions import InputError

MAGIC = b"tamis statistics 1\n"
# Seconds between two times that an unfinished walk is stored.
EVERY = 5.0
# Besides classes of Tamis, what the pickle of a statistic may name.
_HARMLESS = {
    "numpy": {"dtype", "ndarray"},
    "numpy._core.multiarray": {"_reconstruct", "scalar"},
    "numpy.core.multiarray": {"_reconstruct", "scalar"},
    "numpy._core.numeric": {"_frombuffer"},
    "numpy.core.numeric": {"_frombuffer"},
}


# How many parts a walk has seen, what told them from others, and its statistic; or all parts, and
# results that several walks led to.
Stored = tuple[int, str, dict[str, Any]]
# Of every walk what it has seen last, and what it had seen when its last file began: what was
# counted of a file that is mended or written anew is worth nothing, what came before it is.
Walks = dict[str, list[Stored]]


class Checkpoint:
    """Where the statistics of walks, and results of them, are kept until the fit is through.

    Parameters
    ----------
    path : path-like
        The file; its folder must exist.
    about : object
        What the fit is about, as plain JSON: data, selector, parameters. A file of another fit is
        refused.
    who : str
        Name of the selector, for messages.
    stamps : callable
        What tells the first so many parts from other data, as plain JSON. Parts that were not
        counted may change: a damaged file that ended a walk can be mended.
    """

    def __init__(self, path: Any, about: Any, who: str, stamps: Callable[[int], Any]):
        self.path, self.who, self.stamps = Path(path), who, stamps
        text = json.dumps(about, sort_keys=True, default=repr)
        self.name = hashlib.sha256(text.encode()).hexdigest()
        self.walks: Walks = {}
        self.saved = time.monotonic()
        if self.path.exists():
            self.walks = self._read()

    def resume(self, name: str, statistic: Any) -> int:
        """Put what is known into the statistic; the number of parts that it has seen."""
        if name not in self.walks:
            return 0
        n_parts, _, state = self.walks[name][0]
        vars(statistic).update(state)
        return n_parts

    def keep(self, name: str, n_parts: int, of: int, statistic: Any) -> None:
        """Store the statistic if some seconds have passed, or if the walk has come to its end."""
        latest = (n_parts, self._stamp(n_parts), vars(statistic))
        before = self.walks.get(name, [])[1:]
        # After a walk over all parts, no part can change that would leave this one of any use.
        is_first = all(stored[0][0] < of for other, stored in self.walks.items() if other != name)
        if is_first and self._stamp(n_parts + 1) != latest[1]:  # the next part begins another file
            before = [(*latest[:2], copy.deepcopy(latest[2]))]
        self.walks[name] = [latest, *before]
        self._store(n_parts == of)

    def recall(self, name: str) -> dict[str, Any]:
        """Results that were remembered under a name; nothing if there are none."""
        return self.walks[name][0][2] if name in self.walks else {}

    def remember(
        self, name: str, of: int, results: dict[str, Any], *, instead_of: str = ""
    ) -> None:
        """Store results of walks over all `of` parts; they make the walk `instead_of` needless.

        If no seconds have passed, they are stored with what comes next; until then the file has
        that walk.
        """
        self.walks.pop(instead_of, None)
        self.walks[name] = [(of, self._stamp(of), results)]
        self._store(False)

    @property
    def is_due(self) -> bool:
        """Whether some seconds have passed since something was stored."""
        return time.monotonic() - self.saved > EVERY

    def _store(self, now: bool) -> None:
        if now or self.is_due:
            self._write()
            self.saved = time.monotonic()

    def _stamp(self, n_parts: int) -> str:
        return json.dumps(self.stamps(n_parts))

    def forget(self) -> None:
        """Remove the file: the fit is through."""
        self.path.unlink(missing_ok=True)

    def _write(self) -> None:
        # Straight into the file: arrays are not copied on the way.
        with atomic_path(self.path, force=True) as temporary, temporary.open("wb") as file:
            file.write(MAGIC + self.name.encode() + b"\n")
            pickle.dump(self.walks, file, protocol=5)

    def _read(self) -> Walks:
        try:
            with self.path.open("rb") as file:
                if file.read(len(MAGIC)) != MAGIC:
                    raise ValueError("not a checkpoint")
                name = file.readline().rstrip(b"\n")
                walks: Walks = _Careful(file).load()
        except Exception as error:  # a damaged pickle can raise anything
            raise InputError(
                f"{self.who}: expected a checkpoint of a scan in {str(self.path)!r}, got something "
                f"else ({error}). Give another path, or remove the file."
            ) from error
        usable = self._usable(walks)
        if name.decode() != self.name or not usable:
            raise InputError(
                f"{self.who}: the checkpoint {str(self.path)!r} belongs to a fit with other data "
                "or parameters. Give another path, or remove the file to start anew."
            )
        return usable

    def _usable(self, walks: Walks) -> Walks:
        """Walks whose files are as they were; none after one that must be walked again."""
        usable: Walks = {}
        for name, stored in walks.items():
            same = [one for one in stored if one[1] == self._stamp(one[0])]
            if same:
                usable[name] = same
            if not same or same[0] is not stored[0]:
                break
        return usable


class _Careful(pickle.Unpickler):
    """Loads arrays and statistics, and nothing that could run other code."""

    def find_class(self, module: str, name: str) -> Any:
        if module.startswith("tamis.") or name in _HARMLESS.get(module, ()):
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name} does not belong into a checkpoint")
