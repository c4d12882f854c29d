"""The unit of work: one selector on one table on one split."""

from __future__ import annotations

import time
import traceback
import warnings
from contextlib import suppress
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from threadpoolctl import ThreadpoolController

from tamis._base import BaseSelector
from tamis._runtime.callbacks import report_to
from tamis.evaluation._tuning import Prepared
from tamis.evaluation.intervals import guessing
from tamis.evaluation.learners import Learner
from tamis.evaluation.metrics import METRICS, Metric
from tamis.evaluation.protocols import Split
from tamis.exceptions import InputError

__all__ = ["Unit", "UnitResult", "run_unit"]

_OWN_SCORERS = [metric.scorer for metric, _ in METRICS.values()]


class Unit(NamedTuple):
    """What is to be done: one selector on one data set on one split.

    The selector is cloned. Numbers of features (`counts`) beyond what there is mean all of them; 0
    is a model that guesses. `seed` is used for every `random_state` that is None; `probes` masks
    the features known to be irrelevant; `clusters` numbers the rows that are alike, by default
    each row by itself.

    Examples
    --------
    >>> from tamis.evaluation.run.units import Unit
    >>> Unit._fields[:4]
    ('method', 'selector', 'data', 'X')
    """

    method: str
    selector: Any
    data: str
    X: Any
    y: Any
    task: str
    split: Split
    counts: tuple[int, ...]
    learners: tuple[Learner, ...]
    metrics: tuple[Metric, ...]
    seed: int = 0
    probes: NDArray[np.bool_] | None = None
    clusters: NDArray[np.intp] | None = None


class UnitResult(NamedTuple):
    """What came of a unit.

    Attributes
    ----------
    order : ndarray of int32 of shape (n_features,)
        All features, best first; empty if the selector failed.
    scores : list of dict
        ``count``, ``learner``, ``metric``, ``value``, ``fit_seconds`` and ``note``, the reason why
        a value is NaN, or None.
    select_seconds : float
        Time of the selector.
    peak_bytes : int or None
        Growth of memory while selecting; None where the system does not report it.
    probe_share : dict or None
        For every number of features, the share of known probes among them.
    best_n_features : int or None
        The number of features that the selector found best, if it finds one.
    error : str or None
        Traceback of the selector if it failed.
    warnings : tuple of str
        What the selector and the estimators warned of, each once.
    by_row : ndarray of float32 of shape (n_scores, n_clusters), or None
        For every score, what the test rows contributed (`Metric.by_row`), one number for each
        cluster of them in rising order; their mean is the score. NaN where the metric has none.

    Examples
    --------
    >>> from tamis.evaluation.run.units import UnitResult
    >>> UnitResult._fields[:3]
    ('order', 'scores', 'select_seconds')
    """

    order: NDArray[np.int32]
    scores: list[dict[str, Any]]
    select_seconds: float
    peak_bytes: int | None
    probe_share: dict[int, float] | None
    best_n_features: int | None
    error: str | None
    warnings: tuple[str, ...] = ()
    by_row: NDArray[np.float32] | None = None


def failed_result(error: str, seconds: float = 0.0) -> UnitResult:
    """The result of a unit whose selector failed."""
    return UnitResult(np.zeros(0, dtype=np.int32), [], seconds, None, None, None, error)


