"""The leak alarm: an evaluation must find nothing where there is nothing to find."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._validation import Number, check_value
from tamis.data.target import Target
from tamis.evaluation._suspects import Suspect, look_at_columns, row_codes, shared_rows
from tamis.evaluation.learners import make_learner
from tamis.evaluation.metrics import Metric
from tamis.evaluation.protocols import Protocol, as_protocol
from tamis.evaluation.run.units import Unit, run_unit
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

    The targets are shuffled, so that nothing can be learned from the columns, and the whole
    protocol is run: a score above chance then means that something scored has been learned from.
    Besides, the table is searched for rows that are learned from and scored at once, columns that
    are the target in disguise, and columns that number the rows.

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

    Returns
    -------
    report : LeakReport
        Print it, or ask for ``report.ok``.

    Notes
    -----
    It cannot see what was done to `X` before: columns chosen, or values imputed, with the targets
    of all rows. Chance is exceeded when the lower end of the 99% interval lies above it, so one
    clean check in 200 gives the alarm. Scores below chance are no leak: leaving rows out tilts the
    rest the other way, most of all with one row at a time.

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
    for name, value in (("n_features", n_features), ("n_shuffles", n_shuffles)):
        least = 2 if name == "n_shuffles" else 1
        check_value(value, Number(int, least), who="leak_check", name=name)
    table = Suspect.of(X)
    outcome = Target.of(y, task, None, table.X.shape[0], "leak_check")
    classes = outcome.is_classes
    target: NDArray[Any] = outcome.codes if classes else outcome.values  # type: ignore[assignment]
    plan = as_protocol(protocol, groups)
    splits = plan.splits(table.X, target, classes)
    findings, notes = _about_table(table, target, classes)
    findings += _about_rows(table, groups, splits)
    trial = _Trial(selector, table.X, plan, learner, n_features, classes)
    rng = np.random.default_rng(random_state)
    found = [trial.run(shuffled(target, groups, rng), i) for i in range(n_shuffles)]
    report = _judge(np.array(found), trial.metric)
    findings = [*report.findings, *findings]
    return replace(report, ok=not findings, findings=findings, notes=notes)


class _Trial:
    """The protocol on one shuffled target, by the unit of work of every comparison."""

    def __init__(
        self, selector: Any, X: Any, plan: Protocol, learner: Any, n_features: int, classes: bool
    ) -> None:
        self.task = "classification" if classes else "regression"
        self.metric = "accuracy" if classes else "r2"
        self.selector, self.X, self.plan, self.n_features = selector, X, plan, n_features
        self.learner = make_learner(learner, self.task)

    def run(self, y: NDArray[Any], seed: int) -> tuple[float, float]:
        """Score over all rows tested, and what guesses would give."""
        told: list[NDArray[Any]] = []
        true: list[NDArray[Any]] = []

        def listen(model: Any, rows: Any, target: Any) -> float:
            told.append(np.asarray(model.predict(rows)))
            true.append(target)
            return 0.0

        for split in self.plan.splits(self.X, y, self.task == "classification"):
            self._run(
                Unit(
                    method="selector",
                    selector=self.selector,
                    data="table",
                    X=self.X,
                    y=y,
                    task=self.task,
                    split=split,
                    counts=(self.n_features,),
                    learners=(self.learner,),
                    metrics=(Metric("listen", listen, True),),
                    seed=seed,
                )
            )
        return self._score(np.concatenate(told), np.concatenate(true))

    def _run(self, unit: Unit) -> None:
        result = run_unit(unit)
        problem = result.error or next((row["note"] for row in result.scores if row["note"]), None)
        if problem is not None:
            reason = problem.strip().splitlines()[-1]
            raise InputError(
                "leak_check: expected a selector and an estimator that can be fitted, got this "
                f"from {unit.split.name!r}: {reason}"
            )

    def _score(self, told: NDArray[Any], true: NDArray[Any]) -> tuple[float, float]:
        if self.task == "regression":
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


def _judge(found: NDArray[np.float64], metric: str) -> LeakReport:
    """Set the scores of the shuffled targets beside chance."""
    from scipy.stats import t

    scores, guesses = found.T
    excess = scores - guesses
    width = t.ppf(0.5 + LEVEL / 2, scores.size - 1) * excess.std(ddof=1) / np.sqrt(scores.size)
    mean, chance = float(scores.mean()), float(guesses.mean())
    interval = (mean - float(width), mean + float(width))
    numbers = (
        f"{metric} {mean:.3f} on shuffled targets ({LEVEL:.0%} interval {interval[0]:.3f} to "
        f"{interval[1]:.3f}), where guesses give {chance:.3f}"
    )
    # Rounding errors of a mean of equal numbers are no excess.
    above = interval[0] > chance + 1e-9
    below = interval[1] < chance - 1e-9
    verdict = f"At chance: {numbers}."
    if above:
        verdict = f"Above chance: {numbers}; something that is scored has been learned from."
    elif below:
        verdict = f"Not above chance: {numbers}."
    return LeakReport(
        not above, [verdict] if above else [], [], verdict, metric, scores, mean, interval, chance
    )


def _about_table(table: Suspect, y: NDArray[Any], classes: bool) -> tuple[list[str], list[str]]:
    facts = look_at_columns(table, y, classes)
    findings, notes = [], []
    if facts.like_target:
        findings.append(
            f"{_named(facts.like_target, 'is', 'are')} the target, or a recoding of it."
        )
    if facts.identifiers:
        findings.append(
            f"{_named(facts.identifiers, 'numbers', 'number')} the rows: leave such columns out."
        )
    if facts.constant:
        notes.append(f"{_named(facts.constant, 'never varies', 'never vary')}.")
    if facts.repeated:
        notes.append(f"{_named(facts.repeated, 'repeats another', 'repeat others')}.")
    if table.texts:
        notes.append(
            f"{_named(list(table.texts), 'is text and was', 'are text and were')} not used."
        )
    return findings, notes


def _about_rows(table: Suspect, groups: Any, splits: list[Any]) -> list[str]:
    findings = []
    n = table.X.shape[0]
    same = shared_rows(row_codes(table), splits)
    if same:
        findings.append(
            f"{same} of {n} rows are scored by models that learned from an identical row: drop "
            "repeated rows, or keep them together with GroupFolds."
        )
    if groups is not None:
        codes = np.unique(np.asarray(groups).astype(str), return_inverse=True)[1]
        together = shared_rows(codes, splits)
        if together:
            findings.append(
                f"{together} of {n} rows are scored by models that learned from their group: use "
                "GroupFolds."
            )
    return findings


def _named(names: list[str], one: str, many: str) -> str:
    shown = ", ".join(repr(name[:60]) for name in names[:_SHOWN])
    if len(names) == 1:
        return f"Column {shown} {one}"
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"Columns {shown}{more} {many}"
