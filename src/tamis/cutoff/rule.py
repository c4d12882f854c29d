"""CutRule: what all rules share: columns always kept, and columns that go together."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from tamis._ranking import Ranking
from tamis._runtime.callbacks import without_callbacks
from tamis._runtime.warning import warn
from tamis._runtime.wording import did_you_mean
from tamis.exceptions import InputError

Indices = NDArray[np.intp]
Column = int | str


class FitData(NamedTuple):
    """What a rule that looks at the training data needs: the unfitted selector and its input."""

    selector: Any
    X: Any
    y: Any
    sample_weight: Any = None

    @property
    def target(self) -> NDArray[Any]:
        """The target as a 1d array."""
        target = np.asarray(self.y)
        return target[:, 0] if target.ndim == 2 and target.shape[1] == 1 else target

    def fresh(self) -> Any:
        """An unfitted copy that keeps every column and reports to nobody."""
        copy = clone(self.selector).set_params(n_features_to_select="all")
        if copy.get_params(deep=False).get("task") == "auto":  # a few rows may look different
            copy.set_params(task=getattr(self.selector, "task_", "auto"))
        copy._names_told = getattr(self.selector, "feature_names_in_", None)
        return without_callbacks(copy)

    def fit(self, selector: Any, X: Any, y: Any, rows: Any = None) -> Any:
        """Fit a selector on (a part of) the data, with the weights that belong to it."""
        if self.sample_weight is None:
            return selector.fit(X, y)
        weight = self.sample_weight if rows is None else self.sample_weight[rows]
        return selector.fit(X, y, sample_weight=weight)

    def fit_learner(self, estimator: Any, columns: Indices, rows: Indices) -> Any:
        """Fit a copy of an estimator on some columns and rows, with weights if it takes any."""
        name = _weight_parameter(estimator)
        options = {}
        if self.sample_weight is not None and name is not None:
            options[name] = self.sample_weight[rows]
        return clone(estimator).fit(self.X[rows][:, columns], self.target[rows], **options)

    def score_learner(self, scorer: Any, model: Any, columns: Indices, rows: Indices) -> float:
        """Score a model on some columns and rows, with weights if the scorer takes any."""
        options = {}
        if self.sample_weight is not None and _takes_weight(scorer):
            options["sample_weight"] = self.sample_weight[rows]
        return float(scorer(model, self.X[rows][:, columns], self.target[rows], **options))

    def steps(self, name: str, items: Sequence[Any]) -> Iterable[Any]:
        """Go through `items` under the eyes of the selector's callbacks."""
        yield from self.selector.steps(name, items, len(items))


def _takes_weight(scorer: Any) -> bool:
    parameters = inspect.signature(scorer).parameters.values()
    return any(p.name == "sample_weight" or p.kind == p.VAR_KEYWORD for p in parameters)


def _weight_parameter(estimator: Any) -> str | None:
    """Name under which fit takes weights; for a pipeline, that of its last step."""
    if has_fit_parameter(estimator, "sample_weight"):
        return "sample_weight"
    if hasattr(estimator, "steps") and not get_config()["enable_metadata_routing"]:
        name, last = estimator.steps[-1]
        if has_fit_parameter(last, "sample_weight"):
            return f"{name}__sample_weight"
    return None


class Cut(NamedTuple):
    """Result of a rule.

    `wanted` columns are asked for, best first; `limit` bounds how many (or None); `details` holds
    whatever else the rule found out, as plain numbers and arrays.
    """

    wanted: Indices
    limit: int | None
    details: dict[str, Any]


