"""Memory: how much is free, what a limit means, and how many rows of a block it allows."""

from __future__ import annotations

import re
from numbers import Real
from typing import Any

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
# More is no limit on any machine.
MOST_BYTES = 2**62

PHRASE = "a positive number of bytes, a text such as '1 GiB' or '500 MB', or None"
_SIZE = re.compile(r"\s*(\d{1,30}(?:\.\d{0,30})?(?:e\d{1,2})?)\s*([kmgt]?)(i?)b?\s*", re.IGNORECASE)


def free_memory() -> int:
    """Memory that can be had without swapping, in bytes."""
    try:
        with open("/proc/meminfo") as lines:
            return next(int(line.split()[1]) * 1024 for line in lines if "MemAvailable" in line)
    except (OSError, StopIteration):  # not Linux: assume a small machine
        return 4 * 2**30


def default_limit() -> int:
    """Bytes where no limit is given: a quarter of what is free, and at least 64 MiB."""
    return max(free_memory() // SHARE_OF_FREE, LEAST_BY_DEFAULT)


def given_bytes(limit: Any) -> int | None:
    """Bytes of a limit: a number, or a text such as ``"1 GiB"``; None for anything else."""
    if isinstance(limit, str) and (found := _SIZE.fullmatch(limit)):
        number, prefix, binary = found.groups()
        base = 1024 if binary else 1000
        size: Any = float(number) * base ** (" kmgt".index(prefix.lower() or " "))
    elif isinstance(limit, Real) and not isinstance(limit, bool):
        size = limit
    else:
        return None
    return int(size) if 1 <= size <= MOST_BYTES else None


def as_bytes(limit: Any, who: str = "scan") -> int:
    """Bytes of a memory limit; None means the default."""
    if limit is None:
        return default_limit()
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
