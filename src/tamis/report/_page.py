"""From a checked record to the values that the template shows."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from importlib.resources import files
from typing import Any

import jinja2
from markupsafe import Markup

from tamis.report import _charts as charts
from tamis.report import _figures, _tables, _words
from tamis.report._figures import Context
from tamis.report._words import Record

COLUMNS_AT_ONCE = 24  # of the recommended columns; the others are behind a fold
MOST_OTHER_CHARTS = 12
# What could end the script element, turn text around or not be written in UTF-8.
_UNSAFE = re.compile("[<>&\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def make_page(record: Record, name: str) -> str:
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
        record=record,
        title=_words.title(record),
        protocol=_words.protocol(record),
        notes=_words.notes(record),
        style=Markup(style),
        script=Markup(script),
        style_hash=_hash(style),
        script_hash=_hash(script),
        embedded=_embedded(record),
        download_name=name,
        sections=[_section(record, place) for place in range(len(record["data"]))],
        ranks=_figures.rank_figure("ranks", record["significance"], record["methods"], None),
        overview=_tables.overview_table(record),
        failures=_tables.failures_table(record),
        warnings=_tables.warnings_table(record),
        words=_words,
    )


def _read(name: str) -> str:
    return files("tamis.report").joinpath("templates", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _embedded(record: Record) -> Markup:
    """JSON that cannot end its script element, nor hold what UTF-8 cannot write."""
    text = json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(_UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def _section(record: Record, place: int) -> Record:
    data = record["data"][place]
    context = Context(f"d{place}", data, record["methods"], record["level"])
    first, others = _score_figures(record, context)
    ranks = f"{context.key}-ranks"
    figures = [
        _figures.stability_figure(context),
        _figures.rank_figure(ranks, data["significance"], context.methods, context.chosen),
        _figures.frequency_figure(context),
        _figures.correlation_figure(context),
        _figures.probe_figure(context),
        _figures.time_figure(context),
    ]
    return {
        "key": context.key,
        "data": data,
        "headline": _words.headline(data),
        "tiles": _words.tiles(data, record["level"]),
        "reasons": _words.reasons(data),
        "columns": _columns(data["answer"]),
        "columns_at_once": COLUMNS_AT_ONCE,
        "scores": first,
        "other_scores": others,
        "methods": _tables.methods_table(context, record),
        "figures": [figure for figure in figures if figure is not None],
    }


def _score_figures(record: Record, context: Context) -> tuple[Any, list[Any]]:
    """The chart of the deciding estimator and metric, and those of the others."""
    pairs = [
        (learner, metric["name"], metric["greater_is_better"])
        for metric in context.data["metrics"]
        for learner in context.data["learners"]
    ]
    answer = context.data["answer"] or record
    # Stable, so the others keep their order.
    pairs.sort(key=lambda pair: pair[:2] != (answer["learner"], answer["metric"]))
    drawn = [
        _figures.score_figure(context, *pair, number)
        for number, pair in enumerate(pairs[: 1 + MOST_OTHER_CHARTS])
    ]
    found = [figure for figure in drawn if figure is not None]
    return (found[0], found[1:]) if found else (None, [])


def _columns(answer: Record | None) -> list[Record]:
    if answer is None:
        return []
    columns = zip(
        answer["columns"], _words.labels(answer, 30), answer["shares"],
        answer["shares_low"], answer["shares_high"], strict=True,
    )  # fmt: skip
    return [
        {
            "short": label,
            "full": _words.full_name(name),
            "share": _words.percent(share),
            "interval": f"{_words.percent(low)} to {_words.percent(high)}",
            "bar": charts.share_bar(share, low, high),
        }
        for name, label, share, low, high in columns
    ]
