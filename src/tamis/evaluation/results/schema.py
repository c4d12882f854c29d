"""The schema of ``Comparison.to_dict()``: what its JSON file holds and the report is made from.

Version 1 of "tamis-comparison". Every number is finite or None (unknown); every text is plain,
untrusted text; nothing else than dict, list, str, int, float, bool and None occurs.

::

    schema, version   "tamis-comparison", 1
    methods           [str], at least one
    selectors         {method: its parameters}
    learner, metric   str, the estimator and the metric of the first data set that decide
    level             float, of every interval, such as 0.95
    random_state      int
    seeds             [{data, method, seeds: [int]}], one seed per split
    versions          {name: version}
    other_versions    [{name: version}], if parts were computed with others
    data              [data set], at least one
    significance      None or differences over the data sets, when there are several
    failures          [{data, method, split, part, error, details}]
    warnings          [{data, method, warning, n}]
    table             {fields: [str], rows: [[value]]}, one row per score
    notes             [str], optional: what was left out of the copy inside a page

A data set is::

    name, fingerprint, n_rows, n_columns, task ("classification" or "regression")
    counts        [int], numbers of features
    learners      [str], names of the estimators
    metrics       [{name, greater_is_better}]
    protocol      {protocol, description, ...}
    splits        [str]
    answer        None or the fields of a Recommendation
    scores        [{method, learner, metric, count, mean, standard_error, low, high, n}]
    stability     [{method, count, nogueira, low, high, jaccard, jensen_shannon, n}]
    times         [{method, select_seconds, learn_seconds, peak_bytes, n}]
    probes        [{method, count, mean, standard_error, low, high, n}]
    frequencies   None or {count, indices, columns, methods, shares, mean_ranks}: one row of
                  `shares` and `mean_ranks` per column, one value per method
    correlation   None or {kind, indices, columns, values}, of the chosen columns
    significance  differences over the splits

Differences are ``{over, metric, learner, count, left_out, reason, methods}``, where `methods` are
``[{method, mean, average_rank, p_value, is_best, as_good_as_best, groups}]``. Where there was a
test (`reason` is None), they also have ``{test, best, as_good, groups, critical_difference,
friedman, test_level, n_blocks}``: `test` is "nemenyi", "wilcoxon" or "corrected t", `groups` are
lists of methods that do not differ significantly.
"""

from __future__ import annotations

import math
from typing import Any

from tamis.exceptions import InputError

__all__ = ["check_summary"]

NAME, VERSION = "tamis-comparison", 1


def _fields(words: str, kind: Any) -> dict[str, Any]:
    return dict.fromkeys(words.split(), kind)


# A shape is a type word, [shape] for a list, {key: shape} for a dict, (shape,) for "or None"; a
# key with a question mark may be missing.
_NUMBER = ("float",)
_MEAN = {**_fields("mean standard_error low high", _NUMBER), "n": "int"}
_METHOD = {
    "method": "str",
    **_fields("mean average_rank p_value", _NUMBER),
    **_fields("is_best as_good_as_best", "bool"),
    "groups": ["int"],
}
_UNTESTED = {
    **_fields("over metric learner", "str"),
    "count": ("int",),
    "left_out": ["str"],
    "reason": ("str",),
    "methods": [_METHOD],
}
_FRIEDMAN = {
    **_fields("chi_square p_chi_square f_statistic p_value", _NUMBER),
    "average_ranks": ["float"],
    "n_data": "int",
}
_TESTED = {
    **_UNTESTED,
    **_fields("test best", "str"),
    "as_good": ["str"],
    "groups": [["str"]],
    "critical_difference": _NUMBER,
    "friedman": (_FRIEDMAN,),
    "test_level": "float",
    "n_blocks": "int",
}
_ANSWER = {
    **_fields("data method learner metric sentence", "str"),
    "count": "int",
    "indices": ["int"],
    **_fields("columns reasons rivals", ["str"]),
    **_fields("shares shares_low shares_high mean_ranks", [_NUMBER]),
    **_fields("score low high stability stability_low stability_high", _NUMBER),
}
_STABILITY = {
    "method": "str",
    **_fields("count n", "int"),
    **_fields("nogueira low high jaccard jensen_shannon", _NUMBER),
}
_TIME = {
    "method": "str",
    **_fields("select_seconds learn_seconds peak_bytes", _NUMBER),
    "n": "int",
}
_FREQUENCIES = {
    "count": "int",
    "indices": ["int"],
    **_fields("columns methods", ["str"]),
    **_fields("shares mean_ranks", [[_NUMBER]]),
}
_CORRELATION = {"kind": "str", "indices": ["int"], "columns": ["str"], "values": [[_NUMBER]]}
_DATA = {
    **_fields("name fingerprint task", "str"),
    **_fields("n_rows n_columns", "int"),
    "counts": ["int"],
    **_fields("learners splits", ["str"]),
    "metrics": [{"name": "str", "greater_is_better": "bool"}],
    "protocol": "protocol",
    "answer": (_ANSWER,),
    "scores": [{**_fields("method learner metric", "str"), "count": "int", **_MEAN}],
    "stability": [_STABILITY],
    "times": [_TIME],
    "probes": [{"method": "str", "count": "int", **_MEAN}],
    "frequencies": (_FREQUENCIES,),
    "correlation": (_CORRELATION,),
    "significance": "differences",
}
_RECORD = {
    **_fields("schema learner metric", "str"),
    **_fields("version random_state", "int"),
    "methods": ["str"],
    **_fields("selectors versions", "texts"),
    "level": "float",
    "seeds": [{"data": "str", "method": "str", "seeds": ["int"]}],
    "other_versions": ["texts"],
    "data": [_DATA],
    "significance": ("differences",),
    "failures": [_fields("data method split part error details", "str")],
    "warnings": [{**_fields("data method warning", "str"), "n": "int"}],
    "table": {"fields": ["str"], "rows": [["value"]]},
    "notes?": ["str"],
}


