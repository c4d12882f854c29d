"""Peak memory of a piece of work, without slowing it down."""

from __future__ import annotations


class PeakMemory:
    """By how much the resident memory of this process grows, from now on.

    Tracing every allocation would slow the work down. Linux keeps the largest
    resident size of a process, and lets the process reset it; elsewhere there is no answer.
    Pages that the process had free before are not counted.
    """

    def __init__(self) -> None:
        self._start = _status("VmRSS") if _reset() else None

    def growth(self) -> int | None:
        """Bytes, or None where the system does not tell."""
        peak = None if self._start is None else _status("VmHWM")
        return None if peak is None or self._start is None else max(0, peak - self._start)


def _reset() -> bool:
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        return False
    return True


def _status(field: str) -> int | None:
    try:
        with open("/proc/self/status") as lines:
            return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))
    except (OSError, StopIteration):
        return None
