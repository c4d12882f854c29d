"""What a summary looks like: the dictionary the page is made from, and its check.

Version 1 of the summary. Every number is finite or None (unknown); every text is plain, untrusted
text; nothing else than dict, list, str, int, float, bool and None occurs, so it is JSON as it is.

::

    schema    "tamis-report"
    version   1
    title     str, heading when there are several data sets
    created   str or None, a date as people write it
    methods   [str], at least one; their order decides colours
    counts    [int], the numbers of columns that were tried, rising
    learner   str, the one whose scores come first on the page
    metric    str, likewise
    learners  [str]
    metrics   [{name, greater_is_better}]
    level     float, of every interval, such as 0.95
    data      [data set], at least one
    ranks     None or ranks over the data sets, when there are several
    table     {fields: [str], rows: [[value]], n_rows}: one row per score, perhaps cut to the
              first rows of `n_rows`
    failures  [{data, method, split, part, error}]
    warnings  [{data, method, warning, n}]
    protocol  [str], sentences
    selectors {method: its parameters}
    versions  {name: version}
    notes     [str], sentences: what was left out, what to beware of

A data set is::

    name, n_rows, n_columns, task ("classification" or "regression"), fingerprint
    answer       None or {method, count, learner, metric, mean, low, high, stability,
                 stability_low, stability_high, reasons: [str], rivals: [method],
                 columns: [column]}
    scores       [{method, learner, metric, count, mean, low, high, n}]
    stability    {index, rows: [{method, count, value, low, high}]}
    frequencies  None or {count, columns: [column], methods: [str], shares: [[float]]},
                 one row of `shares` per column and one value per method
    correlation  None or {kind, columns: [column], values: [[float]]}
    times        [{method, select_seconds, learn_seconds, peak_bytes}]
    probes       [{method, count, mean, low, high, n}], share of columns known to mean nothing
    ranks        None or ranks over the splits

Ranks are ``{test, over, n_blocks, level, p_value, critical_difference, best, methods, mean_ranks,
p_values, groups}``: `test` is "nemenyi", "wilcoxon" or "corrected t", `p_value` that of Friedman,
`p_values` those against the best, `groups` lists of methods that are not told apart.

A column is ``{index, name, share, low, high, mean_rank}``: `share` is the share of splits in
which the recommended method chose it, with its interval.
"""

from __future__ import annotations

import math
from typing import Any

from tamis.exceptions import InputError

__all__ = ["check_summary"]

NAME = "tamis-report"
VERSION = 1

# A shape is a type word, [shape] for a list, {key: shape} for a dict, (shape,) for "or None".
# A value of rows of the table may be any plain value.
_COLUMN = {
    "index": "int",
    "name": "str",
    "share": ("float",),
    "low": ("float",),
    "high": ("float",),
    "mean_rank": ("float",),
}
_ANSWER = {
    "method": "str",
    "count": "int",
    "learner": "str",
    "metric": "str",
    "mean": ("float",),
    "low": ("float",),
    "high": ("float",),
    "stability": ("float",),
    "stability_low": ("float",),
    "stability_high": ("float",),
    "reasons": ["str"],
    "rivals": ["str"],
    "columns": [_COLUMN],
}
_SCORE = {
    "method": "str",
    "learner": "str",
    "metric": "str",
    "count": "int",
    "mean": ("float",),
    "low": ("float",),
    "high": ("float",),
    "n": "int",
}
_STABILITY = {
    "method": "str",
    "count": "int",
    "value": ("float",),
    "low": ("float",),
    "high": ("float",),
}
_FREQUENCIES = {
    "count": "int",
    "columns": [_COLUMN],
    "methods": ["str"],
    "shares": [[("float",)]],
}
_TIME = {
    "method": "str",
    "select_seconds": ("float",),
    "learn_seconds": ("float",),
    "peak_bytes": ("float",),
}
_PROBE = {
    "method": "str",
    "count": "int",
    "mean": ("float",),
    "low": ("float",),
    "high": ("float",),
    "n": "int",
}
_RANKS = {
    "test": "str",
    "over": "str",
    "n_blocks": "int",
    "level": "float",
    "p_value": ("float",),
    "critical_difference": ("float",),
    "best": "str",
    "methods": ["str"],
    "mean_ranks": ["float"],
    "p_values": [("float",)],
    "groups": [["str"]],
}
_DATA = {
    "name": "str",
    "fingerprint": "str",
    "n_rows": "int",
    "n_columns": "int",
    "task": "str",
    "answer": (_ANSWER,),
    "scores": [_SCORE],
    "stability": {"index": "str", "rows": [_STABILITY]},
    "frequencies": (_FREQUENCIES,),
    "correlation": ({"kind": "str", "columns": [_COLUMN], "values": [[("float",)]]},),
    "times": [_TIME],
    "probes": [_PROBE],
    "ranks": (_RANKS,),
}
_SUMMARY: dict[str, Any] = {
    "schema": "str",
    "version": "int",
    "title": "str",
    "created": ("str",),
    "methods": ["str"],
    "counts": ["int"],
    "learner": "str",
    "metric": "str",
    "learners": ["str"],
    "metrics": [{"name": "str", "greater_is_better": "bool"}],
    "level": "float",
    "data": [_DATA],
    "ranks": (_RANKS,),
    "table": {"fields": ["str"], "rows": [["value"]], "n_rows": "int"},
    "failures": [{"data": "str", "method": "str", "split": "str", "part": "str", "error": "str"}],
    "warnings": [{"data": "str", "method": "str", "warning": "str", "n": "int"}],
    "protocol": ["str"],
    "selectors": "texts",
    "versions": "texts",
    "notes": ["str"],
}


