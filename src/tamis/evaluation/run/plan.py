"""Plan: data sets, splits, and every unit of work of a comparison with its key and its seed."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from tamis._runtime.fingerprint import canonical, data_fingerprint, key_of
from tamis._runtime.seeds import seed_of
from tamis.cutoff.counts import counts_to_try
from tamis.data import checks
from tamis.data.frames import is_frame
from tamis.data.labels import check_target
from tamis.data.task import infer_task
from tamis.evaluation.learners import Learner, make_learner
from tamis.evaluation.metrics import Metric, default_metrics, make_metric
from tamis.evaluation.protocols import Split, as_protocol
from tamis.evaluation.protocols.base import deal_folds, fold_parts
from tamis.evaluation.run.units import Unit
from tamis.exceptions import InputError
from tamis.selectors import make_selector

DEFAULT_COUNTS = (1, 2, 3, 5, 10, 20, 50, 100, 200)
# The pseudo-method of every comparison: random features, all of them, and none.
BASELINE = "random features"
# Pairs of disjoint halves of the rows that every method ranks for its stability.
MOST_HALVES = 5
# More rows than this are gathered in so many clusters before they are stored.
MOST_CLUSTERS = 2000
# Arithmetic of a fit on all features above which they are not tried, about ten seconds.
MOST_WORK = 2e10
NAME_LENGTH = 80
FORMS = (
    "(X, y), a data frame with target=, a Bunch with X and y, a name of tamis.datasets, or a "
    "dict or list of these"
)


class DataSet(NamedTuple):
    """One data set: checked numbers, target, names and what is known of its columns."""

    name: str
    X: Any
    y: NDArray[Any]
    task: str
    columns: list[str]
    probes: NDArray[np.bool_] | None  # columns known to be irrelevant
    fingerprint: str


class Job(NamedTuple):
    """One unit of work by name: what is sent to a worker, and what a stored row is found by."""

    key: str
    data: int
    method: str
    split: int
    seed: int


class Setting(NamedTuple):
    """A data set with everything that is done on it."""

    table: DataSet
    protocol: Any
    splits: list[Split]
    counts: tuple[int, ...]
    learners: tuple[Learner, ...]
    metrics: tuple[Metric, ...]
    halves: list[Split]  # disjoint halves of the rows, each one the test rows of the other
    clusters: NDArray[np.intp]  # of every row, the group that it is alike with

    @property
    def baseline_counts(self) -> tuple[int, ...]:
        """No features (guessing), as many random ones as the methods take, and all if possible."""
        n, p = max(split.train.size for split in self.splits), self.table.X.shape[1]
        is_cheap = float(min(n, p)) ** 2 * max(n, p) <= MOST_WORK
        return (0, *self.counts, *((p,) if is_cheap and p not in self.counts else ()))


class Plan(NamedTuple):
    """What a comparison consists of; `jobs` go through all methods before the next split."""

    selectors: dict[str, Any]
    settings: list[Setting]
    jobs: list[Job]
    random_state: int

    def unit(self, job: Job) -> Unit:
        """Everything that computing this unit takes."""
        setting = self.settings[job.data]
        is_base, is_half = job.method == BASELINE, job.split >= len(setting.splits)
        selector = make_selector("randomranking") if is_base else self.selectors[job.method]
        return Unit(
            method=job.method,
            selector=_single_threaded(selector),
            data=setting.table.name,
            X=setting.table.X,
            y=setting.table.y,
            task=setting.table.task,
            split=[*setting.splits, *setting.halves][job.split],
            counts=setting.baseline_counts if is_base else setting.counts,
            learners=() if is_half else setting.learners,
            metrics=setting.metrics,
            seed=job.seed,
            probes=setting.table.probes,
            clusters=setting.clusters,
        )

    def meta(self, job: Job) -> dict[str, Any]:
        """What a reader of the store should know of a unit."""
        setting = self.settings[job.data]
        return {
            "data": setting.table.name,
            "fingerprint": setting.table.fingerprint,
            "method": job.method,
            "selector": " ".join(repr(self.selectors.get(job.method, BASELINE)).split()),
            "protocol": setting.protocol.describe(),
            "split": [*setting.splits, *setting.halves][job.split].name,
            "counts": list(setting.counts),
            "learners": [learner.name for learner in setting.learners],
            "metrics": [metric.name for metric in setting.metrics],
            "seed": job.seed,
        }


def make_plan(
    tables: list[DataSet],
    selectors: Any,
    protocol: Any,
    counts: Any,
    learners: Any,
    metrics: Any,
    random_state: int,
) -> Plan:
    """Check what was asked for and lay out the work."""
    named = _named_selectors(selectors)
    settings = [_setting(table, protocol, counts, learners, metrics) for table in tables]
    return Plan(named, settings, _jobs(named, settings, random_state), random_state)


def _setting(table: DataSet, protocol: Any, counts: Any, learners: Any, metrics: Any) -> Setting:
    if isinstance(protocol, Mapping):
        if table.name not in protocol:
            raise InputError(
                "compare: protocol must have an entry for every data set, got none for "
                f"{table.name!r}."
            )
        protocol = protocol[table.name]
    chosen, task = as_protocol(protocol), table.task
    splits = chosen.splits(table.X, table.y, task == "classification")
    if metrics is None:
        metrics = default_metrics(task)
        if task == "classification" and max(split.test.size for split in splits) == 1:
            metrics = ("accuracy",)  # one row has no AUC
    groups = getattr(chosen, "groups", None)
    return Setting(
        table=table,
        protocol=chosen,
        splits=splits,
        counts=_counts(counts, table.X.shape[1]),
        learners=_named(learners, lambda item: make_learner(item, task)),
        metrics=_named(metrics, lambda item: make_metric(item, task)),
        halves=_halves(table, groups, min(MOST_HALVES, len(splits) // 2)),
        clusters=clusters_of(groups, table.X.shape[0]),
    )


def clusters_of(groups: Any, n_rows: int) -> NDArray[np.intp]:
    """Number of the group of every row; without groups each row, of many rows every so many."""
    if groups is not None:
        return np.unique(np.asarray(groups).astype(str), return_inverse=True)[1].reshape(-1)
    return np.arange(n_rows) % MOST_CLUSTERS


def _halves(table: DataSet, groups: Any, n_pairs: int) -> list[Split]:
    """Pairs of disjoint halves of the rows, or of the groups, with equal shares of the classes."""
    rng, classes = np.random.default_rng(0), table.task == "classification"
    halves = []
    for pair in range(n_pairs):
        side = deal_folds(table.y, classes, 2, rng)
        if groups is not None:
            codes = clusters_of(groups, table.y.size)
            side = rng.permutation(int(codes.max()) + 1)[codes] % 2
        for letter, (train, test) in zip("ab", fold_parts(side), strict=True):
            halves.append(Split(f"half {pair + 1}{letter}", train, test))
    return halves


def _jobs(selectors: dict[str, Any], settings: list[Setting], random_state: int) -> list[Job]:
    # Walking through parameters takes a millisecond: once for all units that share them.
    methods = {method: canonical(selector) for method, selector in selectors.items()}
    jobs = []
    methods[BASELINE] = canonical(BASELINE)
    for data, setting in enumerate(settings):
        table = setting.table
        told = {"data": table.fingerprint, "task": table.task, "probes": table.probes}
        scored = {
            "learners": [(item.name, item.estimator) for item in setting.learners],
            "metrics": [(item.name, item.scorer) for item in setting.metrics],
            "clusters": setting.clusters,
        }
        shared = canonical({**told, **scored, "counts": setting.counts})
        # Of a half only the order is wanted, and of that only so many of a greedy search.
        halved = canonical({**told, "counts": max(setting.counts)})
        for number, split in enumerate([*setting.splits, *setting.halves]):
            rows = canonical((split.name, split.train, split.test))
            is_half = number >= len(setting.splits)
            for method, selector in methods.items():
                if is_half and method == BASELINE:
                    continue
                seed = seed_of(random_state, table.fingerprint, method, split.name)
                part = halved if is_half else shared
                key = key_of(shared=part, selector=selector, split=rows, seed=seed)
                jobs.append(Job(key, data, method, number, seed))
    # One split of everything first: then the time of every method is known soon.
    return sorted(jobs, key=lambda job: job.split)


def _counts(counts: Any, n_columns: int) -> tuple[int, ...]:
    """Different numbers of columns, none above what there is."""
    if isinstance(counts, str) and counts == "grid":
        counts = None
    else:
        counts = [counts] if isinstance(counts, int) else list(counts)
    return tuple(int(count) for count in counts_to_try(counts, n_columns, who="compare: counts"))


def _named_selectors(selectors: Any) -> dict[str, Any]:
    if isinstance(selectors, Mapping):
        items = [(str(name), _selector(item)) for name, item in selectors.items()]
    else:
        items = [(_method_name(item), _selector(item)) for item in _as_list(selectors)]
    if not items:
        raise InputError(
            "compare: selectors must be names, selectors or a dict of them, got none. "
            "tamis.list_selectors() gives the names."
        )
    # No method may have the name of the baseline.
    return {name: item for name, item in _unique([(BASELINE, None), *items]).items() if item}


def _selector(item: Any) -> Any:
    if isinstance(item, str):
        return make_selector(item)
    if not (hasattr(item, "fit") and hasattr(item, "get_params")) or isinstance(item, type):
        raise InputError(
            f"compare: expected a selector or a name of tamis.list_selectors(), got {item!r}."
        )
    return clone(item)


def _method_name(item: Any) -> str:
    """Names as given; selectors by class and what differs from the defaults."""
    if isinstance(item, str):
        return item
    text = " ".join(repr(item).split()).removesuffix("()")
    return text if len(text) <= NAME_LENGTH else text[: NAME_LENGTH - 3] + "..."


def _unique(items: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, item in items:
        number, free = 1, name
        while free in found:
            number += 1
            free = f"{name} ({number})"
        found[free] = item
    return found


def _named(items: Any, make: Callable[[Any], Any]) -> tuple[Any, ...]:
    """Estimators or metrics with names that differ; a dict gives names of its own."""
    if isinstance(items, Mapping):
        return tuple(make(item)._replace(name=str(name)) for name, item in items.items())
    named = _unique((item.name, item) for item in map(make, _as_list(items)))
    return tuple(item._replace(name=name) for name, item in named.items())


def _as_list(value: Any) -> list[Any]:
    plain = isinstance(value, list | tuple) and not hasattr(value, "_fields")  # no Learner, Metric
    return list(value) if plain else [value]


def _single_threaded(selector: Any) -> Any:
    """Units run side by side; threads inside them would only get in each other's way."""
    selector = copy.deepcopy(selector)
    for name, value in selector.get_params(deep=True).items():
        if name.rpartition("__")[2] == "n_jobs" and value != 1:
            selector.set_params(**{name: 1})
    return selector


