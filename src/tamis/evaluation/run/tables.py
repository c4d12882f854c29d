"""From what a user calls data to named tables that can be compared on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from tamis._runtime.fingerprint import data_fingerprint
from tamis.data import checks
from tamis.data.frames import is_frame
from tamis.data.target import check_target
from tamis.data.task import infer_task
from tamis.exceptions import InputError

FORMS = (
    "(X, y), a data frame with target=, a Bunch with X and y, a name of tamis.datasets, or a "
    "dict or list of these"
)


class DataSet(NamedTuple):
    """One data set: checked numbers, target, names and what is known of its columns.

    `probes` marks columns known to be irrelevant, or is None.
    """

    name: str
    X: Any
    y: NDArray[Any]
    task: str
    columns: list[str]
    probes: NDArray[np.bool_] | None
    fingerprint: str


def read_tables(data: Any, target: Any = None, task: str = "auto") -> list[DataSet]:
    """Data sets of a comparison in the order given; `data` and `target` as `compare` takes them."""
    tables = [_table(name, item, target, task) for name, item in _named(data)]
    names = [table.name for table in tables]
    if not tables:
        raise InputError(f"compare: data must be {FORMS}, got nothing. Pass at least one table.")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"compare: expected every data set once, got {twice!r} more than once.")
    return tables


def _named(data: Any) -> Iterable[tuple[str, Any]]:
    if isinstance(data, Mapping) and not _is_bunch(data):
        return [(str(name), item) for name, item in data.items()]
    if isinstance(data, str) or _is_bunch(data) or _is_pair(data) or is_frame(data):
        return [(_name_of(data), data)]
    if isinstance(data, list | tuple) and all(
        isinstance(item, str) or _is_bunch(item) for item in data
    ):
        return [(_name_of(item), item) for item in data]
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


def _name_of(data: Any) -> str:
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