@dataclass(frozen=True, kw_only=True, eq=False)
class CutRule:
    """Base of the rules that decide how many columns are selected.

    Parameters
    ----------
    keep : sequence of int or str, or None
        Columns that are always selected, by index or name.
    groups : sequence of sequences, mapping, or sequence of labels, or None
        Columns that stand or fall together: lists of columns, a mapping from group names to
        lists of columns, or one label per column. A group has the rank of its best column.
    """

    keep: Sequence[Column] | None = None
    groups: Sequence[Any] | Mapping[Any, Sequence[Column]] | None = None

    needs_data = False

    @property
    def who(self) -> str:
        """Name used in messages."""
        return type(self).__name__

    def find(self, ranking: Ranking, data: FitData | None) -> Cut:
        """Columns that the rule asks for, before `keep` and `groups` are looked at."""
        raise NotImplementedError

    def select(
        self, ranking: Ranking, data: FitData | None = None
    ) -> tuple[NDArray[np.bool_], dict[str, Any]]:
        """Mask of the selected columns, and what the rule found out on the way."""
        if self.needs_data and (data is None or data.X is None or data.y is None):
            raise InputError(
                f"{self.who}: expected the training data, because the rule looks at it, got none. "
                f"Fit with n_features_to_select={self.who}(...), or call recut(rule, X, y)."
            )
        cut = self.find(ranking, data)
        support = self._fill(cut, ranking)
        if not support.any():
            warn(
                f"{self.who}: no column was selected. Choose a more generous rule.",
            )
        return support, cut.details

    def _fill(self, cut: Cut, ranking: Ranking) -> NDArray[np.bool_]:
        """Take `keep` first, then what is wanted, whole groups at a time, up to the limit."""
        support = np.zeros(ranking.n_columns, dtype=bool)
        if self.keep is None and self.groups is None:
            support[cut.wanted[: cut.limit]] = True
            return support
        teams = self.teams(ranking)
        for column in self.kept_columns(ranking):
            support[teams.members(int(column))] = True
        count = int(support.sum())
        for column in cut.wanted:
            if support[column]:
                continue
            # Groups that do not fit may leave room, but not for a column that never varies.
            if ranking.constant[column] and not support[ranking.useful].all():
                break
            team = teams.members(int(column))
            if cut.limit is None or count + team.size <= cut.limit:
                support[team] = True
                count += team.size
        return support

    def kept_columns(self, ranking: Ranking) -> Indices:
        """Indices of the columns named in `keep`."""
        return resolve(() if self.keep is None else self.keep, ranking, f"{self.who}: keep")

    def teams(self, ranking: Ranking) -> Teams:
        """Partition of the columns that `groups` describes."""
        return Teams.of(self.groups, ranking, f"{self.who}: groups")


class Teams(NamedTuple):
    """A label per column, and who shares it; without groups every column is alone."""

    labels: Indices | None

    @classmethod
    def of(cls, groups: Any, ranking: Ranking, who: str) -> Teams:
        """Read any of the accepted forms of `groups`."""
        if groups is None:
            return cls(None)
        n = ranking.n_columns
        named = isinstance(groups, Mapping)
        groups = _listed(groups.values() if named else groups)
        if groups and not named and not any(_is_list(item) for item in groups):
            if len(groups) != n:
                raise InputError(
                    f"{who} must hold lists of columns or one label per column ({n}), "
                    f"got {len(groups)} labels."
                )
            codes: dict[Any, int] = {}
            return cls(np.array([codes.setdefault(label, len(codes)) for label in groups]))
        labels = np.arange(n)
        seen: set[int] = set()
        for number, members in enumerate(groups):
            columns = resolve(members, ranking, who)
            twice = seen & set(columns.tolist())
            if twice:
                name = ranking.name(min(twice))
                raise InputError(f"{who}: expected every column in one group, got {name!r} in two.")
            seen |= set(columns.tolist())
            labels[columns] = n + number
        return cls(labels)

    def members(self, column: int) -> Indices:
        """All columns that go with `column`, itself included."""
        if self.labels is None:
            return np.array([column])
        return np.flatnonzero(self.labels == self.labels[column])


def resolve(columns: Iterable[Column], ranking: Ranking, who: str) -> Indices:
    """Indices of columns given by index or name."""
    found = [_index_of(column, ranking, who) for column in _listed(columns)]
    return np.array(found, dtype=np.intp)


def _is_list(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes)


def _listed(value: Any) -> list[Any]:
    return list(value) if _is_list(value) else [value]


def _index_of(column: Column, ranking: Ranking, who: str) -> int:
    n = ranking.n_columns
    if isinstance(column, int | np.integer) and not isinstance(column, bool):
        if -n <= column < n:
            return int(column) % n
        raise InputError(f"{who}: expected a column index below {n}, got {column!r}.")
    if not isinstance(column, str):
        raise InputError(f"{who}: expected column names or indices, got {column!r}.")
    position = ranking.positions_by_name.get(column)
    if position is not None:
        return position
    hint = did_you_mean(column, ranking.positions_by_name)
    raise InputError(f"{who}: expected a column of the table, got {column!r}.{hint}")
