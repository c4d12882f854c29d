"""Something against the number of columns, one line per method."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from markupsafe import Markup

from tamis.report._charts import _svg

WIDTH, HEIGHT = 700, 380
LEFT, RIGHT, TOP, BOTTOM = 58, 16, 28, 46


class Line(NamedTuple):
    """One method: its place in the list of methods, and a value with interval per count."""

    position: int
    name: str
    counts: Sequence[int]
    values: Sequence[float | None]
    lows: Sequence[float | None]
    highs: Sequence[float | None]


class _Frame(NamedTuple):
    x: _svg.Scale
    y: _svg.Scale
    ticks: list[float]


def line_chart(
    key: str,
    lines: Sequence[Line],
    title: str,
    description: str,
    y_label: str,
    *,
    limits: tuple[float, float] | None = None,
    chosen: int | None = None,
    chosen_count: int | None = None,
) -> Markup:
    """Draw the lines with whiskers; the chosen method is thick, on top, and has a band."""
    counts = sorted({count for line in lines for count in line.counts})
    if not counts:
        return Markup("")
    frame = _frame(lines, counts, limits)
    parts = [_axes(frame, counts, y_label)]
    if chosen_count in counts:
        x = frame.x(chosen_count)
        parts.append(_svg.line(x, TOP, x, HEIGHT - BOTTOM, "guide"))
    for line in sorted(lines, key=lambda line: line.position == chosen):
        is_chosen = line.position == chosen
        parts.append(_series(line, frame, is_chosen, 0.0 if is_chosen else _dodge(line, lines)))
    return _svg.picture(key, WIDTH, HEIGHT, title, description, *parts, is_roomy=True)


def _frame(lines: Sequence[Line], counts: list[int], limits: tuple[float, float] | None) -> _Frame:
    values = [
        value
        for line in lines
        for part in (line.values, line.lows, line.highs)
        for value in part
        if value is not None
    ]
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    if limits is not None:
        low, high = min(low, limits[0]), max(high, limits[1])
    ticks = _svg.round_ticks(low, high)
    start, end = LEFT + 14, WIDTH - RIGHT - 14
    x = _middle if len(counts) == 1 else _spread(counts, start, end)
    return _Frame(x, _svg.linear(ticks[0], ticks[-1], HEIGHT - BOTTOM, TOP), ticks)


def _spread(counts: list[int], start: float, end: float) -> _svg.Scale:
    """Take the linear or logarithmic axis, whichever keeps neighbours further apart."""
    scales = [_svg.linear(counts[0], counts[-1], start, end)]
    if counts[0] > 0:
        scales.append(_svg.logarithmic(counts[0], counts[-1], start, end))

    def closest(scale: _svg.Scale) -> float:
        return min(scale(b) - scale(a) for a, b in pairwise(counts))

    return max(scales, key=closest)


def _middle(value: float) -> float:
    return (LEFT + WIDTH - RIGHT) / 2


def _axes(frame: _Frame, counts: list[int], y_label: str) -> Markup:
    parts = []
    for tick in frame.ticks:
        y = frame.y(tick)
        parts.append(_svg.line(LEFT, y, WIDTH - RIGHT, y))
        parts.append(_svg.text(LEFT - 9, y + 4, _svg.tick_text(tick, frame.ticks), "t", "end"))
    base = HEIGHT - BOTTOM
    parts.append(_svg.line(LEFT, base, WIDTH - RIGHT, base, "axis"))
    free = -1e9
    for count in counts:
        x, words = frame.x(count), f"{count:,}"
        half = 6 + 0.5 * _svg.LARGE_LETTER * len(words)
        if x - half >= free:  # numbers that would touch are left out
            parts.append(_svg.line(x, base, x, base + 5, "axis"))
            parts.append(_svg.text(x, base + 19, words, "t", "middle"))
            free = x + half
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(_svg.text(middle, HEIGHT - 6, "number of columns", "t label", "middle"))
    parts.append(_svg.text(4, 16, y_label, "t label"))
    return _svg.tag("g", *parts)


def _dodge(line: Line, lines: Sequence[Line]) -> float:
    """Whiskers of several methods stand side by side, at most six pixels from the true count."""
    if len(lines) < 2:
        return 0.0
    place = [other.position for other in lines].index(line.position)
    step = min(12 / (len(lines) - 1), 2.0)
    return step * (place - (len(lines) - 1) / 2)


def _series(line: Line, frame: _Frame, is_chosen: bool, dodge: float) -> Markup:
    rows = [
        (frame.x(count), value, low, high)
        for count, value, low, high in zip(
            line.counts, line.values, line.lows, line.highs, strict=True
        )
        if value is not None
    ]
    whole = [(x, low, high) for x, _, low, high in rows if low is not None and high is not None]
    parts = []
    if len(whole) > 1:
        edge = [(x, frame.y(high)) for x, _, high in whole]
        edge += [(x, frame.y(low)) for x, low, _ in reversed(whole)]
        parts.append(_svg.tag("polygon", points=_svg.points(edge), class_="band"))
    for x, low, high in whole:
        parts.append(_svg.line(x + dodge, frame.y(low), x + dodge, frame.y(high), "whisker"))
    path = _svg.points((x, frame.y(value)) for x, value, *_ in rows)
    parts.append(_svg.tag("polyline", points=path, class_="l"))
    parts += [_svg.marker(line.position, x, frame.y(value)) for x, value, *_ in rows]
    classes = f"series {_svg.series_class(line.position)}" + (" chosen" if is_chosen else "")
    return _svg.tag("g", *parts, class_=classes, data_method=line.position)
