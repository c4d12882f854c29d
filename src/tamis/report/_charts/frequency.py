"""How often each method chose each column."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from tamis.report import _words
from tamis.report._charts import _svg
from tamis.report._charts._grid import Grid


def frequency_chart(
    key: str,
    columns: Sequence[str],
    methods: Sequence[str],
    shares: Sequence[Sequence[float | None]],
    title: str,
    description: str,
    chosen: int | None = None,
) -> Markup:
    """Draw a cell per column and method, darker for more often, with the percentage in it."""
    grid = Grid(columns, methods, (42.0, 23.0))
    strong = frozenset() if chosen is None else frozenset([chosen])
    cells = grid.cells(
        shares,
        lambda share: ("cell", 0.06 + 0.9 * min(max(share, 0.0), 1.0)),
        lambda row, column, share: f"{columns[row]}, {methods[column]}: {_words.percent(share)}",
        lambda share: f"{100 * share:.0f}" if share >= 0.005 else "",
    )
    return _svg.picture(
        key, grid.width, grid.height, title, description, grid.names(strong), cells, is_fixed=True
    )