def check_summary(summary: Any) -> dict[str, Any]:
    """Check that a summary has the shape the page is made from.

    Parameters
    ----------
    summary : dict
        The summary, from :func:`tamis.report.summarize` or read back from JSON.

    Returns
    -------
    dict
        The same summary.

    Raises
    ------
    InputError
        If a part is missing, unknown, of the wrong kind, not finite, or does not fit another part;
        the message says which.

    Examples
    --------
    >>> from tamis.report import check_summary
    >>> check_summary({"schema": "tamis-report", "version": 2})
    Traceback (most recent call last):
    tamis.exceptions.InputError: report: expected a summary of version 1, got version 2. Make it
    again with this version of Tamis.
    """
    if not isinstance(summary, dict) or summary.get("schema") != NAME:
        raise InputError(
            f"report: expected a summary with schema {NAME!r}, got {_brief(summary)}. Pass what "
            "tamis.report.summarize returns."
        )
    if summary.get("version") != VERSION:
        raise InputError(
            f"report: expected a summary of version {VERSION}, got version "
            f"{_brief(summary.get('version'))}. Make it again with this version of Tamis."
        )
    _check(summary, _SUMMARY, "summary")
    _check_lists(summary)
    return summary


def _check(value: Any, shape: Any, where: str) -> None:
    if isinstance(shape, tuple):
        if value is not None:
            _check(value, shape[0], where)
    elif isinstance(shape, list):
        _expect(isinstance(value, list), where, "a list", value)
        for position, item in enumerate(value):
            _check(item, shape[0], f"{where}[{position}]")
    elif isinstance(shape, dict):
        _expect(isinstance(value, dict), where, "a dict", value)
        _expect(value.keys() == shape.keys(), where, f"the keys {sorted(shape)}", sorted(value))
        for key, inner in shape.items():
            _check(value[key], inner, f"{where}[{key!r}]")
    else:
        _expect(_KINDS[shape](value), where, _WORDS[shape], value)


def _expect(is_met: bool, where: str, expected: str, got: Any) -> None:
    if not is_met:
        raise InputError(f"report: {where} must be {expected}, got {_brief(got)}.")


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return _is_int(value) or (isinstance(value, float) and math.isfinite(value))


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (str, bool)) or _is_number(value)


def _are_texts(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(text, str) for text in (*value.keys(), *value.values())
    )


_KINDS = {
    "str": lambda value: isinstance(value, str),
    "bool": lambda value: isinstance(value, bool),
    "int": _is_int,
    "float": _is_number,
    "value": _is_plain,
    "texts": _are_texts,
}
_WORDS = {
    "str": "a text",
    "bool": "True or False",
    "int": "an integer",
    "float": "a finite number",
    "value": "a text, a finite number, True, False or None",
    "texts": "a dict of texts",
}


def _check_lists(summary: dict[str, Any]) -> None:
    """Check what one part says about another: lengths, and methods that are known."""
    _expect(bool(summary["methods"]), "summary['methods']", "at least one method", [])
    _expect(bool(summary["data"]), "summary['data']", "at least one data set", [])
    known = set(summary["methods"])
    fields = len(summary["table"]["fields"])
    for row in summary["table"]["rows"]:
        _expect(len(row) == fields, "summary['table']['rows']", f"rows of {fields} values", row)
    _check_ranks(summary["ranks"], known, "summary['ranks']")
    for position, data in enumerate(summary["data"]):
        _check_data(data, known, f"summary['data'][{position}]")


def _check_ranks(ranks: dict[str, Any] | None, known: set[str], where: str) -> None:
    if ranks is None:
        return
    _expect(set(ranks["methods"]) <= known, where, "about known methods", ranks["methods"])
    for field in ("mean_ranks", "p_values"):
        fits = len(ranks[field]) == len(ranks["methods"])
        _expect(fits, f"{where}[{field!r}]", "one number per method", ranks[field])


def _check_data(data: dict[str, Any], known: set[str], where: str) -> None:
    _check_ranks(data["ranks"], known, f"{where}['ranks']")
    rows = [*data["scores"], *data["stability"]["rows"], *data["times"], *data["probes"]]
    if data["answer"] is not None:
        rows.append(data["answer"])
    for row in rows:
        _expect(row["method"] in known, where, "about known methods", row["method"])
    for part, values, width in (
        ("frequencies", "shares", "methods"),
        ("correlation", "values", "columns"),
    ):
        block = data[part]
        if block is None:
            continue
        fits = len(block[values]) == len(block["columns"]) and all(
            len(row) == len(block[width]) for row in block[values]
        )
        _expect(fits, f"{where}[{part!r}]", f"one row per column and one value per {width}", "less")
    if data["frequencies"] is not None:
        methods = data["frequencies"]["methods"]
        _expect(set(methods) <= known, where, "about known methods", methods)


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