def run_unit(unit: Unit) -> UnitResult:
    """Select on the training rows, train on them, score the test rows.

    The selector and the estimators never see a test row. Failures are recorded, not raised: the
    selector's in `error`, an estimator's as NaN with a note.

    Parameters
    ----------
    unit : Unit
        What is to be done.

    Examples
    --------
    >>> import tamis
    >>> from sklearn.datasets import load_breast_cancer
    >>> from tamis.evaluation import learners, metrics, protocols
    >>> from tamis.evaluation.run import units
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> split = protocols.Folds(3).splits(X, y, True)[0]
    >>> svm = learners.make_learner("svm", "classification")
    >>> metric = metrics.make_metric("accuracy", "classification")
    >>> unit = units.Unit("dft", tamis.DFT(), "cancer", X, y, "classification", split, (5,),
    ...                   (svm,), (metric,))
    >>> round(units.run_unit(unit).scores[0]["value"], 1)
    0.9
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = _run(unit)
    told = dict.fromkeys(f"{item.category.__name__}: {item.message}" for item in caught)
    return result._replace(warnings=(*told, *result.warnings))


def _run(unit: Unit) -> UnitResult:
    memory = PeakMemory()
    start = time.perf_counter()
    try:
        selector = _fitted(unit)
        order = _order_of(selector)
    except Exception:
        return failed_result(traceback.format_exc(), time.perf_counter() - start)
    seconds, peak = time.perf_counter() - start, memory.growth()
    counts = clip_counts(unit.counts, order.size)
    scores, told, by_row = _all_scores(unit, order, counts)
    share = None
    if unit.probes is not None:
        found = np.asarray(unit.probes, dtype=bool)[order].cumsum()
        share = {count: float(found[count - 1] / count) for count in counts if count}
    best = getattr(selector, "best_n_features_", None)
    best = None if best is None else int(best)
    return UnitResult(order, scores, seconds, peak, share, best, None, told, by_row)


def _fitted(unit: Unit) -> Any:
    """The selector, fitted on the training rows and on nothing else."""
    train = unit.split.train
    most = max(clip_counts(unit.counts, unit.X.shape[1]), default=1)
    selector = seeded(_whole(unit.selector, most, unit.task), unit.seed)
    return selector.fit(unit.X[train], np.asarray(unit.y)[train])


def _all_scores(
    unit: Unit, order: NDArray[np.int32], counts: tuple[int, ...]
) -> tuple[list[dict[str, Any]], tuple[str, ...], NDArray[np.float32] | None]:
    """Scores by number of features and estimator, what did not converge, and scores by row."""
    columns = order[: max(counts, default=0)]
    y, (_, train, test) = np.asarray(unit.y), unit.split
    seen, unseen = _dense(unit.X, train, columns), _dense(unit.X, test, columns)
    scores: list[dict[str, Any]] = []
    told: dict[str, None] = {}
    by_row = []
    codes, _ = unit_clusters(unit.clusters, test)
    spread = float(np.var(y[train])) if unit.task == "regression" else None
    # Looking through all parameters for seeds takes longer than a clone: once is enough.
    ready = [(learner.name, seeded(learner.estimator, unit.seed)) for learner in unit.learners]
    with one_thread(tuple(name for name, _ in ready)):
        for count, (name, estimator) in product(counts, ready):
            rows = np.ascontiguousarray(seen[:, :count])
            start, model, note = time.perf_counter(), None, None
            try:
                estimator = estimator if count else guessing(unit.task)
                # Ours forget what they learned before; a clone takes as long as a fit.
                fresh = estimator if isinstance(estimator, Prepared) else clone(estimator)
                model = fresh.fit(rows, y[train])
            except Exception as error:
                note = f"{type(error).__name__}: {error}"
            seconds = time.perf_counter() - start
            if not getattr(model, "converged_", True):
                told[f"ConvergenceWarning: {name} stopped before it converged."] = None
            answers = _Answers(model, unseen[:, :count], spread)
            for metric in unit.metrics:
                value, why = _value(metric, answers, y[test]) if note is None else (np.nan, note)
                by_row.append(_by_cluster(metric, answers, y[test], why, codes))
                scores.append(
                    {
                        "count": count,
                        "learner": name,
                        "metric": metric.name,
                        "value": value,
                        "fit_seconds": seconds,
                        "note": why,
                    }
                )
    return scores, tuple(told), np.array(by_row, dtype=np.float32) if by_row else None


def unit_clusters(clusters: NDArray[np.intp] | None, test: Any) -> tuple[Any, NDArray[np.intp]]:
    """For every test row the place of its cluster, and the clusters there are."""
    found, codes = np.unique(test if clusters is None else clusters[test], return_inverse=True)
    return codes, found


def _by_cluster(
    metric: Metric, answers: _Answers, y: Any, note: str | None, codes: Any
) -> NDArray[np.float64]:
    """What the rows contributed to a score, added up by cluster around the score."""
    n = int(codes.max()) + 1
    if metric.by_row is None or note is not None:
        return np.full(n, np.nan)
    values = metric.by_row(answers, answers.X, y)
    mean = values.mean()
    return mean + np.bincount(codes, weights=values - mean, minlength=n) * (n / codes.size)


def clip_counts(counts: tuple[int, ...], n_columns: int) -> tuple[int, ...]:
    """Counts that the table allows, sorted, each once."""
    return tuple(sorted({min(int(count), n_columns) for count in counts if count >= 0}))


def seeded(estimator: Any, seed: int) -> Any:
    """A copy with the seed for every `random_state` that is None; itself, if there is none."""
    params = estimator.get_params(deep=True) if hasattr(estimator, "get_params") else {}
    unset = {
        name: seed
        for name, value in params.items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    }
    return clone(estimator).set_params(**unset) if unset else estimator


def _whole(selector: Any, most: int, task: str) -> Any:
    """A copy that ranks all columns, and reports to nobody."""
    copy = clone(selector)
    if isinstance(copy, BaseSelector):
        # Others than those used follow by the cheaper criterion of a greedy search.
        brief = copy.get_params(deep=False).get("full_order") is False
        copy.set_params(n_features_to_select=most if brief else "all")
        if copy.get_params(deep=False).get("task") == "auto":  # a split may look different
            copy.set_params(task=task)
    return report_to(copy)


def _order_of(selector: Any) -> NDArray[np.int32]:
    """All columns, best first; of scikit-learn's selectors by rank or by score."""
    if hasattr(selector, "order_"):
        return np.asarray(selector.order_, dtype=np.int32)
    if hasattr(selector, "ranking_"):
        return np.argsort(selector.ranking_, kind="stable").astype(np.int32)
    if hasattr(selector, "scores_"):
        scores = np.nan_to_num(np.asarray(selector.scores_, dtype=float), nan=-np.inf)
        return np.argsort(-scores, kind="stable").astype(np.int32)
    raise InputError(
        f"{type(selector).__name__}: expected a selector that ranks columns (order_, ranking_ or "
        "scores_ after fit). Use a selector of tamis."
    )


