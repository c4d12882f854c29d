"""Sizes in bytes as a user gives them: numbers, or texts such as ``"1 GiB"``."""

from __future__ import annotations

import re
from numbers import Real
from typing import Any

# More is no limit on any machine.
MOST_BYTES = 2**62

PHRASE = "a positive number of bytes, a text such as '1 GiB' or '500 MB', or None"
_SIZE = re.compile(r"\s*(\d{1,30}(?:\.\d{0,30})?(?:e\d{1,2})?)\s*([kmgt]?)(i?)b?\s*", re.IGNORECASE)


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
