"""Untrusted names made harmless to read, and numbers as people write them."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from typing import Any

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
_BOUNDS = {
    **dict.fromkeys(("accuracy", "auc", "average_precision", "balanced_error"), (0.0, 1.0)),
    "mse": (0.0, math.inf),
    "r2": (-math.inf, 1.0),
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
    return "".join(_spell(character) for character in text)


def _spell(character: str) -> str:
    if character in _JOINERS or unicodedata.category(character) not in _HIDDEN:
        return character
    return f"⟨U+{ord(character):04X}⟩"


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


def possible(
    metric: str | None, low: float | None, high: float | None
) -> tuple[float | None, float | None]:
    """Cut an interval at the values that a metric can take."""
    least, most = _BOUNDS.get(metric or "", (-math.inf, math.inf))
    return (None if low is None else max(low, least), None if high is None else min(high, most))


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
