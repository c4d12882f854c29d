"""Where a ranking goes: a file, or a table on a terminal."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from tamis.cli.console import Misuse, as_csv, as_json, printable, remember_written
from tamis.cli.rank import columns_of
from tamis.data import RawTable, atomic_path, check_writable, table_format, write_table
from tamis.data.writing import open_text_output
from tamis.exceptions import InputError, MissingDependencyError

DEFAULT_ROWS = 20
WIDEST = 100
BAR_WIDTH = 24
SMALLEST_WIDTH_FOR_BARS = 60
BLOCKS = " ▏▎▍▌▋▊▉█"


def ranking_format(path: Path) -> str:
    """Tell the format of a ranking from its name; an unknown one is a usage error."""
    if path.suffix.lower() == ".json":
        return "json"
    with suppress(InputError):
        if (kind := table_format(path)) != "npz":
            return kind
    formats = ".csv, .tsv, .json, .parquet or .feather"
    raise Misuse(f"--out must end in {formats}, got {str(path)!r}")


def check_ranking_output(path: Path, data: Path, force: bool) -> None:
    """Make sure, before the long work, that the ranking can be written, and not over the data."""
    ranking_format(path)
    if path.exists() and data.exists() and path.samefile(data):
        raise Misuse(f"--out must not be the table itself, got {str(path)!r}")
    check_writable(path, force)


def write_ranking(summary: dict[str, Any], path: Path, force: bool = False) -> None:
    """Write the ranking to a file, whole or not at all."""
    kind = ranking_format(path)
    rows, columns = summary["features"], columns_of(summary)
    if kind in ("parquet", "feather"):
        import pyarrow as pa

        table = pa.table({name: [row[name] for row in rows] for name in columns})
        write_table(RawTable.from_arrow(table), path, force=force)
    else:
        delimiter = "," if kind == "csv" else "\t"
        text = as_json(summary) if kind == "json" else as_csv(rows, columns, delimiter)
        with atomic_path(path, force) as temporary, open_text_output(temporary) as stream:
            stream.write(text)
    remember_written(path)


def make_console() -> Any:
    """Make a console that prints text as it is: no markup, no emoji codes, no wrapping."""
    try:
        from rich.console import Console
    except ImportError as error:
        raise MissingDependencyError(
            "showing a table needs the package rich, which is not installed; "
            "run: pip install 'tamis[cli]'"
        ) from error
    if hasattr(sys.stdout, "reconfigure"):  # a name may not exist in the terminal's alphabet
        sys.stdout.reconfigure(errors="backslashreplace")
    return Console(highlight=False, markup=False, emoji=False, soft_wrap=True)


def show_ranking(summary: dict[str, Any], top: int | None = None, console: Any = None) -> None:
    """Print the best columns, 20 if `top` is None, with a bar per score and the cut."""
    console = console or make_console()
    rows = summary["features"]
    shown = rows[: top or DEFAULT_ROWS]
    tested = columns_of(summary)[-1]  # the last one is what the rule decides by
    evidence = tested if tested.endswith("_value") else ""
    layout = Layout(rows, shown, min(console.width, WIDEST), console.options.ascii_only, evidence)
    cut = layout.rule(cut_sentence(summary))
    n_leading = next((i for i, row in enumerate(rows) if not row["selected"]), len(rows))
    console.print(layout.heading(), style="bold")
    for row in shown:
        console.print(layout.row(row), style=None if row["selected"] else "dim")
        if row["rank"] == n_leading:
            console.print(cut, style="cyan")
    if rest := rows[len(shown) :]:
        console.print(layout.ending(rest), style="dim")
    if not 0 < n_leading <= len(shown):
        console.print(cut, style="cyan")


def cut_sentence(summary: dict[str, Any]) -> str:
    """Say how many columns were selected and by which rule."""
    cut, details = summary["cut"], summary["cut"]["details"]
    if cut["rule"] == "Elbow":
        other = "late" if cut["which"] == "early" else "early"
        both = details["early"] == details["late"]
        why = "the elbow" if both else f"{cut['which']} elbow ({other}: {details[other]:,})"
    elif cut["rule"] == "TopK":
        why = f"the best {cut['k']:,}"
    elif cut["rule"] == "Fraction":
        why = "all" if cut["f"] == 1 else f"the best {cut['f']:.3%}".replace(".000%", "%")
    elif cut["rule"] == "BestCount":
        why = "the number that the method found best"
    elif cut["rule"] == "BeyondChance":
        why = _beyond_chance(details)
    elif "level" in details:
        why = f"{cut['rule']} at level {details['level']:g}"
    else:
        why = cut["rule"]
    kept = f", {len(cut['keep']):,} kept by name" if cut["keep"] else ""
    return f"{summary['n_selected']:,} of {summary['n_columns']:,} selected: {why}{kept}"


def _beyond_chance(details: dict[str, Any]) -> str:
    if details["tested"] == "nothing":
        return "not tested against chance"
    beyond = f"beyond chance at a false discovery rate of {details['level']:.0%}"
    if details["tested"] == "scores":
        return beyond
    return f"{beyond}, by {details['tested']}"


class Layout:
    """Widths and number format of one table; all rows set the scale, those shown the widths."""

    def __init__(
        self, rows: list[Any], shown: list[Any], width: int, ascii_only: bool, evidence: str = ""
    ):
        from rich.cells import cell_len

        self.ascii_only, self.evidence = ascii_only, evidence
        self.tick, self.dash, self.dots = ("*", "-", "...") if ascii_only else ("✓", "─", "…")
        scores = [row["score"] for row in rows]
        self.low, self.high = min(0.0, min(scores)), max(scores)
        largest = max(abs(self.low), abs(self.high))
        self.form = ".4f" if 0.001 <= largest < 100_000 or largest == 0 else ".3e"
        self.rank_width = max(4, len(f"{len(shown):,}"))
        self.score_width = max(6, *(len(f"{row['score']:{self.form}}") for row in shown))
        self.bar_width = BAR_WIDTH if width >= SMALLEST_WIDTH_FOR_BARS else 0
        self.evidence_width = 10 if evidence else 0
        fixed = self.rank_width + self.score_width + self.evidence_width + self.bar_width + 8
        longest = max(len("feature"), *(cell_len(printable(row["feature"])) for row in shown))
        self.name_width = min(longest, max(8, width - fixed))
        self.width = min(width, fixed + self.name_width)

    def heading(self) -> str:
        """Names of what stands below."""
        return self.line("rank", " ", "feature", "score", self.evidence.replace("_", "-"))

    def line(
        self, rank: str, mark: str, name: str, score: str, evidence: str, bar: str = ""
    ) -> str:
        """Put the cells of a row under those of the others."""
        left = f"{rank:>{self.rank_width}} {mark} {fit(name, self.name_width, self.dots)}"
        score = f"{score:>{self.score_width}}{evidence:>{self.evidence_width}}"
        return f"{left}  {score}  {bar}".rstrip()

    def row(self, row: dict[str, Any]) -> str:
        """Write one column of the data."""
        mark = self.tick if row["selected"] else " "
        score, name = row["score"], printable(row["feature"])
        evidence = f"{row[self.evidence]:.3g}" if self.evidence else ""
        form = f"{score:{self.form}}"
        return self.line(f"{row['rank']:,}", mark, name, form, evidence, self._bar(score))

    def _bar(self, score: float) -> str:
        span = self.high - self.low
        eighths = round((score - self.low) / span * self.bar_width * 8) if span > 0 else 0
        if self.ascii_only:
            return "#" * (eighths // 8)
        return "█" * (eighths // 8) + BLOCKS[eighths % 8].strip()

    def rule(self, text: str) -> str:
        """Draw a line across the table with words in it."""
        start = f"{self.dash * (self.rank_width - 1)} {text} "
        return start + self.dash * max(3, self.width - len(start))

    def ending(self, rest: list[Any]) -> str:
        """Say how many columns are not shown."""
        chosen = sum(row["selected"] for row in rest)
        more = f", {chosen:,} of them selected" if chosen else ""
        return f"{self.dots:>{self.rank_width}}   {len(rest):,} more{more}"


def fit(text: str, width: int, dots: str = "…") -> str:
    """Cut a text with dots or pad it to exactly `width` cells; some letters take two."""
    from rich.cells import cell_len, set_cell_size

    if cell_len(text) > width:
        text = set_cell_size(text, width - len(dots)).rstrip() + dots
    return set_cell_size(text, width)
