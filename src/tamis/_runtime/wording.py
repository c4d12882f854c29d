"""How messages list names and suggest the one that was meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from itertools import islice

from tamis.exceptions import InputError

MAX_LISTED = 10
MAX_NAME_LENGTH = 60
# difflib takes about 10 microseconds per candidate, so a very wide table is searched in part.
MAX_COMPARED = 50_000


def closest(name: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate most like `name`, whatever its case, or None."""
    folded = {item.casefold(): item for item in islice(candidates, MAX_COMPARED)}
    found = difflib.get_close_matches(name.casefold(), folded, n=1)
    return folded[found[0]] if found else None


def did_you_mean(name: object, candidates: Iterable[str]) -> str:
    """Write a hint at the candidate most like `name`, to follow a sentence; empty for none."""
    guess = closest(str(name), candidates)
    return "" if guess is None or guess == name else f" Did you mean {guess!r}?"


def listed(names: Sequence[str], limit: int = MAX_LISTED) -> str:
    """Write names in quotes, at most `limit` of them, and how many more there are."""
    shown = ", ".join(_short(name) for name in names[:limit])
    rest = len(names) - limit
    return f"{shown} and {rest:,} more" if rest > 0 else shown


def _short(name: str) -> str:
    """Quote a name; some files pad names to hundreds of characters."""
    return repr(name if len(name) <= MAX_NAME_LENGTH else f"{name[: MAX_NAME_LENGTH - 3]}...")


def counted(number: int, noun: str) -> str:
    """Write a number with its noun: ``1 row``, ``2,000 rows``."""
    plural = noun if number == 1 else f"{noun}s"
    return f"{number:,} {plural}"


def unknown_column(who: str, name: str, names: Sequence[str]) -> InputError:
    """Build the error for a column that the table does not have."""
    guess = closest(str(name), names)
    remedy = f"did you mean {guess!r}?" if guess else "use one of these names."
    return InputError(
        f"{who}: expected a column named {name!r}, got columns {listed(names)}; {remedy}"
    )
