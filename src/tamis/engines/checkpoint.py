"""Checkpoint: statistics of an unfinished walk on disk, whole or not at all."""

from __future__ import annotations

import hashlib
import io
import json
import pickle
import time
from pathlib import Path
from typing import Any

from tamis.exceptions import InputError
from tamis.tables import atomic_path

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


class Checkpoint:
    """Where the statistics of walks are kept until the fit is through.

    Parameters
    ----------
    path : path-like
        The file; its folder must exist.
    about : object
        What the fit is about, as plain JSON: data, selector, parameters. A file of another fit is
        refused.
    who : str
        Name of the selector, for messages.
    """

    def __init__(self, path: Any, about: Any, who: str):
        self.path, self.who = Path(path), who
        text = json.dumps(about, sort_keys=True, default=repr)
        self.name = hashlib.sha256(text.encode()).hexdigest()
        self.walks: dict[str, tuple[int, dict[str, Any]]] = {}
        self.saved = time.monotonic()
        if self.path.exists():
            self.walks = self._read()

    def resume(self, name: str, statistic: Any) -> int:
        """Put what is known into the statistic; the number of parts that it has seen."""
        n_parts, state = self.walks.get(name, (0, None))
        if state is not None:
            vars(statistic).update(state)
        return n_parts

    def keep(self, name: str, n_parts: int, of: int, statistic: Any) -> None:
        """Store the statistic if some seconds have passed, or if the walk has come to its end."""
        self.walks[name] = (n_parts, vars(statistic))
        if n_parts == of or time.monotonic() - self.saved > EVERY:
            self._write()
            self.saved = time.monotonic()

    def forget(self) -> None:
        """Remove the file: the fit is through."""
        self.path.unlink(missing_ok=True)

    def _write(self) -> None:
        content = MAGIC + self.name.encode() + b"\n" + pickle.dumps(self.walks, protocol=5)
        with atomic_path(self.path, force=True) as temporary:
            temporary.write_bytes(content)

    def _read(self) -> dict[str, tuple[int, dict[str, Any]]]:
        content = self.path.read_bytes()
        try:
            if not content.startswith(MAGIC):
                raise ValueError("not a checkpoint")
            name, _, rest = content[len(MAGIC) :].partition(b"\n")
            walks: dict[str, tuple[int, dict[str, Any]]] = _Careful(io.BytesIO(rest)).load()
        except Exception as error:  # a damaged pickle can raise anything
            raise InputError(
                f"{self.who}: expected a checkpoint of a scan in {str(self.path)!r}, got something "
                f"else ({error}). Give another path, or remove the file."
            ) from error
        if name.decode() != self.name:
            raise InputError(
                f"{self.who}: the checkpoint {str(self.path)!r} belongs to a fit with other data "
                "or parameters. Give another path, or remove the file to start anew."
            )
        return walks


class _Careful(pickle.Unpickler):
    """Loads arrays and statistics, and nothing that could run other code."""

    def find_class(self, module: str, name: str) -> Any:
        if module.startswith("tamis.") or name in _HARMLESS.get(module, ()):
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name} does not belong into a checkpoint")
