"""The protocol that the Inf-FS and ILFS papers share: random splits, rankings, a linear SVM."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis_papers._run import ExperimentRun
from tamis_papers._scores import Cell, scores_of
from tamis_papers.result import Measurement

COUNTS = (10, 50, 100, 150, 200)
TRAIN_SHARE = 2 / 3
LEVEL = 0.05
OVER_COUNTS = "mean over 10, 50, 100, 150, 200"

# Scores by data, method and metric: a row per split, a column per number of features.
Scores = dict[tuple[str, str, str], NDArray[np.float64]]


def scores_on(
    run: ExperimentRun,
    name: str,
    table: tuple[Any, Any],
    selectors: Mapping[str, Any],
    *,
    n_splits: int,
    metrics: Sequence[str],
    counts: Sequence[int] = COUNTS,
) -> Scores:
    """Scores in percent of selectors on one data set; the same splits for all of them.

    Everything is learned from the training rows, also the scaling of the columns and C of the SVM
    (5 folds). Fewer splits are the first of more.
    """
    from tamis.evaluation.protocols import RepeatedSplits

    found = run.compare(
        dict(selectors),
        {name: table},
        protocol=RepeatedSplits(n_splits, TRAIN_SHARE, random_state=run.seed),
        counts=list(counts),
        learners="svm",
        metrics=list(metrics),
    )
    return _as_tables(scores_of(found))


def scores_by_splits(
    run: ExperimentRun,
    name: str,
    table: tuple[Any, Any],
    selectors: Mapping[str, Any],
    n_splits: Mapping[str, int],
    metrics: Sequence[str],
) -> Scores:
    """Like `scores_on`, where slow selectors get fewer splits; those with none are left out."""
    scores: Scores = {}
    for n in sorted(set(n_splits.values()) - {0}, reverse=True):
        group = {method: one for method, one in selectors.items() if n_splits[method] == n}
        scores |= scores_on(run, name, table, group, n_splits=n, metrics=metrics)
    return {
        (name, method, metric): scores[name, method, metric]
        for metric in metrics
        for method in selectors
        if (name, method, metric) in scores
    }


def _as_tables(cells: Mapping[Cell, Sequence[float]]) -> Scores:
    together: dict[tuple[str, str, str], dict[int, Sequence[float]]] = {}
    for (data, method, count, _, metric), values in cells.items():
        together.setdefault((data, method, metric), {})[count] = values
    return {
        key: 100 * np.array([by_count[count] for count in sorted(by_count)]).T
        for key, by_count in together.items()
    }


def mean_over_counts(
    scores: Scores, metric: str, name: str, notes: Mapping[str, str]
) -> list[Measurement]:
    """The cells of a table that averages over the numbers of features; `name` is the paper's."""
    return [
        Measurement(
            {"data": data, "method": method, "n_features": OVER_COUNTS, "metric": name},
            values.mean(axis=1).tolist(),
            note_on(values, notes.get(data, "")),
        )
        for (data, method, measured), values in scores.items()
        if measured == metric
    ]


def note_on(values: NDArray[np.float64], note: str, usual: int = 20) -> str:
    """A note on a data set, and on the number of splits where it is not the usual one."""
    parts = [note] if note else []
    if values.shape[0] != usual:
        parts.append(splits_in_words(values.shape[0]))
    return "; ".join(parts)


def splits_in_words(n: int) -> str:
    """So many splits."""
    return "1 split" if n == 1 else f"{n} splits"


def splits_by_data(n_splits: Mapping[str, int]) -> str:
    """How many splits every data set has, those with as many together."""
    names: dict[int, list[str]] = {}
    for name, n in n_splits.items():
        names.setdefault(n, []).append(name)
    return "; ".join(f"{splits_in_words(n)} of {', '.join(group)}" for n, group in names.items())


def data_names(scores: Scores) -> list[str]:
    """Data sets, in the order in which they were run."""
    return list(dict.fromkeys(data for data, _, _ in scores))


def means(scores: Scores, data: str, metric: str) -> dict[str, float]:
    """Mean of every method over splits and numbers of features."""
    return {
        method: float(values.mean())
        for (named, method, measured), values in scores.items()
        if named == data and measured == metric
    }


def best_of(values: Mapping[str, float]) -> str:
    """The name of the largest value."""
    return max(values, key=values.__getitem__)


def p_of_difference(
    scores: Scores, data: str, metric: str, one: str, other: str, column: int | None = None
) -> float:
    """Corrected paired t test over the splits that both have; of one count, or of their mean."""
    from tamis.evaluation.significance import paired_t

    a, b = scores[data, one, metric], scores[data, other, metric]
    n = min(a.shape[0], b.shape[0])
    if n < 2:
        return float("nan")
    a, b = (values[:n].mean(axis=1) if column is None else values[:n, column] for values in (a, b))
    return float(paired_t(a, b, test_share=1 - TRAIN_SHARE).p_value)


def p_in_words(p: float) -> str:
    """In brackets; nothing where a single split has none."""
    return "" if np.isnan(p) else f" (p {p:.2g})"


def is_best(
    scores: Scores, metric: str, rivals: Sequence[tuple[str, str, int | None]], ours: str
) -> bool | None:
    """Whether the first method in every place is ours; False if one is clearly better somewhere.

    `rivals` are data, the method with the largest mean, and the number of features or all.
    Without a second split nothing is clear.
    """
    clear = [
        other != ours and p_of_difference(scores, data, metric, other, ours, column) < LEVEL
        for data, other, column in rivals
    ]
    if any(clear):
        return False
    enough = all(scores[data, ours, metric].shape[0] > 1 for data, _, _ in rivals)
    return True if enough and all(other == ours for _, other, _ in rivals) else None
