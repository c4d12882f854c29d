"""The one place that decides how kernels are compiled, cached and announced."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

_log = logging.getLogger("tamis")

ANNOUNCE_AFTER_SECONDS = 2.0

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile a function from arrays to arrays; it releases the GIL and is cached on disk."""
    import numba  # takes 0.2 s, which `import tamis` should not

    try:
        return numba.njit(function, cache=True, nogil=True)
    except RuntimeError:  # no folder can be written for the cache
        return numba.njit(function, nogil=True)


def inline(function: F) -> F:
    """Compile a helper that is only called from kernels.

    The cache of a kernel notices changes of its own file only: after changing a helper that
    another file uses, remove the ``__pycache__`` folders.
    """
    import numba

    return numba.njit(function)


ready: set[tuple[Any, str]] = set()
_spent = 0.0


@contextmanager
def announce_compilation(function: Any, dtype: Any = "") -> Iterator[None]:
    """Say once per process what takes so long: the time of all kernels counts together."""
    global _spent
    key = (function, str(dtype))
    if key in ready:
        yield
        return
    message = "tamis: compiling kernels for their first use here; later runs load them from a cache"
    started = time.monotonic()
    timer = threading.Timer(max(ANNOUNCE_AFTER_SECONDS - _spent, 0.0), _log.warning, (message,))
    timer.daemon = True
    if _spent < ANNOUNCE_AFTER_SECONDS:
        timer.start()
    try:
        yield
        ready.add(key)
    finally:
        timer.cancel()
        _spent += time.monotonic() - started
