"""How long each method takes to select."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

from tamis.report import _words
from tamis.report._charts import _svg

WIDTH, LEFT, RIGHT, TOP, ROW = 700, 218, 86, 44, 26


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
    x = _svg.logarithmic(ticks[0], ticks[-1], LEFT + 12, WIDTH - RIGHT)
    height = TOP + ROW * len(rows) + 10
    parts = [_svg.text(LEFT + 12, 16, "seconds of selection on one split", "t label")]
    parts += _svg.upright_grid(ticks, x, TOP, height - 8)
    for place, ((position, name, seconds), value) in enumerate(zip(rows, values, strict=True)):
        y = TOP + ROW * (place + 0.5)
        words = "t strong" if position == chosen else "t"
        parts += _svg.dot_row(position, name, LEFT, x(value), y, words)
        parts.append(_svg.text(x(value) + 12, y + 4, _words.seconds(seconds), words))
    is_roomy = _svg.LARGE_LETTER * max(len(name) for _, name, _ in rows) < LEFT
    return _svg.picture(key, WIDTH, height, title, description, *parts, is_roomy=is_roomy)