def read_tables(data: Any, target: Any = None, task: str = "auto") -> list[DataSet]:
    """Data sets of a comparison in the order given; `data` and `target` as `compare` takes them."""
    tables = [_table(name, item, target, task) for name, item in _named_data(data)]
    names = [table.name for table in tables]
    if not tables:
        raise InputError(f"compare: data must be {FORMS}, got nothing. Pass at least one table.")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"compare: expected every data set once, got {twice!r} more than once.")
    return tables


def _named_data(data: Any) -> Iterable[tuple[str, Any]]:
    if isinstance(data, Mapping) and not _is_bunch(data):
        return [(str(name), item) for name, item in data.items()]
    if isinstance(data, str) or _is_bunch(data) or _is_pair(data) or is_frame(data):
        return [(_data_name(data), data)]
    if isinstance(data, list | tuple) and all(
        isinstance(item, str) or _is_bunch(item) for item in data
    ):
        return [(_data_name(item), item) for item in data]
    if hasattr(data, "shape"):  # a matrix, whose target comes as `target`
        return [("data", data)]
    raise InputError(f"compare: data must be {FORMS}, got {type(data).__name__}.")


def _is_bunch(data: Any) -> bool:
    return not is_frame(data) and (
        (hasattr(data, "X") and hasattr(data, "y"))
        or (hasattr(data, "data") and hasattr(data, "target"))
    )


