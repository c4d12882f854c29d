"""Cells of tables: what is shown, what is sorted by."""

from __future__ import annotations

from typing import Any, NamedTuple

from tamis.report import _words


class Cell(NamedTuple):
    """One cell: text to show, value to sort by (None: the text), whole name for a tooltip."""

    text: Any
    value: float | None = None
    full: str | None = None
    kind: str = "number"


class Table(NamedTuple):
    """A table: caption, heads as (label, kind), rows of cells, and whether it is filterable."""

    key: str
    caption: str
    heads: list[tuple[str, str]]
    rows: list[list[Cell]]
    has_filter: bool = False


def name_cell(name: str) -> Cell:
    """Cell of an untrusted name."""
    short, full = _words.short_name(name), _words.full_name(name)
    return Cell(short, None, full if full != short else None, "name")


def column_cell(column: dict[str, Any], label: str) -> Cell:
    """Cell of a column under its label."""
    full = _words.full_name(column["name"])
    return Cell(label, None, full if full != label else None, "name")


def text_cell(text: str) -> Cell:
    """Cell of words."""
    return Cell(_words.short_name(text, _words.LONG), None, None, "text")


def number_cell(value: float | None, digits: int = 3) -> Cell:
    """Cell of a score."""
    return Cell(_words.number(value, digits), value)


def count_cell(value: int | None) -> Cell:
    """Cell of a whole number."""
    return Cell("–" if value is None else f"{value:,}", value)


def interval_cell(low: float | None, high: float | None, digits: int = 3) -> Cell:
    """Cell of an interval, sorted by its lower end."""
    return Cell(_words.interval(low, high, digits) or "–", low)
