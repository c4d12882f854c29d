"""Memory for blocks that is used again: fresh pages cost more than reading into them."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import local
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Buffers that are kept: one is read into, one is worked on.
KEPT = 2
# References to a buffer that nobody uses: the list's, and the argument of getrefcount.
UNUSED = 2
# Seconds to wait for one.
PATIENCE = 0.1

_mine = local()


@contextmanager
def recycled() -> Iterator[None]:
    """Within, in this thread, `empty_columns` uses memory again once its array is gone."""
    _mine.buffers = []
    try:
        yield
    finally:
        del _mine.buffers


def empty_columns(n_rows: int, n_columns: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Fortran-ordered array, not initialised.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis._runtime.buffers import empty_columns, recycled
    >>> with recycled():
    ...     places = {empty_columns(4, 2, np.dtype(float)).ctypes.data for _ in range(9)}
    >>> len(places) <= 2
    True
    """
    n_bytes = n_rows * n_columns * dtype.itemsize
    buffers: list[NDArray[np.uint8]] | None = getattr(_mine, "buffers", None)
    if buffers is None:
        return np.empty((n_rows, n_columns), dtype=dtype, order="F")
    buffer = _free(buffers, n_bytes)
    if buffer is None:
        # As large as any before, so that a short part in between leaves no buffer too small.
        largest = max([n_bytes, *(known.size for known in buffers)])
        buffer = np.empty(largest, dtype=np.uint8)
        buffers.append(buffer)
        del buffers[:-KEPT]
    return buffer[:n_bytes].view(dtype).reshape((n_rows, n_columns), order="F")


def _free(buffers: list[NDArray[np.uint8]], n_bytes: int) -> NDArray[np.uint8] | None:
    """A buffer that nobody uses; whoever has just taken a block is about to drop the last one."""
    large = [number for number, buffer in enumerate(buffers) if buffer.size >= n_bytes]
    end = time.monotonic() + PATIENCE
    while len(large) == KEPT:
        for number in large:
            if sys.getrefcount(buffers[number]) == UNUSED:
                return buffers[number]
        if time.monotonic() > end:
            break
        time.sleep(0.0005)
    return None
