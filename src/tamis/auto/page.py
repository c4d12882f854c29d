"""The words of an answer: the verdict, and the page that is printed."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

import numpy as np

from tamis.auto.record import Answer, Baseline, FeatureEvidence

WIDTH = 100
LONGEST_NAME = 40
N_NAMED = 5
# Names of metrics in a sentence.
LABELS = {
    "auc": "AUC",
    "r2": "R squared",
    "balanced_accuracy": "balanced accuracy",
    "balanced_error": "balanced error",
    "average_precision": "average precision",
    "mse": "mean squared error",
}
# A difference from the baseline with a p-value above this is no difference.
CLEAR = 0.05
# Smaller p-values are not told apart.
SMALLEST_P = 1e-16


def verdict(answer: Answer) -> str:
    """The answer in one or two sentences."""
    total, level = f"{answer.n_features:,} features", f"{answer.level:g}"
    metric = LABELS.get(answer.metric, answer.metric)
    if not answer.found:
        text = f"Nothing here beats chance at level {level} ({shown_p(answer.p_value)}): "
        if answer.n_related:
            text += f"the evidence for {_some(answer.n_related)} of the {total} is too weak"
        else:
            text += (
                f"none of the {total} is related to the target at a false discovery rate of {level}"
            )
        if np.isfinite(answer.expected_score):
            text += (
                f", and the best {_features(answer.n_best)} found give{'s' * (answer.n_best == 1)} "
                f"{metric} {answer.expected_score:.2f} "
                f"({answer.low:.2f} to {answer.high:.2f}) on new rows{_guessing(answer)}"
            )
        return text + "."
    n = len(answer.features)
    text = f"{n:,} of {total} {'carries' if n == 1 else 'carry'} the signal"
    if not np.isfinite(answer.expected_score):
        return text + "; what they predict on new rows was not measured."
    text += (
        f": expected {metric} {answer.expected_score:.2f} ({answer.low:.2f} to {answer.high:.2f})"
    )
    beside = [
        f"{baseline_name(each, n)} {each.score:.2f}"
        for each in answer.baselines
        if n < answer.n_features or each.name != "random features"  # which would be the same ones
    ]
    text += "; " + ", ".join(beside) + "." if beside else "."
    return " ".join([*_doubts(answer), text])


def shown_p(p_value: float) -> str:
    """A p-value in a sentence."""
    return f"p = {p_value:.2g}" if p_value >= SMALLEST_P else f"p < {SMALLEST_P:g}"


def _some(n: int) -> str:
    return "one" if n == 1 else f"{n:,}"


def _features(n: int) -> str:
    return "feature" if n == 1 else f"{n:,} features"


def _guessing(answer: Answer) -> str:
    guess = answer.baseline("guessing")
    return "" if guess is None else f", where guessing gives {guess.score:.2f}"


def baseline_name(baseline: Baseline, n: int) -> str:
    """Name of a baseline beside `n` selected features."""
    if baseline.name != "random features":
        return baseline.name
    return f"{n:,} random {'feature' if n == 1 else 'features'}"


def _doubts(answer: Answer) -> Iterable[str]:
    random = answer.baseline("random features")
    if len(answer.features) == answer.n_features:
        return
    if random is not None and not (random.gain > 0 and random.p_value <= CLEAR):
        n = len(answer.features)
        yield f"Not significantly better than {baseline_name(random, n)}."


def as_text(answer: Answer, width: int = WIDTH) -> str:
    """The page: verdict, warnings, features, what was done."""
    blocks = [_wrap(answer.verdict, width)]
    blocks += [_wrap(f"Beware: {text}", width) for text in answer.warnings]
    if answer.features:
        blocks.append(_table(answer.features))
        blocks.append(_wrap(legend(answer), width))
    done = [*answer.steps, *left_out(answer), f"It took {took(answer.seconds)}."]
    blocks.append("\n".join(_wrap(f"- {text}", width, "  ") for text in done))
    return "\n\n".join(blocks)


def _wrap(text: str, width: int, indent: str = "") -> str:
    return textwrap.fill(text, width, subsequent_indent=indent, break_on_hyphens=False)


def _table(features: tuple[FeatureEvidence, ...]) -> str:
    rows = [("feature", "selected again", "q-value", "e-value", "effect", "or")]
    for each in features:
        rows.append(
            (
                _short(each.feature),
                frequency(each),
                f"{each.q_value:.2g}",
                "not tested" if each.e_value is None else f"{each.e_value:.3g}",
                each.effect,
                ", ".join(f"{_short(name)} (r = {r:.2f})" for name, r in each.replaceable_by),
            )
        )
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def frequency(each: FeatureEvidence) -> str:
    """How often a feature is selected again, with the interval."""
    if not np.isfinite(each.frequency):
        return "not measured"
    return f"{each.frequency:.0%} ({each.frequency_low:.0%} to {each.frequency_high:.0%})"


def legend(answer: Answer) -> str:
    """What the columns of the table of features mean, and how many more are related."""
    text = (
        "selected again: share of half samples of the rows on which the method selects the feature "
        "again, with its 95% interval. q-value: smallest false discovery rate at which the feature "
        "is found to be related to the target. e-value: evidence that it adds something beyond all "
        "others."
    )
    more = answer.n_related - sum(each.q_value <= answer.level for each in answer.features)
    if more == 1:
        text += (
            " One more feature is related to the target at a false discovery rate of "
            f"{answer.level:g}; it adds little to these."
        )
    elif more > 1:
        text += (
            f" {more:,} more features are related to the target at a false discovery rate of "
            f"{answer.level:g}; they add little to these."
        )
    return text


def left_out(answer: Answer) -> Iterable[str]:
    """A sentence for every reason to leave features out."""
    reasons: dict[str, list[str]] = {}
    for name, reason in answer.left_out:
        reasons.setdefault(reason, []).append(name)
    for reason, names in reasons.items():
        yield f"Left out because {reason}: {named(names)}."


def named(names: list[str]) -> str:
    """Some names, and how many more there are."""
    shown = ", ".join(_short(name) for name in names[:N_NAMED])
    return shown + (f" and {len(names) - N_NAMED:,} more" if len(names) > N_NAMED else "")


def took(seconds: float) -> str:
    """How long it took, in words."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.1f} minutes"


def _short(name: str) -> str:
    text = "".join(each if each.isprintable() else "?" for each in name)
    return text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1] + "…"