def _is_pair(data: Any) -> bool:
    return isinstance(data, list | tuple) and len(data) == 2 and not isinstance(data[0], str)


def _data_name(data: Any) -> str:
    if isinstance(data, str):
        return data
    return str(getattr(data, "name", None) or "data")


def _table(name: str, item: Any, target: Any, task: str) -> DataSet:
    if isinstance(item, str):
        from tamis.datasets import load

        item = load(item)
    X, y, known = _parts(name, item, target)
    reader = type(f"compare on {name!r}", (BaseEstimator,), {})()  # whom messages name
    table = checks.check_table(reader, X)
    y = check_target(y, table.shape[0], f"compare on {name!r}")
    if task == "auto":
        task = infer_task(y, who=f"compare on {name!r}")
    n_columns = table.shape[1]
    names = known.get("feature_names", getattr(reader, "feature_names_in_", None))
    if names is None or len(names) != n_columns:
        names = [f"x{column}" for column in range(n_columns)]
    probes = None
    if "relevant" in known:
        probes = np.ones(n_columns, dtype=bool)
        probes[np.asarray(known["relevant"])] = False
    return DataSet(name, table, y, task, list(map(str, names)), probes, data_fingerprint(table, y))


def _parts(name: str, item: Any, target: Any) -> tuple[Any, Any, dict[str, Any]]:
    """Columns, target, and what else is known."""
    if _is_bunch(item):
        known = {
            field: getattr(item, field)
            for field in ("feature_names", "relevant")
            if getattr(item, field, None) is not None
        }
        first, second = ("X", "y") if hasattr(item, "X") else ("data", "target")
        return getattr(item, first), getattr(item, second), known
    if _is_pair(item):
        return item[0], item[1], {}
    if isinstance(target, str) and is_frame(item):
        frame = nw.from_native(item, eager_only=True)
        if target not in frame.columns:
            raise InputError(
                f"compare: target must be a column of {name!r}, got {target!r}. Its columns are "
                f"{', '.join(map(repr, frame.columns[:10]))}"
                f"{' and more' if len(frame.columns) > 10 else ''}."
            )
        return frame.drop(target).to_native(), frame[target].to_numpy(), {}
    if target is not None and not isinstance(target, str):
        return item, target, {}
    raise InputError(
        f"compare: expected a target for {name!r}, got none. Pass data=(X, y), or a data frame "
        "with target= the name of its target column."
    )
