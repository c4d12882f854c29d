"""A fitted selector as a plain dictionary: what JSON, CSV and the terminal show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from tamis.cli._fitting import Outcome
from tamis.manifest._plain import plain, versions

# Learned per column by some selectors, and worth a word in the record of a column.
PER_COLUMN = {"loss": "loss_", "threshold": "thresholds_"}


def summarize(outcome: Outcome) -> dict[str, Any]:
    """Collect everything there is to say about a ranking.

    Parameters
    ----------
    outcome : Outcome
        The fitted selector and its data.

    Returns
    -------
    dict
        Plain strings, numbers, lists and None only; ``features`` is best first.
    """
    selector, prepared = outcome.selector, outcome.prepared
    n_rows, n_columns = prepared.X.shape
    params = selector.get_params(deep=False)
    rule = params.pop("n_features_to_select")
    return {
        "method": outcome.method,
        "params": plain(params),
        "data": str(outcome.table.path),
        "target": outcome.target,
        "task": prepared.task,
        "n_rows": n_rows,
        "n_columns": n_columns,
        "n_selected": selector.n_selected_,
        "cut": _cut(rule, selector.cut_details_, prepared.feature_names),
        "features": _features(outcome),
        "left_out": _left_out(outcome),
        "versions": versions(),
    }


def _cut(rule: Any, details: Mapping[str, Any], names: list[str]) -> dict[str, Any]:
    settings = {f.name: getattr(rule, f.name) for f in fields(rule)}
    keep = [names[j] for j in settings.pop("keep") or ()]
    settings = {name: value for name, value in settings.items() if value is not None}
    return {
        "rule": type(rule).__name__,
        **plain(settings),
        "keep": keep,
        "details": plain(dict(details)),
    }


def _features(outcome: Outcome) -> list[dict[str, Any]]:
    selector, prepared = outcome.selector, outcome.prepared
    kinds = [role.kind for role in prepared.roles if role.used]
    more = {key: getattr(selector, name, None) for key, name in PER_COLUMN.items()}
    return [
        {
            "rank": position,
            "feature": prepared.feature_names[j],
            "score": plain(selector.scores_[j]),
            "selected": bool(selector.support_[j]),
            "kind": kinds[j],
            **{key: plain(values[j]) for key, values in more.items() if values is not None},
        }
        for position, j in enumerate(selector.order_.tolist(), start=1)
    ]


def _left_out(outcome: Outcome) -> list[dict[str, str]]:
    return [
        {"name": role.name, "kind": role.kind, "reason": role.reason}
        for role in outcome.prepared.roles
        if not role.used and role.kind != "target"
    ]
