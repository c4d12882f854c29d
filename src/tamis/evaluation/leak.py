"""The leak alarm: an evaluation must find nothing where there is nothing to find."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from tamis._validation import Number, check_value
from tamis.data.target import Target
from tamis.evaluation.learners import make_learner
from tamis.evaluation.metrics import Metric
from tamis.evaluation.protocols import Protocol, Split, as_protocol
from tamis.evaluation.run.units import Unit, run_unit
from tamis.evaluation.suspects import (
    Suspect,
    look_at_columns,
    near_codes,
    row_codes,
    shared_rows,
)
from tamis.exceptions import InputError

__all__ = ["LeakReport", "leak_check"]

LEVEL = 0.99
_SHOWN = 5


@dataclass(frozen=True)
class LeakReport:
    """What `leak_check` found.

    Parameters
    ----------
    ok : bool
        Whether there is no finding.
    findings : list of str
        What makes scores too good, one sentence each.
    notes : list of str
        What is worth knowing and harms no score.
    verdict : str
        The result of the shuffled targets in one sentence.
    metric : str
        ``"accuracy"`` or ``"r2"``.
    scores : ndarray of shape (n_shuffles,)
        Score over all rows tested, one for each shuffled target.
    mean : float
        Their mean.
    interval : tuple of float
        Where the mean of many more would lie, with 99% confidence.
    chance : float
        What guesses give: 0 for R2; for the accuracy, how often a guess is right that takes every
        class as often as the models did.

    Examples
    --------
    >>> from tamis.evaluation import LeakReport
    >>> list(LeakReport.__dataclass_fields__)[:4]
    ['ok', 'findings', 'notes', 'verdict']
    """

    ok: bool
    findings: list[str]
    notes: list[str]
    verdict: str
    metric: str
    scores: NDArray[np.float64]
    mean: float
    interval: tuple[float, float]
    chance: float

    def __str__(self) -> str:
        head = "No leak found." if self.ok else f"Leaks: {len(self.findings)} found."
        lines = [head, self.verdict]
        lines += [f"- {finding}" for finding in self.findings if finding != self.verdict]
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join(lines)


def leak_check(
    selector: Any,
    X: Any,
    y: Any,
    *,
    protocol: Any = "folds",
    learner: Any = "svm",
    n_features: int = 10,
    n_shuffles: int = 10,
    random_state: int = 0,
    groups: Any = None,
    task: str = "auto",
) -> LeakReport:
    """Look for leaks: whatever lets a score profit from rows that are scored.

    The protocol is run on shuffled targets: a score above chance then means that something scored
    has been learned from. Besides, the table is searched for rows that are learned from and scored
    at once or differ by a little noise, columns that are the target in disguise, also with a little
    noise, and columns that number the rows.

    Parameters
    ----------
    selector : selector
        Not fitted.
    X : table of shape (n_samples, n_features)
        As for the selector. Columns of text in a data frame are looked at, but not selected.
    y : array-like of shape (n_samples,)
        The target.
    protocol : str, int, splitter or Protocol, default="folds"
        See :func:`tamis.evaluation.protocols.as_protocol`.
    learner : str or scikit-learn estimator, default="svm"
        See :func:`tamis.evaluation.learners.make_learner`.
    n_features : int, default=10
        Number of columns to select.
    n_shuffles : int, default=10
        How often the targets are shuffled.
    random_state : int, default=0
        Seed.
    groups : array-like of shape (n_samples,) or None
        The group of every row. Groups must not be on both sides of a split; if all rows of each
        group have one target, whole groups exchange theirs.
    task : {"auto", "classification", "regression"}, default="auto"
        What the target is; ``"auto"`` infers it (:func:`tamis.data.infer_task`).

    Notes
    -----
    It cannot see what was done to `X` before: columns chosen, or values imputed, with the targets
    of all rows. Chance is exceeded when the lower end of the 99% interval lies above it, so one
    clean check in 200 gives the alarm. Scores below chance are no leak: leaving rows out tilts the
    rest the other way.

    Examples
    --------
    >>> import numpy as np
    >>> import tamis
    >>> from tamis.evaluation import leak_check
    >>> X = np.random.default_rng(0).normal(size=(60, 200))
    >>> y = np.arange(60) % 2
    >>> leak_check(tamis.DFT(), X, y, n_shuffles=5).ok
    True
    >>> X[:, 7] = y
    >>> leak_check(tamis.DFT(), X, y, n_shuffles=5).findings
    ["Column '7' is the target, or a recoding of it."]
    """
    check_value(n_features, Number(int, 1), who="leak_check", name="n_features")
    check_value(n_shuffles, Number(int, 2), who="leak_check", name="n_shuffles")
    table = Suspect.of(X)
    outcome = Target.of(y, task, None, table.X.shape[0], "leak_check")
    classes = outcome.is_classes
    target: NDArray[Any] = outcome.codes if classes else outcome.values  # type: ignore[assignment]
    plan = as_protocol(protocol, groups)
    splits = plan.splits(table.X, target, classes)
    findings, notes = _about_columns(table, target, classes)
    findings += _about_rows(table, groups, splits)
    unit = Unit(
        method="selector",
        selector=selector,
        data="table",
        X=table.X,
        y=target,
        task=outcome.task,
        split=splits[0],
        counts=(n_features,),
        learners=(make_learner(learner, outcome.task),),
        metrics=(),
    )
    rng = np.random.default_rng(random_state)
    trials = [
        _trial(unit._replace(y=shuffled(target, groups, rng), seed=i), plan)
        for i in range(n_shuffles)
    ]
    return _judge(np.array(trials), "accuracy" if classes else "r2", findings, notes)


def _trial(unit: Unit, plan: Protocol) -> tuple[float, float]:
    """Score over all rows tested of one shuffled target, and what guesses would give."""
    told: list[NDArray[Any]] = []
    true: list[NDArray[Any]] = []

    def listen(model: Any, rows: Any, target: Any) -> float:
        told.append(np.asarray(model.predict(rows)))
        true.append(target)
        return 0.0

    unit = unit._replace(metrics=(Metric("listen", listen, True),))
    for split in plan.splits(unit.X, unit.y, unit.task == "classification"):
        result = run_unit(unit._replace(split=split))
        problem = result.error or next((row["note"] for row in result.scores if row["note"]), None)
        if problem is not None:
            raise InputError(
                "leak_check: expected a selector and an estimator that can be fitted, got this "
                f"from {split.name!r}: {problem.strip().splitlines()[-1]}"
            )
    return _score(np.concatenate(told), np.concatenate(true), unit.task)


def _score(told: NDArray[Any], true: NDArray[Any], task: str) -> tuple[float, float]:
    if task == "regression":
        return float(1 - np.sum((true - told) ** 2) / np.sum((true - true.mean()) ** 2)), 0.0
    n_classes = int(max(told.max(), true.max())) + 1
    shares = [np.bincount(codes, minlength=n_classes) / codes.size for codes in (told, true)]
    return float(np.mean(told == true)), float(shares[0] @ shares[1])


def shuffled(y: NDArray[Any], groups: Any, rng: np.random.Generator) -> NDArray[Any]:
    """The target in another order; by whole groups where each has one value."""
    if groups is not None:
        _, first, codes = np.unique(
            np.asarray(groups).astype(str), return_index=True, return_inverse=True
        )
        if codes.size == y.size and (y == y[first][codes]).all():
            return y[first][rng.permutation(first.size)][codes]
    return rng.permutation(y)


def _judge(
    trials: NDArray[np.float64], metric: str, findings: list[str], notes: list[str]
) -> LeakReport:
    """Set the scores of the shuffled targets beside chance."""
    scores, guesses = trials.T
    n, spread = scores.size, (scores - guesses).std(ddof=1)
    width = float(stdtrit(n - 1, 0.5 + LEVEL / 2) * spread / np.sqrt(n))
    mean, chance = float(scores.mean()), float(guesses.mean())
    interval = (mean - width, mean + width)
    numbers = (
        f"{metric} {mean:.3f} on shuffled targets ({LEVEL:.0%} interval {interval[0]:.3f} to "
        f"{interval[1]:.3f}), where guesses give {chance:.3f}"
    )
    verdict = f"At chance: {numbers}."
    # Rounding errors of a mean of equal numbers are no excess.
    if interval[0] > chance + 1e-9:
        verdict = f"Above chance: {numbers}; something that is scored has been learned from."
        findings = [verdict, *findings]
    elif interval[1] < chance - 1e-9:
        verdict = f"Not above chance: {numbers}."
    return LeakReport(
        not findings, findings, notes, verdict, metric, scores, mean, interval, chance
    )


def _about_columns(table: Suspect, y: NDArray[Any], classes: bool) -> tuple[list[str], list[str]]:
    facts = look_at_columns(table, y, classes)
    findings = [
        _named(facts.like_target, "is", "are", " the target, or a recoding of it."),
        _named(facts.near_target, "is", "are", " the target with a little noise."),
        _named(facts.identifiers, "numbers", "number", " the rows: leave such columns out."),
    ]
    notes = [
        _named(facts.constant, "never varies", "never vary", "."),
        _named(facts.repeated, "repeats another", "repeat others", "."),
        _named(list(table.texts), "is text and was", "are text and were", " not used."),
    ]
    return [text for text in findings if text], [text for text in notes if text]


def _named(names: list[str], one: str, many: str, rest: str) -> str:
    shown = ", ".join(repr(name[:60]) for name in names[:_SHOWN])
    if len(names) < 2:
        return f"Column {shown} {one}{rest}" if names else ""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"Columns {shown}{more} {many}{rest}"


def _about_rows(table: Suspect, groups: Any, splits: list[Split]) -> list[str]:
    rest = "an identical row: drop repeated rows, or keep them together with GroupFolds."
    exact, near = row_codes(table), near_codes(table)
    alike = [(exact, rest)]
    if near is not None and not shared_rows(exact, splits):
        noisy = "a row that differs by a little noise: drop such rows, or keep them together with"
        alike.append((near, f"{noisy} GroupFolds."))
    if groups is not None:
        codes = np.unique(np.asarray(groups).astype(str), return_inverse=True)[1]
        alike.append((codes, "their group: use GroupFolds."))
    found = [(shared_rows(codes, splits), rest) for codes, rest in alike]
    scored = f"of {table.X.shape[0]} rows are scored by models that learned from"
    return [f"{n} {scored} {rest}" for n, rest in found if n]
