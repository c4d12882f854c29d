"""Manifest: a selection as plain data."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from tamis._runtime.plain import plain, versions
from tamis._runtime.wording import listed
from tamis.cutoff._rule import CutRule, FitData
from tamis.exceptions import InputError
from tamis.manifest._fingerprint import fingerprint

FORMAT = "tamis selection manifest"
FORMAT_VERSION = 1
LARGEST = sys.float_info.max


@dataclass(frozen=True, eq=False)
class Manifest:
    """A selection: which columns, in which order, by which method, on which data.

    Parameters
    ----------
    names : sequence of str
        The ranked columns, best first.
    scores : sequence of float
        Their scores, in the same order.
    selected : sequence of str
        The selected columns in the order of the table; also such as were kept without a score.
    method : str
        Short name of the selector, or what else chose the columns.
    params : dict
        Its parameters, as plain data.
    cut : dict
        The rule that decided how many, as plain data.
    target, task : str or None
        What was predicted, where that is known.
    data : dict
        Which table: see :func:`fingerprint`.
    versions : dict
        Versions of the programs that took part.

    Examples
    --------
    >>> from tamis.manifest import Manifest
    >>> choice = Manifest(["b", "a"], [2.0, 1.0], selected=["b"], method="by hand")
    >>> choice.selected
    ('b',)
    """

    names: Sequence[str]
    scores: Sequence[float]
    selected: Sequence[str]
    method: str
    params: Mapping[str, Any] = field(default_factory=dict)
    cut: Mapping[str, Any] = field(default_factory=dict)
    target: str | None = None
    task: str | None = None
    data: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_parts(self.__dict__, "Manifest")
        for name in ("names", "scores", "selected"):
            object.__setattr__(self, name, tuple(getattr(self, name)))

    def to_dict(self) -> dict[str, Any]:
        """Plain strings, numbers, lists and dictionaries, as they are in the file."""
        head = {"format": FORMAT, "format_version": FORMAT_VERSION}
        return head | {f.name: plain(getattr(self, f.name)) for f in fields(self)}


def make_manifest(
    selector: Any,
    *,
    data: Any = None,
    names: Sequence[str] | None = None,
    carried: Iterable[str] = (),
    target: str | None = None,
    task: str | None = None,
) -> Manifest:
    """Collect what a fitted selector selected, or what a comparison recommends.

    Parameters
    ----------
    selector : BaseSelector or Recommendation
        A fitted selector, or ``comparison.recommend()``: its columns, with the share of the splits
        that select each as score.
    data : DataFrame, Arrow table, array or sparse matrix, default=None
        The table that it was fitted on, for the fingerprint; ``None`` leaves out its content.
    names : sequence of str or None, default=None
        Names of the columns; ``None`` takes those seen in fit, else ``x0``, ``x1``, ...
    carried : iterable of str, default=()
        Columns that are selected too, though they have no score; they come last.
    target, task : str or None, default=None
        What was predicted, for the record.

    Returns
    -------
    manifest : Manifest
        The record.

    Examples
    --------
    >>> import tamis
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(as_frame=True, return_X_y=True)
    >>> manifest = tamis.manifest.make_manifest(tamis.DFT(n_features_to_select=2).fit(X, y))
    >>> manifest.selected, manifest.cut["rule"]
    (('petal length (cm)', 'petal width (cm)'), 'TopK')
    """
    more: dict[str, Any] = {"target": target, "task": task, "versions": versions()}
    if hasattr(selector, "shares"):
        return _of_recommendation(selector, data, list(carried), more)
    ranking = selector.ranking_record(names)
    known = [ranking.name(j) for j in range(ranking.n_columns)]
    params = selector.get_params(deep=False)
    params.pop("n_features_to_select", None)
    return Manifest(
        names=[known[j] for j in ranking.order],
        scores=ranking.scores[ranking.order].tolist(),
        selected=[*(known[j] for j in np.flatnonzero(selector.support_)), *carried],
        method=type(selector).__name__.lower(),
        params=plain(params),
        cut=_cut(selector, ranking),
        data={"n_columns": len(known)} if data is None else fingerprint(data, names=known),
        **more,
    )


def _of_recommendation(
    choice: Any, data: Any, carried: list[str], more: dict[str, Any]
) -> Manifest:
    order = np.argsort(choice.indices)
    return Manifest(
        names=list(choice.columns),
        scores=[float(share) for share in choice.shares],
        selected=[*(choice.columns[j] for j in order), *carried],
        method=choice.method,
        params={"learner": choice.learner, "metric": choice.metric},
        cut={"rule": "recommendation", "k": choice.count, "reasons": plain(choice.reasons)},
        data={"name": choice.data} | ({} if data is None else fingerprint(data)),
        **more,
    )


def _cut(selector: Any, ranking: Any) -> dict[str, Any]:
    """The rule as plain data; after a `recut`, which keeps no rule, only that there was one."""
    rule: CutRule = selector._rule()
    if not rule.needs_data:
        support, _ = rule.select(ranking, FitData(selector, None, None))
        if (support != selector.support_).any():
            return {"rule": "recut", "n_selected": selector.n_selected_}
    settings = {f.name: getattr(rule, f.name) for f in fields(rule)}
    settings.pop("keep")
    keep = [ranking.name(j) for j in rule.kept_columns(ranking)]
    known = {name: plain(value) for name, value in settings.items() if value is not None}
    return {"rule": type(rule).__name__, **known, "keep": keep}


def check_parts(parts: Mapping[str, Any], who: str) -> None:
    """Raise unless these are the parts of a manifest, whoever made them."""
    for name in ("names", "selected"):
        _check_names(parts[name], name, who)
    _check_scores(parts["scores"], len(parts["names"]), who)
    if not isinstance(parts["method"], str):
        raise wrong(who, "method", "a string", parts["method"])
    for name in ("target", "task"):
        if not isinstance(parts[name], str | None):
            raise wrong(who, name, "a string or null", parts[name])
    for name in ("params", "cut", "data", "versions"):
        if not isinstance(parts[name], Mapping):
            raise wrong(who, name, "an object", parts[name])


def _check_names(value: Any, name: str, who: str) -> None:
    if not isinstance(value, list | tuple):
        raise wrong(who, name, "a list of column names", value)
    if not value:
        raise InputError(f"{who}: expected at least one column in {name!r}, got none.")
    for item in value:
        if not isinstance(item, str):
            raise wrong(who, name, "column names, which are strings,", item)
    if len(set(value)) < len(value):
        twice = Counter(value).most_common(1)[0][0]
        raise InputError(
            f"{who}: expected every column once in {name!r}, got {listed([twice])} twice."
        )


def _check_scores(value: Any, n_names: int, who: str) -> None:
    if not isinstance(value, list | tuple):
        raise wrong(who, "scores", "a list of numbers", value)
    if len(value) != n_names:
        raise InputError(
            f"{who}: expected as many scores as names ({n_names:,}), got {len(value):,}."
        )
    for item in value:
        number = isinstance(item, int | float) and not isinstance(item, bool)
        if not number or not -LARGEST <= item <= LARGEST:
            raise wrong(who, "scores", "finite numbers", item)


def wrong(who: str, name: str, expected: str, value: Any) -> InputError:
    """Build the error for a part of another kind; the value may be long, or anything."""
    shown = repr(value)
    shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
    return InputError(
        f"{who}: expected {expected} in {name!r}, got {shown}. Write the manifest again with Tamis."
    )
