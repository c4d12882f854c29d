"""How much memory there is."""

from __future__ import annotations


def free_memory() -> int:
    """Memory that can be had without swapping, in bytes."""
    try:
        with open("/proc/meminfo") as lines:
            return next(int(line.split()[1]) * 1024 for line in lines if "MemAvailable" in line)
    except (OSError, StopIteration):  # not Linux: assume a small machine
        return 4 * 2**30
