"""How strongly the chosen columns go together."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from tamis.report import _words
from tamis.report._charts import _svg
from tamis.report._charts._grid import Grid


def correlation_chart(
    key: str,
    columns: Sequence[str],
    values: Sequence[Sequence[float | None]],
    title: str,
    description: str,
) -> Markup:
    """Draw a cell per pair of columns: one hue for positive, one for negative."""
    grid = Grid(columns, columns, (21.0, 20.0))
    cells = grid.cells(
        values,
        lambda value: ("cell" if value >= 0 else "cell minus", min(abs(value), 1.0)),
        lambda row, column, value: f"{columns[row]}, {columns[column]}: {_words.number(value, 2)}",
    )
    return _svg.picture(
        key, grid.width, grid.height, title, description, grid.names(), cells, is_fixed=True
    )
