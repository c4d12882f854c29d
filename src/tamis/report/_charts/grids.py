"""Grids of shaded cells: how often columns are chosen, and how they correlate."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from markupsafe import Markup

from tamis.report import _words
from tamis.report._charts import _svg

LETTER = 8.3  # width of a letter in a wide font, for the room that names need


class Grid:
    """Cells of equal size: names of rows at the left, names of columns slanted above."""

    def __init__(
        self, rows: Sequence[str], columns: Sequence[str], cell: tuple[float, float]
    ) -> None:
        self.rows, self.columns = rows, columns
        self.cell_width, self.cell_height = cell
        longest = max((len(name) for name in columns), default=1)
        self.left = min(14 + LETTER * max((len(name) for name in rows), default=1), 340)
        # Names above lean at 45 degrees: as much room above as to the right of the last.
        self.top = 16 + 0.72 * LETTER * longest
        self.width = self.left + len(columns) * self.cell_width + 0.72 * LETTER * longest + 12
        self.height = self.top + len(rows) * self.cell_height + 6

    def names(self, strong_columns: frozenset[int] = frozenset()) -> Markup:
        """Write the names of rows and columns."""
        parts = [
            _svg.text(self.left - 8, self.y(row) + self.cell_height / 2 + 4, name, "t", "end")
            for row, name in enumerate(self.rows)
        ]
        for column, name in enumerate(self.columns):
            x, y = self.x(column) + self.cell_width / 2 + 3, self.top - 7
            parts.append(
                _svg.tag(
                    "text",
                    name,
                    x=x,
                    y=y,
                    class_="t strong" if column in strong_columns else "t",
                    transform=f"rotate(-45 {x:.2f} {y:.2f})",
                )
            )
        return _svg.tag("g", *parts)

    def x(self, column: int) -> float:
        """Left edge of a column."""
        return self.left + column * self.cell_width

    def y(self, row: int) -> float:
        """Upper edge of a row."""
        return self.top + row * self.cell_height

    def cells(
        self,
        values: Sequence[Sequence[float | None]],
        shade: Callable[[float], tuple[str, float]],
        words: Callable[[int, int, float], str],
        write: Callable[[float], str] | None = None,
    ) -> Markup:
        """Draw the cells; `shade` gives class and opacity, `words` the tooltip."""
        parts = []
        for row, line in enumerate(values):
            for column, value in enumerate(line):
                parts.append(self._cell(row, column, value, shade, words, write))
        return _svg.tag("g", *parts, class_="cells")

    def _cell(
        self,
        row: int,
        column: int,
        value: float | None,
        shade: Callable[[float], tuple[str, float]],
        words: Callable[[int, int, float], str],
        write: Callable[[float], str] | None,
    ) -> Markup:
        x, y = self.x(column), self.y(row)
        width, height = self.cell_width - 1.5, self.cell_height - 1.5
        if value is None:
            return _svg.tag("rect", x=x, y=y, width=width, height=height, class_="none")
        class_, opacity = shade(value)
        box = _svg.tag(
            "rect",
            _svg.tag("title", words(row, column, value)),
            x=x, y=y, width=width, height=height, class_=class_,
            fill_opacity=round(opacity, 2),
        )  # fmt: skip
        if write is None or not write(value):
            return box
        over = "v over" if opacity > 0.55 else "v"
        label = _svg.text(x + width / 2, y + height / 2 + 3.8, write(value), over, "middle")
        return box + label


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