def check_summary(summary: Any) -> dict[str, Any]:
    """Check that a dictionary is the record of a comparison.

    Parameters
    ----------
    summary : dict
        From :meth:`tamis.evaluation.Comparison.to_dict`, or read back from its JSON file.

    Returns
    -------
    dict
        The same record.

    Raises
    ------
    InputError
        If a part is missing, unknown, of the wrong kind, not finite, or does not fit another part;
        the message names it.

    Examples
    --------
    >>> from tamis.report import check_summary
    >>> check_summary({"schema": "tamis-comparison", "version": 9})
    Traceback (most recent call last):
    tamis.exceptions.InputError: report: expected a comparison of version 1, got version 9. Write it
    again with this version of Tamis.
    """
    if not isinstance(summary, dict) or summary.get("schema") != NAME:
        raise InputError(
            f"report: expected the dictionary of a comparison with schema {NAME!r}, got "
            f"{_brief(summary)}. Pass what Comparison.to_dict() returns or to_json() wrote."
        )
    if summary.get("version") != VERSION:
        raise InputError(
            f"report: expected a comparison of version {VERSION}, got version "
            f"{_brief(summary.get('version'))}. Write it again with this version of Tamis."
        )
    _check(summary, _RECORD, "comparison")
    _check_parts(summary)
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
        needed = {key for key in shape if not key.endswith("?")}
        known = {key.rstrip("?"): inner for key, inner in shape.items()}
        fits = needed <= value.keys() <= known.keys()
        _expect(fits, where, f"a dict with the keys {sorted(known)}", sorted(value))
        for key, item in value.items():
            _check(item, known[key], f"{where}[{key!r}]")
    elif shape == "differences":
        _expect(isinstance(value, dict), where, "a dict", value)
        _check(value, _TESTED if value.get("reason") is None else _UNTESTED, where)
    else:
        holds, words = _KINDS[shape]
        _expect(holds(value), where, words, value)


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


def _is_protocol(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("description"), str)


_KINDS = {
    "str": (lambda value: isinstance(value, str), "a text"),
    "bool": (lambda value: isinstance(value, bool), "True or False"),
    "int": (_is_int, "an integer"),
    "float": (_is_number, "a finite number"),
    "value": (_is_plain, "a text, a finite number, True, False or None"),
    "texts": (_are_texts, "a dict of texts"),
    "protocol": (_is_protocol, "a dict with a description"),
}


def _check_parts(record: dict[str, Any]) -> None:
    """Check what one part says about another: lengths, and methods that are known."""
    _expect(bool(record["methods"]), "comparison['methods']", "at least one method", [])
    _expect(bool(record["data"]), "comparison['data']", "at least one data set", [])
    fields = len(record["table"]["fields"])
    for row in record["table"]["rows"]:
        _expect(len(row) == fields, "comparison['table']['rows']", f"rows of {fields} values", row)
    known = set(record["methods"])
    parts = [(record["significance"], "comparison['significance']")]
    for position, data in enumerate(record["data"]):
        where = f"comparison['data'][{position}]"
        parts.append((data["significance"], f"{where}['significance']"))
        _check_data(data, known, where)
    for part, where in parts:
        for row in (part or {"methods": []})["methods"]:
            _expect(row["method"] in known, where, "about known methods", row["method"])


def _check_data(data: dict[str, Any], known: set[str], where: str) -> None:
    rows = [*data["scores"], *data["stability"], *data["times"], *data["probes"]]
    answer, frequencies = data["answer"], data["frequencies"]
    if answer is not None:
        rows.append(answer)
        _same_length(
            answer, "columns indices shares shares_low shares_high mean_ranks", f"{where}['answer']"
        )
    for row in rows:
        _expect(row["method"] in known, where, "about known methods", row["method"])
    if frequencies is not None:
        _expect(set(frequencies["methods"]) <= known, where, "about known methods", "others")
        _same_length(frequencies, "columns indices shares mean_ranks", f"{where}['frequencies']")
        _check_width(frequencies, "shares", "methods", f"{where}['frequencies']")
    if data["correlation"] is not None:
        _same_length(data["correlation"], "columns indices values", f"{where}['correlation']")
        _check_width(data["correlation"], "values", "columns", f"{where}['correlation']")


def _same_length(block: dict[str, Any], fields: str, where: str) -> None:
    lengths = {field: len(block[field]) for field in fields.split()}
    _expect(len(set(lengths.values())) == 1, where, "lists with one item per column", lengths)


def _check_width(block: dict[str, Any], values: str, across: str, where: str) -> None:
    fits = all(len(row) == len(block[across]) for row in block[values])
    _expect(fits, f"{where}[{values!r}]", f"rows with one value per item of {across!r}", "others")


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
