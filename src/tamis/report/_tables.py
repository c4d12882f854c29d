"""Tables of the page: cells with what is shown and what is sorted by."""

from __future__ import annotations

from typing import Any, NamedTuple

from tamis.report import _words
from tamis.report._words import Record


class Cell(NamedTuple):
    """One cell: text to show, value to sort by (None: the text), whole name for a tooltip."""

    text: Any
    value: float | None = None
    full: str | None = None
    kind: str = "number"


class PageTable(NamedTuple):
    """A table: caption, heads as (label, kind), rows of cells, and whether it is filterable."""

    key: str
    caption: str
    heads: list[tuple[str, str]]
    rows: list[list[Cell]]
    has_filter: bool = False


def heads(texts: str, numbers: str = "") -> list[tuple[str, str]]:
    """Heads of the columns of text, then of those of numbers; labels are divided by bars."""
    kinds = [(label, "text") for label in texts.split("|")]
    return kinds + [(label, "number") for label in numbers.split("|") if label]


def name_cell(name: str, label: str | None = None) -> Cell:
    """Cell of an untrusted name, perhaps under a label."""
    short, full = label or _words.short_name(name), _words.full_name(name)
    return Cell(short, None, full if full != short else None, "name")


def text_cell(text: str, limit: int = 600) -> Cell:
    """Cell of words."""
    return Cell(_words.short_name(text, limit), None, None, "text")


def number_cell(value: float | None, digits: int = 3) -> Cell:
    """Cell of a score."""
    return Cell(_words.number(value, digits), value)


def count_cell(value: int | None) -> Cell:
    """Cell of a whole number."""
    return Cell("–" if value is None else f"{value:,}", value)


def interval_cell(low: float | None, high: float | None, digits: int = 3) -> Cell:
    """Cell of an interval, sorted by its lower end."""
    return Cell(_words.interval(low, high, digits) or "–", low)


def methods_table(context: Any, record: Record) -> PageTable:
    """One row per method: at the recommended number of columns, and at its own best."""
    first = context.data["answer"] or record
    metric = first["metric"]
    is_high = next(
        (m["greater_is_better"] for m in context.data["metrics"] if m["name"] == metric), True
    )
    rows = context.scores(first["learner"], metric)
    at = context.count_in(rows)
    label = _words.capital(_words.metric_words(metric))
    body = [_methods_row(context, method, rows, at, is_high) for method in context.methods]
    sign = -1 if is_high else 1
    body.sort(key=lambda row: (row[1].value is None, sign * (row[1].value or 0.0)))
    return PageTable(
        f"{context.key}-methods",
        f"All methods with {_words.counted(at, 'column')}, best first",
        heads("Method", f"{label}|Interval|Stability|Best|with columns|Time|Memory"),
        body,
        True,
    )


def _methods_row(
    context: Any, method: str, rows: list[Record], at: int, is_high: bool
) -> list[Cell]:
    own = [row for row in rows if row["method"] == method and row["mean"] is not None]
    here: Record = next((row for row in own if row["count"] == at), {})
    best: Record = (max if is_high else min)(own, key=lambda row: row["mean"]) if own else {}
    stability = {(row["method"], row["count"]): row for row in context.data["stability"]}
    time: Record = next((row for row in context.data["times"] if row["method"] == method), {})
    name = name_cell(method)
    if context.chosen == context.methods.index(method):
        name = name._replace(kind="name strong")
    return [
        name,
        number_cell(here.get("mean")),
        interval_cell(here.get("low"), here.get("high")),
        number_cell(stability.get((method, at), {}).get("nogueira"), 2),
        number_cell(best.get("mean")),
        count_cell(best.get("count")),
        Cell(_words.seconds(time.get("select_seconds")), time.get("select_seconds")),
        Cell(_words.size(time.get("peak_bytes")), time.get("peak_bytes")),
    ]


def overview_table(record: Record) -> PageTable | None:
    """One row per data set, when there are several."""
    if len(record["data"]) < 2:
        return None
    body = []
    for data in record["data"]:
        answer = data["answer"] or {}
        body.append(
            [
                name_cell(data["name"])._replace(kind="name strong"),
                name_cell(answer.get("method", "–")),
                count_cell(data["n_rows"]),
                count_cell(data["n_columns"]),
                count_cell(answer.get("count")),
                number_cell(answer.get("score")),
                interval_cell(answer.get("low"), answer.get("high")),
                number_cell(answer.get("stability"), 2),
            ]
        )
    labels = heads("Data|Method", "Rows|Columns|Keep|Score|Interval|Stability")
    return PageTable("overview", "The answer for every data set", labels, body, len(body) > 8)


def failures_table(record: Record) -> PageTable | None:
    """What failed, if anything."""
    body = [
        [name_cell(row[key]) for key in ("data", "method", "split", "part")]
        + [text_cell(row["error"])]
        for row in record["failures"]
    ]
    labels = heads("Data|Method|Split|Part|Error")
    return PageTable("failures-table", "What failed", labels, body, len(body) > 8) if body else None


def warnings_table(record: Record) -> PageTable | None:
    """What was warned of, if anything."""
    body = [
        [
            name_cell(row["data"]),
            name_cell(row["method"]),
            text_cell(row["warning"]),
            count_cell(row["n"]),
        ]
        for row in record["warnings"]
    ]
    caption, labels = "Warnings of selectors and estimators", heads("Data|Method|Warning", "Splits")
    return PageTable("warnings-table", caption, labels, body, len(body) > 8) if body else None
