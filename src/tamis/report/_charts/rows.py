"""One row per method or column: mean ranks, times, and a small bar beside a number."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

from tamis.report import _words
from tamis.report._charts import _svg

WIDTH, LEFT, ROW = 700, 218, 26  # of the picture, of the names, of a method
GROUP_STEP = 12


def rank_chart(
    key: str,
    rows: Sequence[tuple[int, str, float]],
    groups: Sequence[Sequence[int]],
    critical_difference: float | None,
    title: str,
    description: str,
    chosen: int | None = None,
) -> Markup:
    """Draw a dot per method, best first; a bar at the right marks the methods of a group.

    `rows` are position, name and mean rank, sorted by rank; `groups` hold positions.
    """
    right = WIDTH - 24 - GROUP_STEP * max(len(groups), 1)
    top = 26 if critical_difference is None else 60
    furthest = max([rank for *_, rank in rows] + [1 + (critical_difference or 0.0)])
    ticks = _svg.round_ticks(1.0, furthest, 6)
    ticks = [1.0, *(tick for tick in ticks if tick > 1)]
    x = _svg.linear(1.0, max(ticks[-1], furthest, 2.0), LEFT + 12, right - 14)
    height = top + ROW * len(rows) + 30
    bottom = height - 30
    parts = [_svg.text(LEFT + 12, height - 6, "mean rank, 1 is best", "t label")]
    parts += _svg.upright_grid(ticks, x, top, bottom)
    if critical_difference is not None:
        parts.append(_ruler(x(1.0), x(1.0 + critical_difference), critical_difference))
    where = {}
    for place, (position, name, rank) in enumerate(rows):
        y = top + ROW * (place + 0.5)
        where[position] = y
        words = "t strong" if position == chosen else "t"
        parts += _svg.dot_row(position, name, LEFT, x(rank), y, words)
    parts += _bars(groups, where, right)
    is_roomy = _svg.LARGE_LETTER * max(len(name) for _, name, _ in rows) < LEFT
    return _svg.picture(key, WIDTH, height, title, description, *parts, is_roomy=is_roomy)


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


def time_chart(
    key: str,
    rows: Sequence[tuple[int, str, float]],
    title: str,
    description: str,
    chosen: int | None = None,
) -> Markup:
    """Draw a dot per method on a logarithmic axis; `rows` are position, name and seconds."""
    if not rows:
        return Markup("")
    values = [max(seconds, 1e-6) for *_, seconds in rows]
    powers = range(math.floor(math.log10(min(values))), math.ceil(math.log10(max(values))) + 1)
    if len(powers) == 1:
        powers = range(powers[0], powers[0] + 2)
    ticks = [10.0**power for power in powers]
    x = _svg.logarithmic(ticks[0], ticks[-1], LEFT + 12, WIDTH - 86)
    height = 44 + ROW * len(rows) + 10
    parts = [_svg.text(LEFT + 12, 16, "seconds of selection on one split", "t label")]
    parts += _svg.upright_grid(ticks, x, 44, height - 8)
    for place, ((position, name, seconds), value) in enumerate(zip(rows, values, strict=True)):
        y = 44 + ROW * (place + 0.5)
        words = "t strong" if position == chosen else "t"
        parts += _svg.dot_row(position, name, LEFT, x(value), y, words)
        parts.append(_svg.text(x(value) + 12, y + 4, _words.seconds(seconds), words))
    is_roomy = _svg.LARGE_LETTER * max(len(name) for _, name, _ in rows) < LEFT
    return _svg.picture(key, WIDTH, height, title, description, *parts, is_roomy=is_roomy)


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
