"""CopiesDone: statistics of finished copies, in memory and in a checkpoint."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._runtime import checkpoint
from tamis._runtime.checkpoint import EVERY, load, not_a_checkpoint

KIND = "knockoff copies"


class CopiesDone:
    """Statistics of the finished copies, and of which copies they are."""

    def __init__(self, n_copies: int, n_tested: int, path: Any, fingerprint: str, who: str):
        self.path = None if path is None else Path(path)
        self.fingerprint = fingerprint
        self.is_done = np.zeros(n_copies, dtype=bool)
        self.values = np.zeros((2, n_copies, n_tested))
        self.saved = time.monotonic()
        if self.path is not None and self.path.exists():
            self._restore(load(self.path, KIND, who, fingerprint).content, who)

    def _restore(self, content: Any, who: str) -> None:
        assert self.path is not None
        known = ((self.is_done, "is_done"), (self.values, "values"))
        for mine, name in known:
            stored = content.get(name) if isinstance(content, dict) else None
            if (
                not isinstance(stored, np.ndarray)
                or (stored.shape, stored.dtype) != (mine.shape, mine.dtype)
                or not np.isfinite(stored).all()
            ):
                raise not_a_checkpoint(who, KIND, self.path, f"no {name} of this fit")
            mine[...] = stored

    @property
    def W(self) -> NDArray[np.float64]:
        """One line per finished copy."""
        return np.asarray(self.values[0, self.is_done])

    @property
    def similar(self) -> NDArray[np.float64]:
        """Correlations of features with copies, one line per finished copy."""
        return np.asarray(self.values[1, self.is_done])

    def pending(self) -> list[int]:
        """Copies that are not finished."""
        return np.flatnonzero(~self.is_done).tolist()

    def keep(self, number: int, W: Any, similar: Any) -> None:
        """Add a copy; the file is written if some seconds have passed."""
        self.values[:, number] = W, similar
        self.is_done[number] = True
        if self.path is not None and time.monotonic() - self.saved > EVERY:
            self.save()

    def save(self) -> None:
        """Write the file."""
        if self.path is not None:
            content = {"is_done": self.is_done, "values": self.values}
            checkpoint.save(self.path, KIND, self.fingerprint, content)
            self.saved = time.monotonic()

    def finish(self) -> None:
        """Remove the file if nothing is left to do, else write it."""
        if self.path is None:
            return
        if self.is_done.all():
            self.path.unlink(missing_ok=True)
        else:
            self.save()
