"""Figures of the page: a chart, its caption, its legend, and the numbers behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from tamis.report import _charts as charts
from tamis.report import _svg, _tables, _words
from tamis.report._svg import About
from tamis.report._tables import Cell, PageTable, heads
from tamis.report._words import Record, short_name

MOST_CELLS = 30  # rows of a heat map


class Figure(NamedTuple):
    """What the template shows: heading, sentence, drawing, legend, table."""

    key: str
    title: str
    caption: str
    svg: Markup
    legend: list[Record]
    table: PageTable


class Context(NamedTuple):
    """What the figures of one data set share."""

    key: str
    data: Record
    methods: list[str]
    level: float

    @property
    def chosen(self) -> int | None:
        """Position of the recommended method."""
        answer = self.data["answer"]
        return None if answer is None else self.methods.index(answer["method"])

    @property
    def chosen_count(self) -> int | None:
        """Recommended number of columns."""
        answer = self.data["answer"]
        return None if answer is None else int(answer["count"])

    def count_in(self, rows: list[Record]) -> int:
        """Recommended number of columns, or the largest if these rows do not have it."""
        counts = {row["count"] for row in rows}
        at = self.chosen_count
        return at if at is not None and at in counts else max(counts, default=0)

    def scores(self, learner: str, metric: str) -> list[Record]:
        """Mean scores of an estimator by a metric, with intervals."""
        return self._of("scores", learner, metric)

    def baselines(self, learner: str, metric: str) -> list[Record]:
        """The same of random features, all features and guessing."""
        return self._of("baselines", learner, metric)

    def _of(self, part: str, learner: str, metric: str) -> list[Record]:
        rows = self.data[part]
        return [row for row in rows if row["learner"] == learner and row["metric"] == metric]


def score_figure(
    context: Context, learner: str, metric: str, is_better_high: bool, number: int
) -> Figure | None:
    """Score against number of columns, for one estimator and one metric."""
    rows, beside = context.scores(learner, metric), context.baselines(learner, metric)
    words, estimator = _words.metric_words(metric), _words.learner_words(learner)
    sentence = _words.describe_scores(rows, words, is_better_high)
    caption = (
        f"{sentence} Lines are means over the splits, whiskers and the band "
        f"{_words.percent(context.level)} intervals, dashed lines what a method must beat; "
        f"estimator: {estimator}."
    )
    title = _words.capital(f"{words}, {estimator}") if number else "Score against number of columns"
    chart_title = _words.capital(f"{words} against number of columns")
    about = About(f"{context.key}-score{number}", chart_title, sentence)
    label = f"{words} ({'higher' if is_better_high else 'lower'} is better)"
    return _line_figure(
        context, about, rows, title, caption, words, label, is_better_high, beside=beside
    )


def stability_figure(context: Context) -> Figure | None:
    """Stability against number of columns."""
    rows = context.data["stability"]
    sentence = _words.describe_stability(rows)
    caption = (
        f"How much the columns chosen on disjoint halves of the rows agree, by the Nogueira index: "
        f"1 is always the same columns, 0 what chance gives. {sentence}"
    )
    title, label = "Stability against number of columns", "stability (Nogueira; higher is better)"
    about = About(f"{context.key}-stability", title, sentence)
    return _line_figure(
        context, about, rows, "Stability", caption, "stability", label,
        field="nogueira", limits=(0.0, 1.0), digits=2,
    )  # fmt: skip


def probe_figure(context: Context) -> Figure | None:
    """Share of columns known to mean nothing among the chosen ones."""
    rows = context.data["probes"]
    title, label = "Known probes among the chosen", "share of probes (lower is better)"
    caption = "Mean share of columns known to mean nothing among the chosen columns; 0 is best."
    about = About(f"{context.key}-probes", title, caption)
    return _line_figure(
        context, about, rows, title, caption, "probes", label, False, limits=(0.0, 0.0)
    )


def _line_figure(
    context: Context,
    about: About,
    rows: list[Record],
    title: str,
    caption: str,
    words: str,
    y_label: str,
    is_better_high: bool = True,
    *,
    field: str = "mean",
    limits: tuple[float, float] | None = None,
    digits: int = 3,
    beside: Sequence[Record] = (),
) -> Figure | None:
    """A value against the number of columns, one line per method; the legend is best first."""
    if not rows:
        return None
    lines, at = _lines(context, rows, field), context.chosen_count
    svg = charts.line_chart(
        about, lines, y_label, limits=limits, chosen=context.chosen, chosen_count=at,
        references=_references(beside, lines),
    )  # fmt: skip
    body = [
        [
            _tables.name_cell(row["method"]),
            _tables.count_cell(row["count"]),
            _tables.number_cell(row[field]),
            _tables.interval_cell(row["low"], row["high"]),
            _tables.count_cell(row["n"]),
        ]
        for row in [*rows, *beside]
    ]
    labels = heads("Method", f"Columns|{_words.capital(words)}|Interval|{_repeats(field)}")
    table = PageTable(f"{about.key}-table", f"Numbers of the chart: {words}", labels, body, True)
    legend = _legend(context, rows, field, is_better_high, digits)
    return Figure(about.key, title, caption, svg, legend, table)


def _repeats(field: str) -> str:
    return "Pairs of halves" if field == "nogueira" else "Splits"


def _references(rows: Sequence[Record], lines: list[charts.Line]) -> list[charts.Reference]:
    """Lines of random features, all features and guessing, at the counts of the methods."""
    counts = {count for line in lines for count in line.counts}
    found = []
    for name in dict.fromkeys(row["method"] for row in rows):
        own = [row for row in rows if row["method"] == name and row["mean"] is not None]
        drawn = [row for row in own if row["count"] in counts] if len(own) > 1 else own
        if drawn:
            values = [[row[key] for row in drawn] for key in ("count", "mean")]
            found.append(charts.Reference(name, *values))
    return found


def _lines(context: Context, rows: list[Record], field: str) -> list[charts.Line]:
    lines = []
    for position, method in enumerate(context.methods):
        own = sorted((row for row in rows if row["method"] == method), key=lambda row: row["count"])
        if own:
            fields = ([row[name] for row in own] for name in ("count", field, "low", "high"))
            lines.append(charts.Line(position, *fields))
    return lines


def _legend(
    context: Context, rows: list[Record], field: str, is_better_high: bool, digits: int
) -> list[Record]:
    """Entries sorted from best to worst, by the value at the recommended number of columns."""
    at = context.count_in(rows)
    values = {row["method"]: row[field] for row in rows if row["count"] == at}
    sign = -1 if is_better_high else 1

    def place(method: str) -> tuple[bool, float]:
        value = values.get(method)
        return (value is None, 0.0 if value is None else sign * value)

    shown = {row["method"] for row in rows}
    entries = [(place(method), i, method) for i, method in enumerate(context.methods)]
    return [
        {
            "position": position,
            "name": short_name(method, 26),
            "full": _words.full_name(method),
            "swatch": _svg.swatch(position),
            "value": _words.number(values.get(method), digits),
            "is_chosen": position == context.chosen,
        }
        for _, position, method in sorted(entries)
        if method in shown
    ]


def rank_figure(
    key: str, found: Record | None, methods: list[str], chosen: int | None
) -> Figure | None:
    """Mean ranks of the methods, and groups that do not differ significantly."""
    if found is None or found["reason"] is not None or not found["methods"]:
        return None
    order = sorted(found["methods"], key=lambda row: row["average_rank"])
    rows = [
        (methods.index(row["method"]), short_name(row["method"], 26), row["average_rank"])
        for row in order
    ]
    groups = [
        [methods.index(name) for name in group if name in methods] for group in found["groups"]
    ]
    caption, difference = _words.describe_ranks(found), found["critical_difference"]
    about = About(key, "Mean ranks of the methods", caption)
    svg = charts.rank_chart(about, rows, groups, difference, chosen)
    body = [
        [
            _tables.name_cell(row["method"]),
            _tables.text_cell(_group_letters(row["method"], found["groups"]) or "–"),
            _tables.number_cell(row["average_rank"], 2),
            Cell("–") if row["is_best"] else Cell(_words.p_value(row["p_value"]), row["p_value"]),
        ]
        for row in order
    ]
    table = PageTable(
        f"{key}-table",
        "Mean ranks; methods sharing a letter are not significantly different",
        heads("Method|Group", "Mean rank|p against the best"),
        body,
    )
    return Figure(key, "Ranks across methods", caption, svg, [], table)


def _group_letters(name: str, groups: list[list[str]]) -> str:
    return " ".join(
        chr(ord("A") + place) if place < 26 else str(place + 1)
        for place, group in enumerate(groups)
        if name in group
    )


def frequency_figure(context: Context) -> Figure | None:
    """How often each method chose each column."""
    block = context.data["frequencies"]
    if block is None or not block["columns"]:
        return None
    key, methods = f"{context.key}-frequency", [short_name(m, 26) for m in block["methods"]]
    shown = min(len(block["columns"]), MOST_CELLS)
    names = _words.labels(block, 28)
    caption = (
        f"Percentage of splits in which a method has the column among its best {block['count']:,}. "
        f"Shown are the {_words.counted(shown, 'column')} chosen most often"
    )
    chosen = None
    if context.chosen is not None and context.methods[context.chosen] in block["methods"]:
        chosen = block["methods"].index(context.methods[context.chosen])
        caption += f"; {methods[chosen]} is the recommended method"
    about = About(key, "How often each method chose a column", caption + ".")
    svg = charts.frequency_chart(about, names[:shown], methods, block["shares"][:shown], chosen)
    labels = [*heads("Column", "Index"), *((name, "number") for name in methods)]
    body = [
        [
            _tables.name_cell(name, label),
            _tables.count_cell(index),
            *(Cell(_words.percent(share), share) for share in shares),
        ]
        for name, label, index, shares in zip(
            block["columns"], names, block["indices"], block["shares"], strict=True
        )
    ]
    table = PageTable(
        f"{key}-table",
        f"Selection frequency of {_words.counted(len(body), 'column')} "
        f"of {context.data['n_columns']:,}",
        labels, body, True,
    )  # fmt: skip
    return Figure(key, "Selection frequency", caption + ".", svg, [], table)


def correlation_figure(context: Context) -> Figure | None:
    """How strongly the chosen columns go together."""
    block = context.data["correlation"]
    if block is None or not block["columns"]:
        return None
    key, shown = f"{context.key}-correlation", min(len(block["columns"]), MOST_CELLS)
    names = _words.labels(block, 28)[:shown]
    values = [row[:shown] for row in block["values"][:shown]]
    kind = _words.capital(short_name(block["kind"]))
    caption = f"{kind} correlation of the first {_words.counted(shown, 'chosen column')}."
    pairs = [
        (abs(value), row, column)
        for row, line in enumerate(values)
        for column, value in enumerate(line[:row])
        if value is not None
    ]
    if pairs:
        _, row, column = max(pairs)
        caption += (
            f" Strongest: {names[column]} and {names[row]}, "
            f"{_words.number(values[row][column], 2)}. Blue goes together, orange opposite ways."
        )
    about = About(key, "Correlation of chosen columns", caption)
    svg = charts.correlation_chart(about, names, values)
    labels = heads("Column|Other column", "Correlation")
    body = [
        [
            _tables.name_cell(block["columns"][column], names[column]),
            _tables.name_cell(block["columns"][row], names[row]),
            _tables.number_cell(values[row][column], 2),
        ]
        for _, row, column in sorted(pairs, reverse=True)[:100]
    ]
    table = PageTable(f"{key}-table", "The strongest correlations", labels, body, True)
    return Figure(key, "Correlation of the chosen columns", caption, svg, [], table)


def time_figure(context: Context) -> Figure | None:
    """How long each method takes."""
    rows = [row for row in context.data["times"] if row["select_seconds"] is not None]
    if not rows:
        return None
    rows = sorted(rows, key=lambda row: row["select_seconds"])
    fast, slow, key = rows[0], rows[-1], f"{context.key}-time"
    caption = (
        f"Median time of one selection, without training the estimator: from "
        f"{_words.seconds(fast['select_seconds'])} ({short_name(fast['method'])}) to "
        f"{_words.seconds(slow['select_seconds'])} ({short_name(slow['method'])})."
    )
    drawn = [
        (context.methods.index(row["method"]), short_name(row["method"], 26), row["select_seconds"])
        for row in rows
    ]
    svg = charts.time_chart(About(key, "Time of selection", caption), drawn, context.chosen)
    labels = heads("Method", "Selection|Training|Peak memory")
    body = [
        [
            _tables.name_cell(row["method"]),
            Cell(_words.seconds(row["select_seconds"]), row["select_seconds"]),
            Cell(_words.seconds(row["learn_seconds"]), row["learn_seconds"]),
            Cell(_words.size(row["peak_bytes"]), row["peak_bytes"]),
        ]
        for row in rows
    ]
    table = PageTable(f"{key}-table", "Time and memory of one split", labels, body)
    return Figure(key, "Time", caption, svg, [], table)
