"""Elements, scales and ticks: the little of SVG that the charts need."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from markupsafe import Markup, escape

N_COLOURS = 8
N_DASHES = 4
N_MARKERS = 6
# Width of a letter where letters are half as large again, as on a phone.
LARGE_LETTER = 9.6

Scale = Callable[[float], float]


def tag(name: str, *children: str | Markup, **attributes: object) -> Markup:
    """Make an element; text and attribute values are escaped, `class_` is `class`."""
    words = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_plain(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    inside = "".join(escape(child) for child in children)
    return Markup(f"<{name}{words}>{inside}</{name}>")


def _plain(value: object) -> str:
    # Two decimals of a pixel are more than a screen shows, and keep the page small.
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


class About(NamedTuple):
    """Key of a drawing in the page; title and description for those who cannot see it."""

    key: str
    title: str
    description: str


def picture(
    about: About, width: float, height: float, *children: Markup, kind: str = "chart"
) -> Markup:
    """Make the whole drawing.

    It is as wide as the page allows; "chart fixed" has its own width, "chart roomy" room for
    letters half as large again, so that the whole of it can be read on a phone.
    """
    size = {"width": round(width), "height": round(height)} if kind == "chart fixed" else {}
    return tag(
        "svg",
        tag("title", about.title, id=f"{about.key}-title"),
        tag("desc", about.description, id=f"{about.key}-text"),
        *children,
        class_=kind,
        **size,
        role="img",
        viewBox=f"0 0 {_plain(float(width))} {_plain(float(height))}",
        aria_labelledby=f"{about.key}-title {about.key}-text",
    )


def linear(first: float, last: float, start: float, end: float) -> Scale:
    """Map [first, last] to [start, end]."""
    span = (last - first) or 1.0
    return lambda value: start + (end - start) * (value - first) / span


def logarithmic(first: float, last: float, start: float, end: float) -> Scale:
    """Map [first, last] to [start, end] by logarithms."""
    inner = linear(math.log10(first), math.log10(last), start, end)
    return lambda value: inner(math.log10(value))


def round_ticks(low: float, high: float, n_ticks: int = 5) -> list[float]:
    """Round numbers that cover [low, high]: 1, 2 or 5 times a power of ten apart.

    A tenth of a step may stick out at either end, for that costs less room than another step.
    """
    span = high - low
    if not span > 1e-12 * max(abs(low), abs(high), 1e-300):
        pad = abs(low) or 1.0
        low, high, span = low - pad / 2, high + pad / 2, pad
    rough = span / n_ticks
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 0.1), math.ceil(high / step - 0.1)
    return [round(k * step, 12) + 0.0 for k in range(first, last + 1)]


def tick_text(value: float, ticks: Sequence[float]) -> str:
    """Write a tick with as many decimals as tell neighbours apart."""
    step = ticks[1] - ticks[0] if len(ticks) > 1 else 1.0
    digits = max(0, -math.floor(math.log10(abs(step)) + 1e-9)) if step else 0
    if digits > 6 or abs(value) >= 1e7:
        return f"{value:.3g}".replace("-", "−")
    return f"{value:,.{digits}f}".replace("-", "−")


def series_class(position: int) -> str:
    """Classes that give a method its colour and dashes."""
    return f"c{position % N_COLOURS} d{position // 4 % N_DASHES}"


def marker(position: int, x: float, y: float, r: float = 3.6) -> Markup:
    """Draw the mark of a method: circle, square, diamond, triangle, turned triangle, cross."""
    kind = position % N_MARKERS
    if kind == 0:
        return tag("circle", cx=x, cy=y, r=r, class_="m")
    if kind == 1:
        return tag("rect", x=x - 0.9 * r, y=y - 0.9 * r, width=1.8 * r, height=1.8 * r, class_="m")
    corners = {
        2: [(0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)],
        3: [(0, -1.2), (1.15, 0.9), (-1.15, 0.9)],
        4: [(0, 1.2), (1.15, -0.9), (-1.15, -0.9)],
        5: [(-0.4, -1.2), (0.4, -1.2), (0.4, -0.4), (1.2, -0.4), (1.2, 0.4), (0.4, 0.4),
            (0.4, 1.2), (-0.4, 1.2), (-0.4, 0.4), (-1.2, 0.4), (-1.2, -0.4), (-0.4, -0.4)],
    }[kind]  # fmt: skip
    return tag("polygon", points=points((x + r * a, y + r * b) for a, b in corners), class_="m")


def points(pairs: object) -> str:
    """Write corner points."""
    return " ".join(f"{_plain(float(x))},{_plain(float(y))}" for x, y in pairs)  # type: ignore[attr-defined]


def text(x: float, y: float, words: str, class_: str = "t", anchor: str | None = None) -> Markup:
    """Write text; `anchor` is "middle" or "end"."""
    return tag("text", words, x=float(x), y=float(y), class_=class_, text_anchor=anchor)


def line(x1: float, y1: float, x2: float, y2: float, class_: str = "grid") -> Markup:
    """Draw a straight line."""
    return tag("line", x1=float(x1), y1=float(y1), x2=float(x2), y2=float(y2), class_=class_)


def swatch(position: int) -> Markup:
    """Draw the line and mark of a method for a legend."""
    path, mark = tag("path", d="M1 7H27", class_="l"), marker(position, 14.0, 7.0)
    inside = tag("g", path, mark, class_=f"series {series_class(position)}")
    return tag("svg", inside, class_="swatch", viewBox="0 0 28 14", aria_hidden="true")
