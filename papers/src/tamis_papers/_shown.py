"""Numbers and verdicts as text, the same on the terminal and on the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

VERDICTS = ("same", "differs, same order", "differs", "too few repeats")
# Claims in the order of the summary.
WORDS = ("holds", "in part or unclear", "does not hold", "cannot be told")
# Above this, digits after the comma only disturb.
LARGE = 10_000


def number(value: float | None, digits: int = 4) -> str:
    """A few digits, without powers of ten where they can be avoided."""
    if value is None:
        return ""
    return f"{value:,.0f}" if LARGE <= abs(value) < 1e12 else f"{value:.{digits}g}"


def theirs_of(row: Mapping[str, Any]) -> str:
    """The number of the paper, with a question mark where it is doubtful."""
    return number(row["theirs"]) + ("?" if row["doubtful"] else "")


def ours_of(row: Mapping[str, Any]) -> str:
    """Our number; ">" where it is only known to be larger."""
    return ("> " if row["at_least"] else "") + number(row["ours"])


def interval_of(row: Mapping[str, Any]) -> str:
    """Where other repeats would lie; nothing for a single repeat."""
    if row["repeats"] < 2 or row["at_least"]:
        return ""
    return f"{number(row['low'])} to {number(row['high'])} ({row['repeats']})"


def verdict_of(row: Mapping[str, Any]) -> str:
    """The verdict with its reason."""
    return f"{row['verdict']}: {row['why']}" if row["why"] else str(row["verdict"])


def is_judged(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether there is any number of a paper to judge by."""
    return any(row["theirs"] is not None for row in rows)


def counted(rows: Sequence[Mapping[str, Any]]) -> str:
    """How many numbers got which verdict, in words."""
    words = Counter(row["verdict"] for row in rows)
    return ", ".join(f"{count} {word}" for word, count in sorted(words.items(), key=_by_verdict))


def _by_verdict(item: tuple[str, int]) -> int:
    return VERDICTS.index(item[0]) if item[0] in VERDICTS else len(VERDICTS)


def in_time(seconds: float) -> str:
    """Seconds, minutes or hours."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def repeats_of(repeats: int | None, planned: int) -> str:
    """How many repeats were asked for, and how many there are; nothing of a complete run."""
    if repeats is None or repeats >= planned > 0:
        return ""
    return f"at most {repeats}{f' of {planned}' if planned else ''} repeats"
