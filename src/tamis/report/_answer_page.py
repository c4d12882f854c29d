"""From an answer to the values that its template shows, and the chart of its scores."""

from __future__ import annotations

from typing import Any, NamedTuple

import jinja2
import numpy as np
from markupsafe import Markup

from tamis._runtime.plain import versions
from tamis.auto.page import LABELS, baseline_name, frequency, left_out, legend
from tamis.evaluation.metrics import make_metric
from tamis.report import _svg, _words
from tamis.report._charts import share_bar
from tamis.report._page import _hash, _read
from tamis.report.answer import LONGEST, e_value_words

# Pixels of the chart: its width, the part for names, the height of a row.
WIDTH, NAMES, ROW = 640, 178, 48
LEAST_MARGIN = 24


class Line(NamedTuple):
    """A row of the chart: a score with its interval, and the position that gives the colour."""

    name: str
    score: float
    low: float
    high: float
    position: int


def make_answer_page(answer: Any) -> str:
    """Fill the template."""
    style = _read("style.css") + _read("answer.css")
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["short"] = _words.short_name
    environment.filters["full"] = _words.full_name
    headline, sentences = _verdict(answer)
    return environment.from_string(_read("answer.html.j2")).render(
        answer=answer,
        headline=headline,
        sentences=sentences,
        longest=LONGEST,
        legend=legend(answer),
        done=[*answer.steps, *left_out(answer)],
        chart=_chart(answer),
        features=[_feature(each) for each in answer.features],
        seconds=_words.seconds(answer.seconds),
        versions=versions(),
        style=Markup(style),
        style_hash=_hash(style),
        words=_words,
    )


def _verdict(answer: Any) -> tuple[str, list[str]]:
    """The headline, and what the verdict says beyond it."""
    n, total = len(answer.features), f"{answer.n_features:,} features"
    headline = f"{n:,} of {total} {'carries' if n == 1 else 'carry'} the signal"
    if not answer.found:
        headline = "Nothing here beats chance"
    before, known, after = answer.verdict.partition(headline)
    if not known:
        return headline, [answer.verdict]
    parts = [_words.capital(after.strip(" :;,")), before.strip()]
    return headline, [part for part in parts if part.strip(".")]


def _feature(each: Any) -> dict[str, Any]:
    known = bool(np.isfinite(each.frequency))
    bar = share_bar(each.frequency, each.frequency_low, each.frequency_high) if known else ""
    return {
        "name": each.feature,
        "bar": bar,
        "frequency": frequency(each),
        "q_value": f"{each.q_value:.2g}",
        "e_value": e_value_words(each),
        "effect": each.effect,
        "copies": each.replaceable_by,
    }


def _lines(answer: Any) -> list[Line]:
    """The answer, then the baselines with the intervals of how far they are behind it."""
    n = len(answer.features)
    own = f"these {n:,} features" if n > 1 else "this feature" if n else "features found"
    lines = [Line(own, answer.expected_score, answer.low, answer.high, 0)]
    is_high = make_metric(answer.metric, answer.task).greater_is_better
    for position, each in enumerate(answer.baselines, start=1):
        sign = 1.0 if is_high else -1.0
        ends = sorted(answer.expected_score - sign * np.array([each.gain_low, each.gain_high]))
        name = baseline_name(each, n) if n else each.name
        lines.append(Line(name, each.score, float(ends[0]), float(ends[1]), position))
    return lines


def _chart(answer: Any) -> Markup | None:
    """A dot with an interval per row; a line through the answer's own score crosses all rows."""
    if not np.isfinite(answer.expected_score):
        return None
    lines = _lines(answer)
    label = _words.metric_words(answer.metric)
    ends = [end for each in lines for end in (each.low, each.high, each.score) if np.isfinite(end)]
    metric = make_metric(answer.metric, answer.task)
    ticks = _svg.round_ticks(max(min(ends), metric.low), min(max(ends), metric.high), 5)
    x = _svg.linear(ticks[0], ticks[-1], NAMES + 10.0, WIDTH - LEAST_MARGIN)
    bottom = 30 + ROW * len(lines)
    parts = []
    for tick in ticks:
        parts.append(_svg.line(x(tick), 24, x(tick), bottom))
        parts.append(_svg.text(x(tick), 16, _svg.tick_text(tick, ticks), "t", "middle"))
    parts.append(_svg.line(x(lines[0].score), 24, x(lines[0].score), bottom, "guide"))
    limits = (ticks[0], ticks[-1])
    for place, each in enumerate(lines):
        parts += _row(each, x, limits, 30 + ROW * (place + 0.5))
    parts.append(_svg.text(NAMES + 10, bottom + 22, label, "t label"))
    words = "; ".join(f"{each.name} {each.score:.3f}" for each in lines)
    title = f"{_words.capital(LABELS.get(answer.metric, answer.metric))} on new rows"
    about = _svg.About("scores", title, words)
    return _svg.picture(about, WIDTH, bottom + 32, *parts, kind="chart roomy")


def _row(each: Line, x: _svg.Scale, limits: tuple[float, float], y: float) -> list[Markup]:
    strong = "t strong" if each.position == 0 else "t"
    parts = [
        _svg.text(NAMES - 6, y - 3, each.name, strong, "end"),
        _svg.text(NAMES - 6, y + 16, f"{each.score:.2f}", strong, "end"),
    ]
    drawn = []
    if np.isfinite([each.low, each.high]).all():
        low, high = (min(max(end, limits[0]), limits[1]) for end in (each.low, each.high))
        drawn.append(_svg.line(x(low), y, x(high), y, "whisker"))
    dot = _svg.marker(each.position, x(min(max(each.score, limits[0]), limits[1])), y, 5.5)
    chosen = " chosen" if each.position == 0 else ""
    group = _svg.tag("g", *drawn, dot, class_=f"series {_svg.series_class(each.position)}{chosen}")
    return [*parts, group]
