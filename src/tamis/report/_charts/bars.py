"""A small bar beside a number."""

from __future__ import annotations

from markupsafe import Markup

from tamis.report._charts import _svg


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
