"""Charts of the report as inline SVG: numbers in, markup out.

Colours come from classes of the style sheet, so that one drawing serves light, dark and paper.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from markupsafe import Markup

from tamis.report import _svg, _words
from tamis.report._svg import About

Row = tuple[int, str, float]  # position and name of a method, and its value
# How a cell is drawn: its class and opacity, the value in its tooltip and inside of it.
Look = tuple[str, float, str, str]

WIDTH = 700
HEIGHT = 380  # of a chart of lines
LEFT, RIGHT, TOP, BOTTOM = 58, 16, 28, 46  # its margins
MIDDLE = (LEFT + WIDTH - RIGHT) / 2
NAMES, ROW, GROUP_STEP = 218, 26, 12  # room for names, height of a row, width of a group
LETTER = 8.3  # width of a letter in a wide font, for the room that names need


class Line(NamedTuple):
    """One method: its place in the list of methods, and a value with interval per count."""

    position: int
    counts: Sequence[int]
    values: Sequence[float | None]
    lows: Sequence[float | None]
    highs: Sequence[float | None]


class Reference(NamedTuple):
    """What the methods must beat: a dashed line under its name, level where there is one count."""

    name: str
    counts: Sequence[int]
    values: Sequence[float]


class _Frame(NamedTuple):
    x: _svg.Scale
    y: _svg.Scale
    ticks: list[float]


def line_chart(
    about: About,
    lines: Sequence[Line],
    y_label: str,
    *,
    limits: tuple[float, float] | None = None,
    chosen: int | None = None,
    chosen_count: int | None = None,
    references: Sequence[Reference] = (),
) -> Markup:
    """Draw the lines with whiskers; the chosen method is thick, on top, and has a band."""
    counts = sorted({count for line in lines for count in line.counts})
    if not counts:
        return Markup("")
    shown = [value for reference in references for value in reference.values]
    frame = _frame(lines, counts, limits, shown)
    parts = [_axes(frame, counts, y_label), *_references(references, frame)]
    if chosen_count in counts:
        x = frame.x(chosen_count)
        parts.append(_svg.line(x, TOP, x, HEIGHT - BOTTOM, "guide"))
    for line in sorted(lines, key=lambda line: line.position == chosen):
        is_chosen = line.position == chosen
        parts.append(_series(line, frame, is_chosen, 0.0 if is_chosen else _dodge(line, lines)))
    return _svg.picture(about, WIDTH, HEIGHT, *parts, kind="chart roomy")


def _references(references: Sequence[Reference], frame: _Frame) -> Iterator[Markup]:
    for reference in references:
        ys = [frame.y(value) for value in reference.values]
        ends = [(float(LEFT), ys[0]), (float(WIDTH - RIGHT), ys[0])]
        if len(ys) > 1:
            ends = list(zip(map(frame.x, reference.counts), ys, strict=True))
        yield _svg.tag("polyline", points=_svg.points(ends), class_="reference")
        # A level line has its name at the right, a rising one at its start.
        (x, y), anchor = (ends[0], "start") if len(ys) > 1 else (ends[-1], "end")
        yield _svg.text(x, y - 5, reference.name, "t reference-name", anchor)


def _frame(
    lines: Sequence[Line],
    counts: list[int],
    limits: tuple[float, float] | None,
    more: Sequence[float] = (),
) -> _Frame:
    values = [*more] + [
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
    x = _spread(counts, LEFT + 14, WIDTH - RIGHT - 14)
    return _Frame(x, _svg.linear(ticks[0], ticks[-1], HEIGHT - BOTTOM, TOP), ticks)


def _spread(counts: list[int], start: float, end: float) -> _svg.Scale:
    """Take the linear or logarithmic axis, whichever keeps neighbours further apart."""
    if len(counts) == 1:
        return lambda value: MIDDLE
    scales = [_svg.linear(counts[0], counts[-1], start, end)]
    if counts[0] > 0:
        scales.append(_svg.logarithmic(counts[0], counts[-1], start, end))

    def closest(scale: _svg.Scale) -> float:
        return min(scale(b) - scale(a) for a, b in pairwise(counts))

    return max(scales, key=closest)


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
    parts.append(_svg.text(MIDDLE, HEIGHT - 6, "number of columns", "t label", "middle"))
    parts.append(_svg.text(4, 16, y_label, "t label"))
    return _svg.tag("g", *parts)


def _dodge(line: Line, lines: Sequence[Line]) -> float:
    """Whiskers of several methods stand side by side, at most six pixels from the true count."""
    place = [other.position for other in lines].index(line.position)
    step = min(12 / max(len(lines) - 1, 1), 2.0)
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


def rank_chart(
    about: About,
    rows: Sequence[Row],
    groups: Sequence[Sequence[int]],
    critical_difference: float | None,
    chosen: int | None = None,
) -> Markup:
    """Draw a dot per row, in their order; a bar at the right marks the positions of a group."""
    right = WIDTH - 24 - GROUP_STEP * max(len(groups), 1)
    top = 26 if critical_difference is None else 60
    furthest = max([rank for *_, rank in rows] + [1 + (critical_difference or 0.0)])
    ticks = [1.0, *(tick for tick in _svg.round_ticks(1.0, furthest, 6) if tick > 1)]
    x = _svg.linear(1.0, max(ticks[-1], furthest, 2.0), NAMES + 12, right - 14)
    bottom = top + ROW * len(rows)
    parts = [_svg.text(NAMES + 12, bottom + 24, "mean rank, 1 is best", "t label")]
    parts += _upright_grid(ticks, x, top, bottom)
    if critical_difference is not None:
        parts.append(_ruler(x(1.0), x(1.0 + critical_difference), critical_difference))
    where = {}
    for place, (position, name, rank) in enumerate(rows):
        where[position] = top + ROW * (place + 0.5)
        parts += _dot_row(position, name, x(rank), where[position], position == chosen)
    parts += _bars(groups, where, right)
    return _named_rows(about, rows, bottom + 30, parts)


def _upright_grid(
    ticks: Sequence[float], x: _svg.Scale, top: float, bottom: float
) -> Iterator[Markup]:
    """Draw a line per tick, with its number above."""
    for tick in ticks:
        yield _svg.line(x(tick), top - 6, x(tick), bottom)
        yield _svg.text(x(tick), top - 12, f"{tick:g}", "t", "middle")


def _dot_row(position: int, name: str, x: float, y: float, is_chosen: bool) -> list[Markup]:
    """Write the name of a method, and draw its mark at the end of a line to `x`."""
    class_ = f"series {_svg.series_class(position)}"
    stem = _svg.line(NAMES + 12, y, x, y, "stem")
    return [
        _svg.text(NAMES - 6, y + 4, name, "t strong" if is_chosen else "t", "end"),
        _svg.tag("g", stem, _svg.marker(position, x, y, 4.6), class_=class_),
    ]


def _named_rows(about: About, rows: Sequence[Row], height: float, parts: list[Markup]) -> Markup:
    is_roomy = _svg.LARGE_LETTER * max(len(name) for _, name, _ in rows) < NAMES
    kind = "chart roomy" if is_roomy else "chart"
    return _svg.picture(about, WIDTH, height, *parts, kind=kind)


def _ruler(start: float, end: float, difference: float) -> Markup:
    return _svg.tag(
        "g",
        _svg.text(start, 16, f"critical difference {difference:.2f}"),
        _svg.line(start, 26, end, 26, "ruler"),
        _svg.line(start, 22, start, 30, "ruler"),
        _svg.line(end, 22, end, 30, "ruler"),
    )


def _bars(groups: Sequence[Sequence[int]], where: dict[int, float], right: float) -> list[Markup]:
    parts = []
    for place, group in enumerate(groups):
        ys = [where[position] for position in group if position in where]
        if len(ys) > 1:
            x = right + GROUP_STEP * (place + 0.5)
            parts.append(_svg.line(x, min(ys), x, max(ys), "group"))
            # A group need not hold every method between its first and its last.
            parts += [_svg.tag("circle", cx=float(x), cy=y, r=3.5, class_="member") for y in ys]
    return parts


def time_chart(about: About, rows: Sequence[Row], chosen: int | None = None) -> Markup:
    """Draw a dot per method on a logarithmic axis."""
    values = [max(seconds, 1e-6) for *_, seconds in rows]
    powers = range(math.floor(math.log10(min(values))), math.ceil(math.log10(max(values))) + 1)
    if len(powers) == 1:
        powers = range(powers[0], powers[0] + 2)
    ticks = [10.0**power for power in powers]
    x = _svg.logarithmic(ticks[0], ticks[-1], NAMES + 12, WIDTH - 86)
    bottom = 46 + ROW * len(rows)
    parts = [_svg.text(NAMES + 12, 16, "seconds of selection on one split", "t label")]
    parts += _upright_grid(ticks, x, 44, bottom)
    for place, ((position, name, seconds), value) in enumerate(zip(rows, values, strict=True)):
        y, is_chosen = 44 + ROW * (place + 0.5), position == chosen
        parts += _dot_row(position, name, x(value), y, is_chosen)
        words = "t strong" if is_chosen else "t"
        parts.append(_svg.text(x(value) + 12, y + 4, _words.seconds(seconds), words))
    return _named_rows(about, rows, bottom + 8, parts)


def share_bar(share: float | None, low: float | None = None, high: float | None = None) -> Markup:
    """Draw a share between 0 and 1 as a bar, its interval as a thin line."""
    if share is None:
        return Markup("")
    parts = [
        _svg.tag("rect", x=0, y=3, width=60, height=6, rx=3, class_="rail"),
        _svg.tag("rect", x=0, y=3, width=60.0 * min(max(share, 0.0), 1.0), height=6, rx=3),
    ]
    if low is not None and high is not None:
        parts.append(_svg.line(60 * low, 6, 60 * high, 6, "range"))
    return _svg.tag("svg", *parts, class_="bar", viewBox="0 0 60 12", aria_hidden="true")


def frequency_chart(
    about: About,
    columns: Sequence[str],
    methods: Sequence[str],
    shares: Sequence[Sequence[float | None]],
    chosen: int | None = None,
) -> Markup:
    """Draw a cell per column and method, darker for more often, with the percentage in it."""

    def look(share: float) -> Look:
        label = f"{100 * share:.0f}" if share >= 0.005 else ""
        return "cell", 0.06 + 0.9 * min(max(share, 0.0), 1.0), _words.percent(share), label

    return _grid(about, columns, methods, (42.0, 23.0), shares, look, chosen)


def correlation_chart(
    about: About, columns: Sequence[str], values: Sequence[Sequence[float | None]]
) -> Markup:
    """Draw a cell per pair of columns: one hue for positive, one for negative."""

    def look(value: float) -> Look:
        class_ = "cell" if value >= 0 else "cell minus"
        return class_, min(abs(value), 1.0), _words.number(value, 2), ""

    return _grid(about, columns, columns, (21.0, 20.0), values, look)


def _grid(
    about: About,
    rows: Sequence[str],
    columns: Sequence[str],
    cell: tuple[float, float],
    values: Sequence[Sequence[float | None]],
    look: Callable[[float], Look],
    strong: int | None = None,
) -> Markup:
    """Draw a cell per value, with names of rows at the left, names of columns slanted above."""
    cell_width, cell_height = cell
    left = min(14 + LETTER * max(map(len, rows), default=1), 340)
    # Names above lean at 45 degrees: as much room above as to the right of the last.
    slant = 0.72 * LETTER * max(map(len, columns), default=1)
    top = 16 + slant
    ys = [top + row * cell_height for row in range(len(rows))]
    xs = [left + column * cell_width for column in range(len(columns))]
    names = [
        _svg.text(left - 8, y + cell_height / 2 + 4, name, "t", "end")
        for y, name in zip(ys, rows, strict=True)
    ]
    for column, name in enumerate(columns):
        x, y = xs[column] + cell_width / 2 + 3, top - 7
        class_ = "t strong" if column == strong else "t"
        turn = f"rotate(-45 {x:.2f} {y:.2f})"
        names.append(_svg.tag("text", name, x=x, y=y, class_=class_, transform=turn))
    cells: list[Markup] = []
    for y, row, line in zip(ys, rows, values, strict=True):
        for x, column_name, value in zip(xs, columns, line, strict=True):
            box = {"x": x, "y": y, "width": cell_width - 1.5, "height": cell_height - 1.5}
            cells += _cell(box, value, look, f"{row}, {column_name}")
    width, height = left + len(columns) * cell_width + slant + 12, top + len(rows) * cell_height + 6
    parts = _svg.tag("g", *names), _svg.tag("g", *cells, class_="cells")
    return _svg.picture(about, width, height, *parts, kind="chart fixed")


def _cell(
    box: dict[str, float], value: float | None, look: Callable[[float], Look], name: str
) -> list[Markup]:
    if value is None:
        return [_svg.tag("rect", **box, class_="none")]
    class_, opacity, words, label = look(value)
    title = _svg.tag("title", f"{name}: {words}")
    drawn = [_svg.tag("rect", title, **box, class_=class_, fill_opacity=round(opacity, 2))]
    if label:
        over = "v over" if opacity > 0.55 else "v"
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2 + 3.8
        drawn.append(_svg.text(x, y, label, over, "middle"))
    return drawn
