"""The schema of ``Comparison.to_dict()``: what its JSON file holds and the report is made from.

Version 2 of "tamis-comparison". Every number is finite or None (unknown); every text is plain,
untrusted text; nothing else than dict, list, str, int, float, bool and None occurs. `RECORD` is the
whole, and `DATA` a data set in it. A shape is a type, a word of `KINDS`, [shape] for a list, {key:
shape} for a dict, or (shape,) for "or None"; a key with a question mark may be missing.
"""

from __future__ import annotations

import math
from typing import Any

from tamis.exceptions import InputError

__all__ = ["check_summary"]

NAME, VERSION = "tamis-comparison", 2


def _fields(words: str, shape: Any) -> dict[str, Any]:
    return dict.fromkeys(words.split(), shape)


NUMBER = (float,)
MEAN = {**_fields("mean standard_error low high", NUMBER), "n": int}
CURVE = {**_fields("method learner metric", str), "count": int, **MEAN}
PROBE = {"method": str, "count": int, **MEAN}
STABILITY = {
    "method": str,
    "count": int,
    **_fields("nogueira low high jaccard jensen_shannon", NUMBER),
    "n": int,
}
TIME = {"method": str, **_fields("select_seconds learn_seconds peak_bytes", NUMBER), "n": int}
FAILURE = _fields("data method split part error details", str)
METHOD = {
    "method": str,
    **_fields("mean average_rank p_value", NUMBER),
    **_fields("is_best as_good_as_best", bool),
    "groups": [int],
}
FRIEDMAN = {
    **_fields("chi_square p_chi_square f_statistic p_value", NUMBER),
    "average_ranks": [float],
    "n_data": int,
}
# Differences of the methods: why there was no test, or what it found.
UNTESTED = {
    **_fields("over metric learner", str),
    "count": (int,),
    "left_out": [str],
    "reason": (str,),
    "methods": [METHOD],
}
TESTED = {
    **UNTESTED,
    "test": str,  # "nemenyi", "wilcoxon" or "t over rows"
    "best": str,
    "as_good": [str],
    "groups": [[str]],  # methods that do not differ significantly
    "critical_difference": NUMBER,
    "friedman": (FRIEDMAN,),
    "test_level": float,
    "n_blocks": int,
}
# The fields of a Recommendation.
ANSWER = {
    **_fields("data method learner metric sentence", str),
    "count": int,
    "indices": [int],
    **_fields("columns reasons rivals", [str]),
    **_fields("shares shares_low shares_high mean_ranks", [NUMBER]),
    **_fields("score low high measured random_score all_score guess_score", NUMBER),
    **_fields("gain gain_low gain_high stability stability_low stability_high", NUMBER),
    "is_better_than_random": (bool,),
}
# One row of `shares` and `mean_ranks` per column, one value per method.
FREQUENCIES = {
    "count": int,
    "indices": [int],
    **_fields("columns methods", [str]),
    **_fields("shares mean_ranks", [[NUMBER]]),
}
CORRELATION = {"kind": str, "indices": [int], "columns": [str], "values": [[NUMBER]]}
DATA = {
    **_fields("name fingerprint task", str),  # task: "classification" or "regression"
    **_fields("n_rows n_columns", int),
    "counts": [int],  # numbers of features
    **_fields("learners splits", [str]),  # their names
    "metrics": [{"name": str, "greater_is_better": bool, **_fields("low high", NUMBER)}],
    "protocol": "protocol",
    "answer": (ANSWER,),
    "scores": [CURVE],
    "baselines": [CURVE],  # "random features", "all features" and "guessing" (count 0)
    "stability": [STABILITY],
    "times": [TIME],
    "probes": [PROBE],
    "frequencies": (FREQUENCIES,),
    "correlation": (CORRELATION,),  # of the chosen columns
    "significance": "differences",  # over the splits
}
RECORD = {
    **_fields("schema learner metric", str),  # estimator and metric that decide, of the first data
    **_fields("version random_state", int),
    "methods": [str],
    "selectors": "texts",  # parameters by method
    "versions": "texts",
    "other_versions": ["texts"],  # if parts were computed with others
    "level": float,  # of every interval, such as 0.95
    "seeds": [{"data": str, "method": str, "seeds": [int]}],  # one seed per split
    "data": [DATA],
    "significance": ("differences",),  # over the data sets, when there are several
    "failures": [FAILURE],
    "warnings": [{**_fields("data method warning", str), "n": int}],
    "table": {"fields": [str], "rows": [["value"]]},  # one row per score
    "notes?": [str],  # what was left out of the copy inside a page
}


