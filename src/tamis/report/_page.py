"""From a checked summary to the values that the template shows."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from importlib.resources import files
from typing import Any

import jinja2
from markupsafe import Markup

from tamis.report import _cells, _figures, _sentences, _words
from tamis.report import _charts as charts
from tamis.report._cells import Cell, Table
from tamis.report._figures import Context

COLUMNS_AT_ONCE = 24  # of the recommended columns; the others are behind a fold
MOST_OTHER_CHARTS = 12
# What could end the script element, turn text around or not be written in UTF-8.
_UNSAFE = re.compile("[<>&\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def make_page(summary: dict[str, Any], name: str) -> str:
    """Fill the template; `name` is what the downloads are called."""
    # Scripts and styles are ours and fixed: the policy allows exactly these texts, so that
    # nothing a name could smuggle in would run.
    style, script = _read("style.css"), _read("script.js")
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["short"] = _words.short_name
    environment.filters["full"] = _words.full_name
    template = environment.from_string(_read("report.html.j2"))
    return template.render(
        summary=summary,
        style=Markup(style),
        script=Markup(script),
        style_hash=_hash(style),
        script_hash=_hash(script),
        embedded=_embedded(summary),
        download_name=name,
        sections=[_section(summary, place) for place in range(len(summary["data"]))],
        ranks=_rank_figure("ranks", summary["ranks"], summary, None),
        overview=_overview(summary),
        failures=_failures(summary),
        warnings=_warnings(summary),
        words=_words,
    )


def _read(name: str) -> str:
    return files("tamis.report").joinpath("templates", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _embedded(summary: dict[str, Any]) -> Markup:
    """JSON that cannot end its script element, nor hold what UTF-8 cannot write."""
    text = json.dumps(summary, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(_UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def _section(summary: dict[str, Any], place: int) -> dict[str, Any]:
    data = summary["data"][place]
    context = Context(f"d{place}", data, summary["methods"], summary["level"])
    first, others = _score_figures(summary, context)
    figures = [
        _figures.stability_figure(context),
        _rank_figure(f"{context.key}-ranks", data["ranks"], summary, context.chosen),
        _figures.frequency_figure(context),
        _figures.correlation_figure(context),
        _figures.probe_figure(context),
        _figures.time_figure(context),
    ]
    return {
        "key": context.key,
        "data": data,
        "headline": _sentences.headline(data),
        "tiles": _sentences.tiles(data, summary["level"]),
        "columns": _columns(data),
        "columns_at_once": COLUMNS_AT_ONCE,
        "scores": first,
        "other_scores": others,
        "methods": _methods_table(summary, context),
        "figures": [figure for figure in figures if figure is not None],
    }


def _score_figures(summary: dict[str, Any], context: Context) -> tuple[Any, list[Any]]:
    """The chart of the first learner and metric, and those of the others."""
    pairs = [
        (learner, metric["name"], metric["greater_is_better"])
        for metric in summary["metrics"]
        for learner in summary["learners"]
    ]
    answer = context.data["answer"] or summary
    # Stable, so the others keep their order.
    pairs.sort(key=lambda pair: pair[:2] != (answer["learner"], answer["metric"]))
    drawn = [
        _figures.score_figure(context, *pair, number)
        for number, pair in enumerate(pairs[: 1 + MOST_OTHER_CHARTS])
    ]
    found = [figure for figure in drawn if figure is not None]
    return (found[0], found[1:]) if found else (None, [])


def _columns(data: dict[str, Any]) -> list[dict[str, Any]]:
    if data["answer"] is None:
        return []
    columns = data["answer"]["columns"]
    return [
        {
            "short": label,
            "full": _words.full_name(column["name"]),
            "index": column["index"],
            "share": _words.percent(column["share"]),
            "interval": _words.percent(column["low"]) + " to " + _words.percent(column["high"]),
            "bar": charts.share_bar(column["share"], column["low"], column["high"]),
        }
        for column, label in zip(columns, _words.labels(columns, 30), strict=True)
    ]


def _methods_table(summary: dict[str, Any], context: Context) -> Table:
    """One row per method: at the recommended number of columns, and at its own best."""
    data, answer = context.data, context.data["answer"]
    learner, metric = (answer or summary)["learner"], (answer or summary)["metric"]
    is_high = next(
        (m["greater_is_better"] for m in summary["metrics"] if m["name"] == metric), True
    )
    at = context.chosen_count
    rows = [row for row in data["scores"] if row["learner"] == learner and row["metric"] == metric]
    if at is None or all(row["count"] != at for row in rows):
        at = max((row["count"] for row in rows), default=0)
    words = _words.metric_words(metric)
    heads = [
        ("Method", "text"), (_words.capital(words), "number"),
        ("Interval", "number"), ("Stability", "number"), ("Best", "number"),
        ("with columns", "number"), ("Time", "number"), ("Memory", "number"),
    ]  # fmt: skip
    body = [
        (_methods_row(context, method, rows, at, is_high), method) for method in context.methods
    ]
    sign = -1 if is_high else 1
    body.sort(key=lambda pair: (pair[0][1].value is None, sign * (pair[0][1].value or 0.0)))
    caption = f"All methods with {_words.count_of(at, 'column')}, best first"
    return Table(f"{context.key}-methods", caption, heads, [row for row, _ in body], True)


def _methods_row(
    context: Context, method: str, rows: list[dict[str, Any]], at: int, is_high: bool
) -> list[Cell]:
    own = [row for row in rows if row["method"] == method and row["mean"] is not None]
    here: dict[str, Any] = next((row for row in own if row["count"] == at), {})
    best: dict[str, Any] = (
        (max if is_high else min)(own, key=lambda row: row["mean"]) if own else {}
    )
    steady = next(
        (
            row["value"]
            for row in context.data["stability"]["rows"]
            if row["method"] == method and row["count"] == at
        ),
        None,
    )
    time: dict[str, Any] = next(
        (row for row in context.data["times"] if row["method"] == method), {}
    )
    name = _cells.name_cell(method)
    if context.chosen == context.methods.index(method):
        name = name._replace(kind="name strong")
    return [
        name,
        _cells.number_cell(here.get("mean")),
        _cells.interval_cell(here.get("low"), here.get("high")),
        _cells.number_cell(steady, 2),
        _cells.number_cell(best.get("mean")),
        _cells.count_cell(best.get("count")),
        Cell(_words.seconds(time.get("select_seconds")), time.get("select_seconds")),
        Cell(_words.size(time.get("peak_bytes")), time.get("peak_bytes")),
    ]


def _rank_figure(
    key: str, ranks: dict[str, Any] | None, summary: dict[str, Any], chosen: int | None
) -> _figures.Figure | None:
    if ranks is None or not ranks["methods"]:
        return None
    return _figures.rank_figure(key, ranks, summary["methods"], chosen)


def _overview(summary: dict[str, Any]) -> Table | None:
    """One row per data set, when there are several."""
    if len(summary["data"]) < 2:
        return None
    heads = [
        ("Data", "text"), ("Rows", "number"), ("Columns", "number"), ("Method", "text"),
        ("Keep", "number"), ("Score", "number"), ("Interval", "number"), ("Stability", "number"),
    ]  # fmt: skip
    body = []
    for data in summary["data"]:
        answer = data["answer"] or {}
        body.append(
            [
                _cells.name_cell(data["name"])._replace(kind="name strong"),
                _cells.count_cell(data["n_rows"]),
                _cells.count_cell(data["n_columns"]),
                _cells.name_cell(answer.get("method", "–")),
                _cells.count_cell(answer.get("count")),
                _cells.number_cell(answer.get("mean")),
                _cells.interval_cell(answer.get("low"), answer.get("high")),
                _cells.number_cell(answer.get("stability"), 2),
            ]
        )
    return Table("overview", "The answer for every data set", heads, body, len(body) > 8)


def _failures(summary: dict[str, Any]) -> Table | None:
    if not summary["failures"]:
        return None
    heads = [("Data", "text"), ("Method", "text"), ("Split", "text"), ("Part", "text"),
             ("Error", "text")]  # fmt: skip
    body = [
        [
            _cells.name_cell(row["data"]),
            _cells.name_cell(row["method"]),
            _cells.name_cell(row["split"]),
            _cells.name_cell(row["part"]),
            Cell(_words.short_name(row["error"], 600), None, None, "text"),
        ]
        for row in summary["failures"]
    ]
    return Table("failures-table", "What failed", heads, body, len(body) > 8)


def _warnings(summary: dict[str, Any]) -> Table | None:
    if not summary["warnings"]:
        return None
    heads = [("Data", "text"), ("Method", "text"), ("Splits", "number"), ("Warning", "text")]
    body = [
        [
            _cells.name_cell(row["data"]),
            _cells.name_cell(row["method"]),
            _cells.count_cell(row["n"]),
            Cell(_words.short_name(row["warning"], 600), None, None, "text"),
        ]
        for row in summary["warnings"]
    ]
    return Table("warnings-table", "Warnings of selectors and learners", heads, body, len(body) > 8)
