"""How many bytes a scan may hold, and how many rows of a block that allows."""

from __future__ import annotations

import re

from tamis._runtime.memory import free_memory
from tamis.exceptions import InputError

# Where no limit is given: a part of what is free, and never so little that reading crawls.
SHARE_OF_FREE = 4
LEAST_BY_DEFAULT = 64 * 2**20
# A block is a small part of the limit: several are under way at a time, and statistics need room.
BLOCKS_PER_LIMIT = 16
# Beyond 32 MiB, the C library gives every block back to the system and fetches the next one page
# by page; a bit less leaves a block of 200 columns its 16,384 rows.
LARGEST_BLOCK = 28 * 2**20

# A part that is read whole is one of two: the other one is worked on.
PART_SHARE = 0.4

_SIZE = re.compile(r"\s*(\d+(?:\.\d*)?(?:e\d+)?)\s*([kmgt]?)(i?)b?\s*", re.IGNORECASE)


def as_bytes(limit: int | str | None) -> int:
    """Bytes of a memory limit: a number, a text such as ``"1 GiB"``, or None for a default."""
    if limit is None:
        return max(free_memory() // SHARE_OF_FREE, LEAST_BY_DEFAULT)
    if isinstance(limit, str) and (found := _SIZE.fullmatch(limit)):
        number, prefix, binary = found.groups()
        base = 1024 if binary else 1000
        size = int(float(number) * base ** (" kmgt".index(prefix.lower() or " ")))
    elif isinstance(limit, int | float) and not isinstance(limit, bool):
        size = int(limit)
    else:
        size = 0
    if size < 1:
        raise InputError(
            "scan: memory_limit must be a positive number of bytes, a text such as '1 GiB' or "
            f"'500 MB', or None, got {limit!r}."
        )
    return size


def block_rows(limit: int, n_columns: int) -> int:
    """Rows of a block of so many columns."""
    return max(1, min(limit // BLOCKS_PER_LIMIT, LARGEST_BLOCK) // (8 * max(n_columns, 1)))


def part_room(limit: int) -> int:
    """Bytes that the cells of a part may take that is read whole."""
    return int(PART_SHARE * limit)