def check_summary(summary: Any) -> dict[str, Any]:
    """Check that a dictionary is the record of a comparison, and return it.

    Parameters
    ----------
    summary : dict
        From :meth:`tamis.evaluation.Comparison.to_dict`, or read back from its JSON file.

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
    tamis.exceptions.InputError: report: expected a comparison of version 2, got version 9. Write it
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
    _check(summary, RECORD, "comparison")
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
        _check(value, TESTED if value.get("reason") is None else UNTESTED, where)
    else:
        holds, words = KINDS[shape]
        _expect(holds(value), where, words, value)


def _expect(is_met: bool, where: str, expected: str, got: Any) -> None:
    if not is_met:
        raise InputError(f"report: {where} must be {expected}, got {_brief(got)}.")


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return _is_int(value) or (isinstance(value, float) and math.isfinite(value))


def _are_texts(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(text, str) for text in (*value.keys(), *value.values())
    )


KINDS: dict[Any, Any] = {
    str: (lambda value: isinstance(value, str), "a text"),
    bool: (lambda value: isinstance(value, bool), "True or False"),
    int: (_is_int, "an integer"),
    float: (_is_number, "a finite number"),
    "value": (
        lambda value: value is None or isinstance(value, str | bool) or _is_number(value),
        "a text, a finite number, True, False or None",
    ),
    "texts": (_are_texts, "a dict of texts"),
    "protocol": (
        lambda value: isinstance(value, dict) and isinstance(value.get("description"), str),
        "a dict with a description",
    ),
}


def _check_parts(record: dict[str, Any]) -> None:
    """Check what one part says about another: lengths, and methods that are known."""
    _expect(bool(record["methods"]), "comparison['methods']", "at least one method", [])
    _expect(bool(record["data"]), "comparison['data']", "at least one data set", [])
    fields = len(record["table"]["fields"])
    for row in record["table"]["rows"]:
        _expect(len(row) == fields, "comparison['table']['rows']", f"rows of {fields} values", row)
    known = set(record["methods"])
    _check_methods(
        known, (record["significance"] or {}).get("methods", []), "comparison['significance']"
    )
    for position, data in enumerate(record["data"]):
        _check_data(data, known, f"comparison['data'][{position}]")


def _check_data(data: dict[str, Any], known: set[str], where: str) -> None:
    answer, frequencies, correlation = data["answer"], data["frequencies"], data["correlation"]
    rows = [*data["scores"], *data["stability"], *data["times"], *data["probes"]]
    if answer is not None:
        rows.append(answer)
        fields = "columns indices shares shares_low shares_high mean_ranks"
        _check_lengths(answer, fields, f"{where}['answer']")
    _check_methods(known, rows, where)
    if frequencies is not None:
        _expect(set(frequencies["methods"]) <= known, where, "about known methods", "others")
        _check_lengths(frequencies, "columns indices shares mean_ranks", f"{where}['frequencies']")
        _check_width(frequencies, "shares", "methods", f"{where}['frequencies']")
    if correlation is not None:
        _check_lengths(correlation, "columns indices values", f"{where}['correlation']")
        _check_width(correlation, "values", "columns", f"{where}['correlation']")
    _check_methods(known, data["significance"]["methods"], f"{where}['significance']")


def _check_methods(known: set[str], rows: list[dict[str, Any]], where: str) -> None:
    for row in rows:
        _expect(row["method"] in known, where, "about known methods", row["method"])


def _check_lengths(block: dict[str, Any], fields: str, where: str) -> None:
    lengths = {field: len(block[field]) for field in fields.split()}
    _expect(len(set(lengths.values())) == 1, where, "lists with one item per column", lengths)


def _check_width(block: dict[str, Any], values: str, across: str, where: str) -> None:
    fits = all(len(row) == len(block[across]) for row in block[values])
    _expect(fits, f"{where}[{values!r}]", f"rows with one value per item of {across!r}", "others")


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