def _dense(X: Any, rows: Any, columns: Any) -> NDArray[Any]:
    part = X[rows][:, columns] if sparse.issparse(X) else X[np.ix_(rows, columns)]
    return np.asarray(part.toarray() if sparse.issparse(part) else part)


class _Answers:
    """A fitted model that is asked each question once, though several metrics want to know."""

    def __init__(self, model: Any, X: Any, target_variance: float | None = None) -> None:
        self.model, self.X, self.target_variance_ = model, X, target_variance
        self._known: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.model, name)
        if name not in ("predict", "decision_function", "predict_proba"):
            return value
        if name not in self._known:
            self._known[name] = value(self.X)
        return lambda X: self._known[name]


def _value(metric: Metric, answers: _Answers, y: Any) -> tuple[float, str | None]:
    # Scorers from elsewhere may look closer at the model than our own.
    model = answers if metric.scorer in _OWN_SCORERS else answers.model
    try:
        value = float(metric.scorer(model, answers.X, y))
    except Exception as error:
        return float("nan"), f"{type(error).__name__}: {error}"
    if np.isfinite(value):
        return value, None
    return float("nan"), f"{metric.name} is not defined for these {len(y)} test rows."


class PeakMemory:
    """By how much the resident memory of this process grows, from now on.

    Tracing every allocation would slow the work down. Linux keeps the largest resident size of a
    process, and lets the process reset it; elsewhere there is no answer.
    """

    def __init__(self) -> None:
        self._start: int | None = None
        with suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")
            self._start = _status("VmRSS")

    def growth(self) -> int | None:
        """Bytes, or None where the system does not tell."""
        peak = None if self._start is None else _status("VmHWM")
        return None if peak is None or self._start is None else max(0, peak - self._start)


def _status(field: str) -> int | None:
    try:
        with open("/proc/self/status") as lines:
            return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))
    except (OSError, StopIteration):
        return None


def one_thread(learners: tuple[str, ...]) -> Any:
    """Context in which BLAS and OpenMP have one thread: numbers depend on no environment."""
    # Libraries are looked for once, and other estimators bring other ones with them.
    return _controller(learners).limit(limits=1)


@lru_cache(maxsize=8)
def _controller(learners: tuple[str, ...]) -> ThreadpoolController:
    return ThreadpoolController()
