"""Sentences that tell the user what happened to the columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from tamis._runtime.wording import counted, listed
from tamis.data._choice import EXCLUDED, NOT_NAMED
from tamis.data._encode import distinct_values
from tamis.data._kinds import is_number, is_text, plain
from tamis.data.prepared_table import ColumnRole

if TYPE_CHECKING:
    import pyarrow as pa

# A table with thousands of free-text columns gets this many sentences, then a count.
MAX_NOTES_PER_KIND = 20
# A text column is said to hold numbers when at least this share of its entries does.
MOSTLY_NUMBERS = 0.5

_REMEDY = {
    "text": "; name it in --include to encode it as categories",
    "identifier": "; name it in --include to use it",
}
_ENCODED = {
    "category": "codes in sorted order, or in their own order if they have one",
    "date": "days since 1970-01-01",
    "time": "seconds since midnight",
    "duration": "seconds",
}


def column_notes(roles: Sequence[ColumnRole]) -> list[str]:
    """Tell what was left out and what was encoded."""
    notes = []
    for reason in (EXCLUDED, NOT_NAMED):
        if names := [role.name for role in roles if role.reason == reason]:
            notes.append(f"left out {counted(len(names), 'column')} {reason}: {listed(names)}")
    for kind in ("text", "identifier", "nested"):
        notes += _left_out([r for r in roles if _was_judged(r) and r.kind == kind])
    for kind, how in _ENCODED.items():
        if names := [role.name for role in roles if role.used and role.kind == kind]:
            notes.append(f"{counted(len(names), f'{kind} column')} used as {how}: {listed(names)}")
    return notes


def _was_judged(role: ColumnRole) -> bool:
    return not role.used and role.reason not in (EXCLUDED, NOT_NAMED)


def _left_out(roles: Sequence[ColumnRole]) -> list[str]:
    notes = [
        f"left out {role.name!r}: {role.reason}{_REMEDY.get(role.kind, '')}"
        for role in roles[:MAX_NOTES_PER_KIND]
    ]
    if rest := len(roles) - len(notes):
        notes.append(f"left out {counted(rest, 'more column')} of kind {roles[0].kind}, see roles")
    return notes


def number_notes(columns: Iterable[tuple[str, pa.ChunkedArray]]) -> list[str]:
    """Point at text columns that look like numbers spoilt by a few words."""
    notes = [note for name, column in columns if (note := _number_note(name, column))]
    rest = len(notes) - MAX_NOTES_PER_KIND
    if rest <= 0:
        return notes
    more = f"{counted(rest, 'more column')} of text hold mostly numbers"
    return [*notes[:MAX_NOTES_PER_KIND], more]


def _number_note(name: str, column: pa.ChunkedArray) -> str | None:
    column = plain(column)
    if not is_text(column.type) or column.null_count == len(column):
        return None
    words = [value for value in distinct_values(column) if not is_number(value)]
    n_present = len(column) - column.null_count
    n_words = _count_in(column, words)
    if n_present - n_words < MOSTLY_NUMBERS * n_present:
        return None
    if not words:
        return f"{name!r} holds numbers stored as text; store them as numbers to use them as such"
    return (
        f"{name!r} is taken as text: {n_words:,} of {counted(n_present, 'value')} "
        f"{'is' if n_words == 1 else 'are'} not numbers, e.g. {words[0]!r}; empty those cells to "
        "use it as numbers"
    )


def _count_in(column: pa.ChunkedArray, words: list[str]) -> int:
    import pyarrow as pa
    from pyarrow import compute

    if str(column.type) == "string_view":
        column = column.cast(pa.string())
    found = compute.is_in(column, value_set=pa.array(words, type=column.type))
    return compute.sum(found).as_py() or 0
