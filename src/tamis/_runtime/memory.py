"""Memory: what a limit means, how many rows of a block it allows, and buffers that are reused."""

from __future__ import annotations

import sys
import time
from threading import local
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.exceptions import InputError

# Where no limit is given: a part of what is free, and never so little that work crawls.
SHARE_OF_FREE = 4
LEAST_BY_DEFAULT = 64 * 2**20
# A block is a small part of the limit: several are under way at a time, and statistics need room.
BLOCKS_PER_LIMIT = 16
# Beyond 32 MiB, the C library gives every block back to the system and fetches the next one page
# by page; a bit less leaves a block of 200 columns its 16,384 rows.
LARGEST_BLOCK = 28 * 2**20
# A part that is read whole is one of two: the other one is worked on.
PART_SHARE = 0.4

# Buffers that are kept, for fresh pages cost more than reading into them: one is read into, one is
# worked on.
KEPT = 2
# References to a buffer that nobody uses: the list's, and the argument of getrefcount.
UNUSED = 2
# Seconds to wait for one.
PATIENCE = 0.1

_mine = local()


def free_memory() -> int:
    """Memory that can be had without swapping, in bytes."""
    try:
        with open("/proc/meminfo") as lines:
            return next(int(line.split()[1]) * 1024 for line in lines if "MemAvailable" in line)
    except (OSError, StopIteration):  # not Linux: assume a small machine
        return 4 * 2**30


def as_bytes(limit: Any, who: str = "scan") -> int:
    """Bytes of a memory limit; None means a quarter of what is free, and at least 64 MiB."""
    if limit is None:
        return max(free_memory() // SHARE_OF_FREE, LEAST_BY_DEFAULT)
    from tamis._runtime.byte_sizes import PHRASE, given_bytes

    size = given_bytes(limit)
    if size is None:
        raise InputError(f"{who}: memory_limit must be {PHRASE}, got {limit!r}.")
    return size


def block_rows(limit: int, n_columns: int) -> int:
    """Rows of a block of so many columns."""
    return max(1, min(limit // BLOCKS_PER_LIMIT, LARGEST_BLOCK) // (8 * max(n_columns, 1)))


def part_room(limit: int) -> int:
    """Bytes that the cells of a part may take that is read whole."""
    return int(PART_SHARE * limit)


def reuse_buffers() -> None:
    """From now on, in this thread, `empty_columns` uses memory again once its array is gone."""
    _mine.buffers = []


def empty_columns(n_rows: int, n_columns: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Fortran-ordered array, not initialised."""
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
