"""Temporary folders that nobody else can enter, and that do not outlive their process."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

LOCK = "tamis-lock"


@contextmanager
def private_folder(prefix: str) -> Iterator[Path]:
    """A folder of a random name (mode 700), removed at the end and on SIGTERM or SIGHUP.

    What a kill left behind is removed by the next call: folders of the same user whose lock nobody
    holds. Nothing is concluded from their names.
    """
    _sweep(prefix)
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    lock = _lock(folder, os.O_CREAT | os.O_EXCL)
    try:
        with _removed_by_signals(folder):
            yield folder
    finally:
        if lock is not None:
            os.close(lock)
        shutil.rmtree(folder, ignore_errors=True)


def _lock(folder: Path, flags: int = 0) -> int | None:
    """Descriptor of the lock of a folder, which ends with the process; None if somebody has it."""
    try:
        import fcntl
    except ImportError:  # Windows
        return None
    try:
        descriptor = os.open(
            folder / LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | flags, 0o600
        )
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def _sweep(prefix: str) -> None:
    for folder in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        with suppress(OSError):
            if folder.is_symlink() or folder.stat().st_uid != getattr(os, "getuid", lambda: -1)():
                continue
            if (lock := _lock(folder)) is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(lock)


@contextmanager
def _removed_by_signals(folder: Path) -> Iterator[None]:
    """Remove the folder if a signal ends the process, and let it end as it would have."""
    numbers = [getattr(signal, name, None) for name in ("SIGTERM", "SIGHUP")]
    ours = [n for n in numbers if n is not None and signal.getsignal(n) == signal.SIG_DFL]
    if threading.current_thread() is not threading.main_thread():
        ours = []  # only the main thread may ask for signals
    owner = os.getpid()

    def end(number: int, frame: Any) -> None:
        if os.getpid() == owner:  # not in a fork
            shutil.rmtree(folder, ignore_errors=True)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    for number in ours:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)
