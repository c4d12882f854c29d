"""The answer in plain sentences, one per question."""

from __future__ import annotations

from typing import Any, NamedTuple

from tamis.report import _words
from tamis.report._words import count_of, interval, number, percent, short_name


class Tile(NamedTuple):
    """One question and its answer: a label, the value, its interval, and a sentence."""

    label: str
    value: str
    aside: str
    sentence: str


def headline(data: dict[str, Any]) -> str:
    """Say the answer in one line."""
    answer = data["answer"]
    if answer is None:
        return f"No recommendation for {short_name(data['name'])}"
    return f"Keep {answer['count']:,} of {count_of(data['n_columns'], 'column')}"


def tiles(data: dict[str, Any], level: float) -> list[Tile]:
    """Answer the four questions: which method, how many columns, how good, how stable."""
    answer = data["answer"]
    if answer is None:
        return []
    metric = _words.metric_words(answer["metric"])
    return [
        Tile("Method", short_name(answer["method"], 28), "", _method(answer)),
        Tile(
            "Columns",
            f"{answer['count']:,}",
            f"of {data['n_columns']:,}",
            _columns(answer),
        ),
        Tile(
            f"Expected {metric}",
            number(answer["mean"]),
            interval(answer["low"], answer["high"]),
            _score(answer, metric, level),
        ),
        Tile(
            "Stability",
            number(answer["stability"], 2),
            interval(answer["stability_low"], answer["stability_high"], 2),
            _stability(answer["stability"]),
        ),
    ]


def _method(answer: dict[str, Any]) -> str:
    rivals = [short_name(name, 28) for name in answer["rivals"]]
    if not rivals:
        return "No other method comes as close to the best score."
    shown = _words.listing(rivals if len(rivals) <= 4 else [*rivals[:3], f"{len(rivals) - 3} more"])
    verb = "comes" if len(rivals) == 1 else "come"
    return f"As close to the best score {verb} {shown}."


def _columns(answer: dict[str, Any]) -> str:
    shares = [column["share"] for column in answer["columns"] if column["share"] is not None]
    if not shares:
        return "They are listed below, best first."
    often = sum(share >= 0.8 for share in shares)
    verb = "was" if often == 1 else "were"
    return f"{often:,} of them {verb} chosen in at least 80% of the splits."


def _score(answer: dict[str, Any], metric: str, level: float) -> str:
    learner = _words.learner_words(answer["learner"])
    text = f"Mean {metric} of the learner ({learner}) on rows that selection has not seen"
    if answer["low"] is None or answer["high"] is None:
        return text + "."
    return f"{text}, with its {percent(level)} interval."


def _stability(value: float | None) -> str:
    if value is None:
        return "Not known: that takes two splits or more, and columns left out."
    # The marks are those of Fleiss for agreement beyond chance, as Nogueira et al. suggest.
    if value >= 0.75:
        return "Expect nearly the same columns from another sample. 1 is always the same, 0 chance."
    if value >= 0.4:
        return "Expect some other columns from another sample. 1 is always the same, 0 chance."
    return "Expect mostly other columns from another sample. 1 is always the same, 0 chance."


def describe_scores(rows: list[dict[str, Any]], metric: str, is_better_high: bool) -> str:
    """Say in words what the chart of scores shows."""
    known = [row for row in rows if row["mean"] is not None]
    if not known:
        return "No scores are known."
    best = (max if is_better_high else min)(known, key=lambda row: row["mean"])
    return (
        f"The best mean {metric} is {number(best['mean'])}, by {short_name(best['method'])} with "
        f"{count_of(best['count'], 'column')}."
    )


def describe_stability(rows: list[dict[str, Any]]) -> str:
    """Say in words what the chart of stability shows."""
    known = [row for row in rows if row["value"] is not None]
    if not known:
        return "No stability is known."
    best = max(known, key=lambda row: row["value"])
    worst = min(known, key=lambda row: row["value"])
    return (
        f"Between {number(worst['value'], 2)} ({short_name(worst['method'])}, "
        f"{count_of(worst['count'], 'column')}) and {number(best['value'], 2)} "
        f"({short_name(best['method'])}, {count_of(best['count'], 'column')})."
    )


def describe_ranks(ranks: dict[str, Any]) -> str:
    """Say in words what the test of ranks found."""
    over = f"Mean ranks over {ranks['n_blocks']:,} {short_name(ranks['over'])}."
    if ranks["test"] == "corrected t":
        return (
            f"{over} Every method is compared with {short_name(ranks['best'])}, which has the "
            "best mean score, by the paired t test corrected for overlapping splits, with Holm's "
            f"adjustment at level {ranks['level']:g}; the bar at the right marks those that are "
            "not told from it."
        )
    text = f"{over} Friedman test: p {_words.p_value(ranks['p_value'])}."
    if ranks["critical_difference"] is not None:
        return (
            f"{text} Methods whose mean ranks differ by less than the critical difference of "
            f"{ranks['critical_difference']:.2f} (Nemenyi, level {ranks['level']:g}) are not told "
            "apart; a bar at the right marks each such group."
        )
    return f"{text} The bar at the right marks methods that are not told from the best."
