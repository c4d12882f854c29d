"""Mean ranks of the methods, and which of them a test cannot tell apart."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from tamis.report._charts import _svg

WIDTH, LEFT, RIGHT, BOTTOM, ROW = 700, 218, 24, 30, 26
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
    right = WIDTH - RIGHT - GROUP_STEP * max(len(groups), 1)
    top = 26 if critical_difference is None else 60
    furthest = max([rank for *_, rank in rows] + [1 + (critical_difference or 0.0)])
    ticks = _svg.round_ticks(1.0, furthest, 6)
    ticks = [1.0, *(tick for tick in ticks if tick > 1)]
    x = _svg.linear(1.0, max(ticks[-1], furthest, 2.0), LEFT + 12, right - 14)
    height = top + ROW * len(rows) + BOTTOM
    bottom = height - BOTTOM
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
