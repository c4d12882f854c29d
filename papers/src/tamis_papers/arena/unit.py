"""A unit of the arena: one selector on one split of a table, in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tamis.exceptions import InputError

from tamis_papers._apart import work_apart
from tamis_papers.arena.tables import ArenaTable, load_table

# Numbers of columns given to the learner; never more than half of those there are.
COUNTS = (10, 50, 200)
# Columns whose coming again is counted as stability.
TOP = 50
TRAIN_SHARE = 2 / 3
LEARNER = "svm"
GIGABYTES = 8.0


def run_selector(
    data: str, method: str, split: int, most_rows: int, seed: int, limit: float
) -> dict[str, Any]:
    """Score, seconds and best columns of a split; `error` says why there are none."""
    done = work_apart(
        prepare, (data, method, split, most_rows, seed), seconds=limit, gigabytes=GIGABYTES
    )
    if not done.ready and not done.stopped:
        raise InputError(f"arena, {method} on {data}: {done.error}")
    failed = next((item["error"] for item in done.items if item["error"]), "")
    return {
        "splits": [item for item in done.items if not item["error"]],
        "stopped": done.stopped,
        "error": failed or done.error,
        "limit": limit,
    }


def prepare(
    data: str, method: str, split: int, most_rows: int, seed: int
) -> Callable[[], Iterator[dict[str, Any]]]:
    """Load the table and compile the selector; what is returned does the split."""
    table = load_table(data, seed, most_rows)
    _warm_up(method, table.is_classes)
    return lambda: iter([score_split(table, method, split, seed)])


def score_split(table: ArenaTable, method: str, number: int, seed: int) -> dict[str, Any]:
    """Select on the training rows of a split, and score on the others."""
    from tamis.evaluation.protocols import RepeatedSplits

    protocol = RepeatedSplits(number + 1, TRAIN_SHARE, seed)
    *_, split = protocol.splits(table.X, table.y, table.is_classes)
    # Every split a seed of its own, or what is drawn at random would look stable.
    own = np.random.SeedSequence([seed, number]).generate_state(1)[0] // 2
    return _split(table, method, split, int(own))


def _split(table: ArenaTable, method: str, split: Any, seed: int) -> dict[str, Any]:
    from tamis.evaluation import Unit, run_unit
    from tamis.evaluation.learners import make_learner
    from tamis.evaluation.metrics import make_metric

    task = "classification" if table.is_classes else "regression"
    metric = make_metric("balanced_error" if table.is_classes else "r2", task)
    selector = make(method)
    X = _filled(_suited(table.X, selector), split.train)
    result = run_unit(
        Unit(
            method, selector, "", X, table.y, task, split, counts_for(X.shape[1]),
            (make_learner(LEARNER, task),), (metric,), seed,
        )
    )  # fmt: skip
    if result.error is not None:
        return {"error": result.error.strip().splitlines()[-1]}
    values = [row["value"] for row in result.scores]
    # Larger is better: the mean of the accuracies of the classes, or the variance explained.
    score = float(np.mean([1.0 - v for v in values] if table.is_classes else values))
    if not np.isfinite(score):
        return {"error": "the learner failed"}
    top = result.order[: min(TOP, X.shape[1] // 2)].tolist()
    return {
        "score": score,
        "seconds": result.select_seconds,
        "top": top,
        "n_columns": X.shape[1],
        "error": "",
    }


def counts_for(n_columns: int) -> tuple[int, ...]:
    """Numbers of columns to keep, each once."""
    return tuple(sorted({max(1, min(count, n_columns // 2)) for count in COUNTS}))


def make(method: str) -> Any:
    """The selector with its defaults, on one thread."""
    import tamis

    selector = tamis.make_selector(method)
    if "n_jobs" in selector.get_params(deep=False):
        selector.set_params(n_jobs=1)
    return selector


def _suited(X: Any, selector: Any) -> Any:
    """The table as it is, or dense for a selector that takes no other."""
    from scipy import sparse
    from sklearn.utils import get_tags

    if not sparse.issparse(X) or get_tags(selector).input_tags.sparse:
        return X
    return X.toarray()


def _filled(X: Any, train: NDArray[np.intp]) -> Any:
    """Missing cells at the median of the training rows, the same for every selector."""
    from scipy import sparse

    if sparse.issparse(X) or not np.isnan(X).any():
        return X
    known = X[train]
    medians = np.nan_to_num(np.nanmedian(known, axis=0))
    return np.where(np.isnan(X), medians, X)


def _warm_up(method: str, is_classes: bool) -> None:
    """Compile on a small table, so that it is not timed."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 8)) + y[:, None]
    target = y if is_classes else y + rng.normal(size=60)
    with suppress(Exception):  # what fails here will fail on the table, where it is recorded
        make(method).fit(X, target)
