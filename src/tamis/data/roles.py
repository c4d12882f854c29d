"""What is this column? One set of rules for data frames, files, scans and Dask.

The notes of :class:`ColumnRole` have the rules. Values *all differ* when the first `JUDGED_VALUES`
of them do, and rows *count up* when the first `JUDGED_VALUES` of them do. So the answer needs
little memory, and it is the same for a table in memory, one file and many: :class:`ColumnFacts` of
consecutive rows merge to those of all rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tamis._runtime.wording import counted, listed

MIN_ROWS_FOR_IDENTIFIER = 10
MIN_CATEGORIES = 10
ROWS_PER_CATEGORY = 5
MAX_CATEGORIES = 1000
JUDGED_VALUES = 10_000

NOT_NAMED = "not named in --columns"
EXCLUDED = "named in --exclude"
# A table with thousands of free-text columns gets this many sentences, then a count.
MAX_NOTES_PER_KIND = 20
# A text column is reported to hold numbers when at least this share of its entries does.
MOSTLY_NUMBERS = 0.5

_ID_NAME = re.compile(
    r"|id|idx|index|uuid|guid|row|row[ _.-]?(id|number|num|no)|unnamed: ?\d+"
    r"|__index_level_\d+__|.*[ _.-](id|uuid|guid)",
    re.IGNORECASE,
)
_CAMEL_ID = re.compile(r".*[a-z0-9](Id|ID)")

_HOW = {
    "numeric": "numbers",
    "boolean": "false is 0, true is 1",
    "date": "days since 1970-01-01",
    "time": "seconds since midnight",
    "duration": "seconds",
}
_ENCODED = {
    "category": "codes in sorted order, or in their own order if they have one",
    **{kind: _HOW[kind] for kind in ("date", "time", "duration")},
}


@dataclass(frozen=True)
class ColumnRole:
    """What one column of a table is, and whether it is used.

    Parameters
    ----------
    name : str
        The column.
    kind : str
        ``"numeric"``, ``"boolean"``, ``"category"``, ``"date"``, ``"time"``, ``"duration"``,
        ``"text"``, ``"identifier"``, ``"nested"`` or ``"target"``.
    used : bool
        Whether it is a column of ``X``.
    reason : str
        How it became numbers, or why it was left out.
    n_missing : int
        Missing entries over all rows of a table in memory, NaN included; 0 where they were not
        counted.
    n_distinct : int or None
        Different values of a category, or of text with at most 1000; None elsewhere.
    categories : tuple of str
        For a used category, the values in the order of their codes 0, 1, ...

    Notes
    -----
    Numbers stay numbers; booleans become 0 and 1; dates become days since 1970-01-01, times and
    durations seconds; categories become one column of codes in sorted order. Integers are an
    identifier, and left out, when they all differ over at least 10 rows and either are named like
    one (``id``, ``patient_id``, ``patientId``, ``uuid``, ``index``, ``Unnamed: 0``, ...) or count
    up by one from row to row. Strings that all differ over at least 10 rows are identifiers too.
    Of long tables, the first 10,000 values tell whether they differ or count up.
    Other strings are categories when there are at most 10 different ones, or at least 5 rows for
    each of at most 1000; else they are free text, and left out. Dictionary-encoded columns are
    categories whatever their number. Lists, structs and bytes are left out. A matrix from NPZ is
    taken as it is.

    Examples
    --------
    >>> from tamis.data import ColumnRole
    >>> ColumnRole("colour", "category", True, "codes", 0, 2, ("blue", "red")).categories[1]
    'red'
    """

    name: str
    kind: str
    used: bool
    reason: str
    n_missing: int = 0
    n_distinct: int | None = None
    categories: tuple[str, ...] = ()


class ColumnCode(NamedTuple):
    """How a column becomes numbers: by its kind and, for categories, the value of each code."""

    kind: str
    categories: tuple[Any, ...] = ()


@dataclass
class ColumnFacts:
    """What the rules need to know of some consecutive rows of a column."""

    # What its type says: a kind of `ColumnRole` except identifier and target.
    kind: str
    type_name: str = ""
    n_rows: int = 0
    n_missing: int = 0
    # Different values of words and integers, as keys in the order of the rows; complete for
    # categories, else not continued beyond `JUDGED_VALUES`.
    values: dict[Any, None] = field(default_factory=dict)
    # Which of the present values is the first that occurred before.
    first_repeat: int | None = None
    # Categories in the order that the type gives them.
    order: tuple[Any, ...] | None = None
    # First of the integers that count up by one in all rows, or in the first `JUDGED_VALUES`.
    counts_from: int | None = None
    # How many of the first `JUDGED_VALUES` words are numbers, and the first that is none.
    n_numbers: int = 0
    no_number: str | None = None

    @property
    def n_present(self) -> int:
        """Values that are not missing."""
        return self.n_rows - self.n_missing

    @property
    def all_differ(self) -> bool:
        """Whether no value repeats, as far as they are judged."""
        repeats = self.first_repeat is not None and self.first_repeat < JUDGED_VALUES
        return self.n_present >= MIN_ROWS_FOR_IDENTIFIER and not repeats

    @property
    def count_up(self) -> bool:
        """Whether rows count up by one, as far as they are judged."""
        return self.counts_from is not None and self.n_rows >= MIN_ROWS_FOR_IDENTIFIER

    def is_settled(self) -> bool:
        """Whether no further row can change the role."""
        is_long = self.n_present >= JUDGED_VALUES
        if self.kind == "numeric":
            return is_long or (self.first_repeat is not None and self.counts_from is None)
        is_judged = is_long or self.first_repeat is not None
        return self.kind == "text" and is_judged and len(self.values) > MAX_CATEGORIES

    def merge(self, other: ColumnFacts) -> ColumnFacts:
        """Take in the rows that follow."""
        if self.kind != other.kind and self.n_present and other.n_present:
            both = {self.kind, other.kind}
            self.kind = "numeric" if both == {"numeric", "boolean"} else "nested"
        elif other.n_present:
            self.kind, self.type_name = other.kind, other.type_name
            self.order = self.order if self.n_present else other.order
        if self.n_rows == 0:
            self.counts_from = other.counts_from
        elif self.n_rows < JUDGED_VALUES and self.counts_from is not None:
            goes_on = other.n_rows == 0 or other.counts_from == self.counts_from + self.n_rows
            self.counts_from = self.counts_from if goes_on else None
        if self.first_repeat is None and self.n_present < JUDGED_VALUES:
            again = (i for i, value in enumerate(other.values) if value in self.values)
            found = [i for i in (next(again, None), other.first_repeat) if i is not None]
            self.first_repeat = self.n_present + min(found) if found else None
        if self.n_present < JUDGED_VALUES:
            self.n_numbers += other.n_numbers
            self.no_number = other.no_number if self.no_number is None else self.no_number
        if self.kind == "category" or len(self.values) <= JUDGED_VALUES:
            self.values |= other.values
        if self.order is not None and self.order != other.order:
            self.order = None if other.n_present else self.order
        self.n_rows += other.n_rows
        self.n_missing += other.n_missing
        return self


def first_repeat(values: Iterable[Any]) -> int | None:
    """Position of the first value that occurred before."""
    seen = set()
    for i, value in enumerate(values):
        if value in seen:
            return i
        seen.add(value)
    return None


def judge(name: str, facts: ColumnFacts, named: bool) -> tuple[ColumnRole, ColumnCode]:
    """Apply the rules to a column; `named` tells that the caller asked for it."""
    kind, missing, n = facts.kind, facts.n_missing, facts.n_present
    if kind == "nested":
        reason = f"holds {facts.type_name}, which is not a number"
        return ColumnRole(name, kind, False, reason, missing), ColumnCode(kind)
    if not named and _is_identifier(name, facts):
        which = f"all {n:,}" if n <= JUDGED_VALUES else f"the first {JUDGED_VALUES:,}"
        reason = f"identifier, {which} values differ"
        return ColumnRole(name, "identifier", False, reason, missing), ColumnCode("identifier")
    if kind == "text" and not n:
        kind = "numeric"  # nothing that is not a number
    if kind not in {"text", "category"}:
        return ColumnRole(name, kind, True, _HOW[kind], missing), ColumnCode(kind)
    n_distinct: int | None = len(facts.values)
    limit = max(MIN_CATEGORIES, min(MAX_CATEGORIES, n // ROWS_PER_CATEGORY))
    if not named and kind == "text" and len(facts.values) > limit:
        many = f"{counted(len(facts.values), 'different value')} in {counted(facts.n_rows, 'row')}"
        if len(facts.values) > MAX_CATEGORIES:
            many, n_distinct = f"more than {MAX_CATEGORIES:,} different values", None
        role = ColumnRole(name, "text", False, f"free text, {many}", missing, n_distinct)
        return role, ColumnCode("text")
    categories = _sorted_categories(facts)
    order = "sorted" if facts.order is None else "given"
    reason = f"codes of {counted(len(facts.values), 'value')} in {order} order"
    labels = tuple(map(str, categories))
    role = ColumnRole(name, "category", True, reason, missing, n_distinct, labels)
    return role, ColumnCode("category", categories)


def _sorted_categories(facts: ColumnFacts) -> tuple[Any, ...]:
    """Values that occur in the order of their codes: sorted, unless the type gives an order."""
    if facts.order is None:
        return tuple(sorted(facts.values))
    position = {value: i for i, value in enumerate(facts.order)}
    return tuple(sorted(facts.values, key=position.__getitem__))


def _is_identifier(name: str, facts: ColumnFacts) -> bool:
    if facts.kind == "numeric":
        return facts.count_up or (bool(facts.values) and is_id_name(name) and facts.all_differ)
    return facts.kind in {"text", "category"} and facts.all_differ


def is_id_name(name: str) -> bool:
    """Tell whether a column is named like an identifier."""
    name = name.strip()
    return bool(_ID_NAME.fullmatch(name) or _CAMEL_ID.fullmatch(name))


def column_notes(
    roles: Sequence[ColumnRole], include: str = "--include", numbers: Sequence[str] = ()
) -> list[str]:
    """Report what was left out and what was encoded; `include` is the option for exceptions."""
    notes = []
    for reason in (EXCLUDED, NOT_NAMED):
        if names := [role.name for role in roles if role.reason == reason]:
            notes.append(f"left out {counted(len(names), 'column')} {reason}: {listed(names)}")
    for kind, remedy in (
        ("text", f"; name it in {include} to encode it as categories"),
        ("identifier", f"; name it in {include} to use it"),
        ("nested", ""),
    ):
        judged = [r for r in roles if r.kind == kind and not r.used]
        left_out = [
            f"left out {r.name!r}: {r.reason}{remedy}"
            for r in judged
            if r.reason not in (EXCLUDED, NOT_NAMED)
        ]
        notes += _shortened(left_out, f"left out {{}} of kind {kind}, see roles")
    for kind, how in _ENCODED.items():
        if names := [role.name for role in roles if role.used and role.kind == kind]:
            notes.append(f"{counted(len(names), f'{kind} column')} used as {how}: {listed(names)}")
    return [*notes, *_shortened(numbers, "{} of text hold mostly numbers")]


def _shortened(notes: Sequence[str], summary: str) -> list[str]:
    rest = len(notes) - MAX_NOTES_PER_KIND
    more = [summary.format(counted(rest, "more column"))] if rest > 0 else []
    return [*notes[:MAX_NOTES_PER_KIND], *more]


def number_note(name: str, facts: ColumnFacts) -> str | None:
    """Point at a text column that looks like numbers spoilt by a few words."""
    n = min(facts.n_present, JUDGED_VALUES)
    if not facts.n_numbers or facts.n_numbers < MOSTLY_NUMBERS * n:
        return None
    if facts.no_number is None:
        return f"{name!r} holds numbers stored as text; store them as numbers to use them as such"
    n_words = n - facts.n_numbers
    which = f"{n_words:,} of {counted(n, 'value')} {'is' if n_words == 1 else 'are'}"
    which = which if n == facts.n_present else "some values are"
    return (
        f"{name!r} is taken as text: {which} not numbers, e.g. {facts.no_number!r}; "
        "empty those cells to use it as numbers"
    )
