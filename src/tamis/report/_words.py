"""What the page says: untrusted names made harmless, numbers as people write them, sentences."""

from __future__ import annotations

import unicodedata
from collections import Counter
from typing import Any, NamedTuple

from tamis._runtime.wording import counted as counted

Record = dict[str, Any]  # of a comparison, or a part of it
SHORT = 40
LONG = 240

# Joiners shape letters in several scripts and draw nothing of their own.
_JOINERS = "\u200c\u200d"
_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}

_METRICS = {
    "accuracy": "accuracy",
    "auc": "area under the ROC curve",
    "roc_auc": "area under the ROC curve",
    "average_precision": "average precision",
    "balanced_error": "balanced error",
    "mse": "mean squared error",
    "r2": "R²",
}
_LEARNERS = {
    "svm": "linear SVM",
    "logistic": "logistic regression",
    "rbf_svm": "SVM with RBF kernel",
    "forest": "random forest",
    "knn": "nearest neighbours",
    "boosting": "gradient boosting",
    "ridge": "ridge regression",
}


def visible(text: str) -> str:
    """Spell out characters that hide or turn text around, such as U+202E."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        letter
        if letter in _JOINERS or unicodedata.category(letter) not in _HIDDEN
        else f"⟨U+{ord(letter):04X}⟩"
        for letter in text
    )


def cut(text: str, limit: int = SHORT) -> str:
    """Cut the middle out of a long text; names in a table often differ at their end."""
    if len(text) <= limit:
        return text
    tail = limit // 4
    return text[: limit - tail - 1] + "…" + text[-tail:]


def short_name(text: str, limit: int = SHORT) -> str:
    """Name for the page: harmless and short."""
    short = cut(visible(text[: 4 * LONG]), limit)
    if any(unicodedata.bidirectional(letter) in ("R", "AL", "AN") for letter in short):
        # Its direction stays inside; `visible` left nothing in it that could end this.
        return f"\u2068{short}\u2069"
    return short


def full_name(text: str) -> str:
    """Name for a tooltip: harmless and whole up to a limit."""
    return short_name(text, LONG)


def labels(block: Record, limit: int = SHORT) -> list[str]:
    """Short names of the columns of a block; those that look the same also show their position."""
    names = [short_name(name, limit) for name in block["columns"]]
    often = Counter(names)
    return [
        f"{name} (no. {index})" if often[name] > 1 else name
        for name, index in zip(names, block["indices"], strict=True)
    ]


def metric_words(name: str) -> str:
    """Name a metric in words."""
    return _METRICS.get(name, short_name(name))


def learner_words(name: str) -> str:
    """Name an estimator in words."""
    return _LEARNERS.get(name, short_name(name))


def number(value: float | None, digits: int = 3) -> str:
    """Write a score; a dash if it is not known."""
    if value is None:
        return "–"
    if abs(value) >= 1e5 or 0 < abs(value) < 1e-9 or (digits > 2 and 0 < abs(value) < 1e-3):
        return f"{value:.3g}".replace("-", "−")
    text = f"{value:,.{digits}f}"
    if float(text.replace(",", "")) == 0:  # no minus before a zero
        text = text.lstrip("-")
    return text.replace("-", "−")


def interval(low: float | None, high: float | None, digits: int = 3) -> str:
    """Write an interval; nothing if it is not known."""
    if low is None or high is None:
        return ""
    return f"{number(low, digits)} to {number(high, digits)}"


def capital(text: str) -> str:
    """Begin with a capital; those inside (SVM, ROC) stay."""
    return text[:1].upper() + text[1:]


def percent(value: float | None) -> str:
    """Write a share."""
    return "–" if value is None else f"{100 * value:.0f}%"


def seconds(value: float | None) -> str:
    """Write a duration."""
    if value is None:
        return "–"
    if value < 0.0995:
        return f"{1000 * value:.2g} ms"
    if value < 99.5:
        return f"{value:.2g} s" if value < 9.95 else f"{value:.0f} s"
    if value < 5400:
        return f"{value / 60:.0f} min"
    return f"{value / 3600:.1f} h"


def size(value: float | None) -> str:
    """Write a number of bytes."""
    if value is None:
        return "–"
    if value >= 1e9:
        return f"{value / 1e9:.3g} GB"
    return f"{value / 1e6:.3g} MB" if value >= 1e6 else "< 1 MB"


def p_value(value: float | None) -> str:
    """Write a p-value."""
    if value is None:
        return "not known"
    return "below 0.0001" if value < 1e-4 else f"{value:.2g}"


def listing(words: list[str]) -> str:
    """Join words as a sentence does."""
    if len(words) < 2:
        return "".join(words)
    return ", ".join(words[:-1]) + " and " + words[-1]


class Tile(NamedTuple):
    """One question and its answer: a label, the value, its interval, and a sentence."""

    label: str
    value: str
    aside: str
    sentence: str


def title(record: Record) -> str:
    """Heading of a page on several data sets."""
    methods, data = len(record["methods"]), len(record["data"])
    return f"{counted(methods, 'method')} on {counted(data, 'data set')}"


def headline(data: Record) -> str:
    """Say the answer in one line."""
    answer = data["answer"]
    if answer is None:
        return f"No recommendation for {short_name(data['name'])}"
    if answer["is_better_than_random"] is False:
        return f"Nothing is shown to beat {counted(answer['count'], 'random column')}"
    return f"Keep {answer['count']:,} of {counted(data['n_columns'], 'column')}"


def tiles(data: Record, level: float) -> list[Tile]:
    """Answer the four questions: which method, how many columns, how good, how stable."""
    answer = data["answer"]
    if answer is None:
        return []
    metric = metric_words(answer["metric"])
    return [
        Tile("Method", short_name(answer["method"], 28), "", _method(answer)),
        Tile("Columns", f"{answer['count']:,}", f"of {data['n_columns']:,}", _columns(answer)),
        Tile(
            f"Expected {metric}",
            number(answer["score"]),
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


def _method(answer: Record) -> str:
    rivals = [short_name(name, 28) for name in answer["rivals"]]
    if not rivals:
        return "No other method comes as close to the best score."
    shown = listing(rivals if len(rivals) <= 4 else [*rivals[:3], f"{len(rivals) - 3} more"])
    verb = "comes" if len(rivals) == 1 else "come"
    return f"As close to the best score {verb} {shown}."


def _columns(answer: Record) -> str:
    shares = [share for share in answer["shares"] if share is not None]
    if not shares:
        return "They are listed below, best first."
    often = sum(share >= 0.8 for share in shares)
    verb = "was" if often == 1 else "were"
    return f"{often:,} of them {verb} chosen in at least 80% of the splits."


def _score(answer: Record, metric: str, level: float) -> str:
    text = (
        f"Of {learner_words(answer['learner'])} on new rows, the choice included"
        + ("" if answer["low"] is None else f", with its {percent(level)} interval")
        + "."
    )
    beside = {
        "all columns": answer["all_score"],
        counted(answer["count"], "random column"): answer["random_score"],
        "guessing": answer["guess_score"],
    }
    known = [f"{name} {number(value)}" for name, value in beside.items() if value is not None]
    return f"{text} {capital(listing(known))}." if known else text


def _stability(value: float | None) -> str:
    if value is None:
        return "Not known: that takes two splits or more, and columns left out."
    # The marks are those of Fleiss for agreement beyond chance, as Nogueira et al. suggest.
    which = "nearly the same" if value >= 0.75 else "some other" if value >= 0.4 else "mostly other"
    return (
        f"Expect {which} columns from an independent table of half as many rows. 1 is always the "
        "same, 0 chance."
    )


def describe_scores(rows: list[Record], metric: str, is_better_high: bool) -> str:
    """Say in words what the chart of scores shows."""
    known = [row for row in rows if row["mean"] is not None]
    if not known:
        return "No scores are known."
    best = (max if is_better_high else min)(known, key=lambda row: row["mean"])
    return (
        f"The best mean {metric} is {number(best['mean'])}, by {short_name(best['method'])} with "
        f"{counted(best['count'], 'column')}."
    )


def describe_stability(rows: list[Record]) -> str:
    """Say in words what the chart of stability shows."""
    known = [row for row in rows if row["nogueira"] is not None]
    if not known:
        return "No stability is known."
    worst, best = (
        f"{number(row['nogueira'], 2)} ({short_name(row['method'])}, "
        f"{counted(row['count'], 'column')})"
        for row in (edge(known, key=lambda row: row["nogueira"]) for edge in (min, max))
    )
    return f"Between {worst} and {best}."


def describe_ranks(found: Record) -> str:
    """Say in words what the test of ranks found."""
    over = f"Mean ranks over {found['n_blocks']:,} {short_name(found['over'])}."
    if found["test"] == "t over rows":
        return (
            f"{over} Every method is compared with {short_name(found['best'])}, which has the "
            "best mean score, by a t test paired by row, at the level of the largest difference "
            f"among all pairs ({found['test_level']:g}); the bar at the right marks those that are "
            "not significantly different from it."
        )
    friedman = None if found["friedman"] is None else found["friedman"]["p_value"]
    text = f"{over} Friedman test: p {p_value(friedman)}."
    if found["critical_difference"] is not None:
        return (
            f"{text} Methods whose mean ranks differ by less than the critical difference of "
            f"{found['critical_difference']:.2f} (Nemenyi, level {found['test_level']:g}) are not "
            "significantly different; a bar at the right marks each such group."
        )
    return (
        f"{text} The bar at the right marks methods that are not significantly different from "
        "the best."
    )


def reasons(data: Record) -> list[str]:
    """Why this method and this number of columns."""
    return [] if data["answer"] is None else list(data["answer"]["reasons"])


def notes(record: Record) -> list[str]:
    """What a reader should know first: warnings of the recommendation, failures, what is cut."""
    found = []
    if record["other_versions"]:
        found.append("Parts of the results were computed with other versions of the packages.")
    n_failures = len(record["failures"])
    if n_failures:
        found.append(f"{counted(n_failures, 'failure')}; see the end of the protocol.")
    for part in record["data"]:
        if len(record["data"]) > 1 and (part["answer"] or {}).get("is_better_than_random") is False:
            found.append(f"{part['name'][:60]}: {headline(part)}.")
    return [*found, *record.get("notes", [])]


def protocol(record: Record) -> list[str]:
    """How the numbers came about, in sentences."""
    parts = record["data"]
    texts = [part["protocol"]["description"] for part in parts]
    if len(set(texts)) > 1:
        texts = [f"{part['name'][:60]}: {text}" for part, text in zip(parts, texts, strict=True)]
    learners = [learner_words(name) for part in parts for name in part["learners"]]
    metrics = [metric_words(item["name"]) for part in parts for item in part["metrics"]]
    return [
        *dict.fromkeys(texts),
        "Columns are ranked and every parameter is tuned on the training rows of a split only; "
        "the scores are from its test rows.",
        "One ranking per method and split serves all numbers of columns. Estimators: "
        f"{listing(list(dict.fromkeys(learners)))}. Metrics: "
        f"{listing(list(dict.fromkeys(metrics)))}.",
        f"Intervals hold {percent(record['level'])}: they are those of the score of a model that "
        "is trained on all rows, from what every test row contributes to the score and from how "
        "much the splits differ. They stay within what a metric can reach.",
        "The expected score is corrected for the choice: methods and numbers of columns are chosen "
        "by rows drawn at random, and scored on the others.",
        "Stability is the agreement of columns chosen on disjoint halves of the rows.",
        f"Random state: {record['random_state']}.",
    ]
