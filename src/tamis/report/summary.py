"""From a comparison to the plain dictionary that the page shows: the JSON twin of the report."""

from __future__ import annotations

import math
from typing import Any

from tamis.report import _words
from tamis.report._limits import shorten
from tamis.report.schema import NAME, VERSION, check_summary

__all__ = ["summarize"]

MOST_COLUMNS = 200  # of the answer, by name
_BOUNDS = {
    **dict.fromkeys(("accuracy", "auc", "average_precision", "balanced_error"), (0.0, 1.0)),
    "mse": (0.0, math.inf),
    "r2": (-math.inf, 1.0),
}
_KINDS = {"pearson": "Pearson", "spearman": "Spearman"}


def summarize(comparison: Any) -> dict[str, Any]:
    """Everything the report shows, as plain values.

    Parameters
    ----------
    comparison : Comparison or dict
        What :func:`tamis.compare` returns, or its ``to_dict()``.

    Returns
    -------
    dict
        The summary; `tamis.report.schema` says what is in it. It is JSON as it is.

    Notes
    -----
    Texts beyond 300 letters are cut, and the answer names at most 200 columns; everything is in
    ``comparison.to_dict()``, and every ranking in ``comparison.rankings``.

    Examples
    --------
    >>> import tamis
    >>> from sklearn.datasets import load_breast_cancer
    >>> from tamis.report import summarize
    >>> data = {"cancer": load_breast_cancer()}
    >>> found = tamis.evaluation.compare(["dft", "variance"], data, protocol=3, counts=[2, 5])
    >>> summary = summarize(found)
    >>> summary["data"][0]["answer"]["method"], summary["data"][0]["answer"]["count"]
    ('dft', 5)
    """
    record = comparison if isinstance(comparison, dict) else comparison.to_dict()
    data, table = record["data"], record["table"]
    summary = {
        "schema": NAME,
        "version": VERSION,
        "title": f"{_words.count_of(len(record['methods']), 'method')} on "
        f"{_words.count_of(len(data), 'data set')}",
        "created": None,
        "methods": record["methods"],
        "counts": sorted({count for part in data for count in part["counts"]}),
        "learner": record["learner"],
        "metric": record["metric"],
        "learners": _union(part["learners"] for part in data),
        "metrics": _union(part["metrics"] for part in data),
        "level": record["level"],
        "data": [_data(part) for part in data],
        "ranks": _ranks(record["significance"]),
        "table": {**table, "n_rows": len(table["rows"])},
        "failures": [
            {key: row[key] for key in ("data", "method", "split", "part", "error")}
            for row in record["failures"]
        ],
        "warnings": record["warnings"],
        "protocol": _protocol(record),
        "selectors": record["selectors"],
        "versions": record["versions"],
        "notes": _notes(record),
    }
    return check_summary(shorten(summary))


def _union(lists: Any) -> list[Any]:
    found: list[Any] = []
    for items in lists:
        found += [item for item in items if item not in found]
    return found


def _data(part: dict[str, Any]) -> dict[str, Any]:
    return {
        **{key: part[key] for key in ("name", "n_rows", "n_columns", "task", "fingerprint")},
        "answer": _answer(part["answer"]),
        "scores": [_score(row) for row in part["scores"]],
        "stability": {
            "index": "Nogueira",
            "rows": [
                {**_field(row, "method", "count", "low", "high"), "value": row["nogueira"]}
                for row in part["stability"]
            ],
        },
        "frequencies": _frequencies(part["frequencies"]),
        "correlation": _correlation(part["correlation"]),
        "times": _fields(part["times"], "method", "select_seconds", "learn_seconds", "peak_bytes"),
        "probes": _fields(part["probes"], "method", "count", "mean", "low", "high", "n"),
        "ranks": _ranks(part["significance"]),
    }


def _score(row: dict[str, Any]) -> dict[str, Any]:
    return {
        **_field(row, "method", "learner", "metric", "count", "mean", "n"),
        **_possible(row["metric"], row["low"], row["high"]),
    }


def _possible(metric: str, low: float | None, high: float | None) -> dict[str, float | None]:
    """Cut an interval at the values that a metric can take."""
    least, most = _BOUNDS.get(metric, (-math.inf, math.inf))
    return {
        "low": None if low is None else max(low, least),
        "high": None if high is None else min(high, most),
    }


def _field(row: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: row[name] for name in names}


def _fields(rows: list[dict[str, Any]], *names: str) -> list[dict[str, Any]]:
    return [_field(row, *names) for row in rows]


def _column(name: str, index: int, **known: float | None) -> dict[str, Any]:
    unknown = dict.fromkeys(("share", "low", "high", "mean_rank"))
    return {"index": index, "name": name, **unknown, **known}


def _answer(answer: dict[str, Any] | None) -> dict[str, Any] | None:
    if answer is None:
        return None
    columns = zip(
        answer["columns"], answer["indices"], answer["shares"], answer["shares_low"],
        answer["shares_high"], answer["mean_ranks"], strict=True,
    )  # fmt: skip
    return {
        **_field(answer, "method", "count", "learner", "metric", "stability"),
        **_possible(answer["metric"], answer["low"], answer["high"]),
        "mean": answer["score"],
        "stability_low": answer["stability_low"],
        "stability_high": answer["stability_high"],
        "reasons": _reasons(answer["reasons"]),
        "rivals": answer["rivals"],
        "columns": [
            _column(name, index, share=share, low=low, high=high, mean_rank=rank)
            for name, index, share, low, high, rank in list(columns)[:MOST_COLUMNS]
        ],
    }


def _reasons(reasons: list[str]) -> list[str]:
    return [
        # A warning that nothing was learned comes before everything else, see `_notes`.
        *(text for text in reasons if not text.startswith("Beware")),
        "The score was also used to choose, which makes it slightly optimistic.",
    ]


def _frequencies(found: dict[str, Any] | None) -> dict[str, Any] | None:
    if found is None:
        return None
    columns = [_column(*pair) for pair in zip(found["columns"], found["indices"], strict=True)]
    return {**_field(found, "count", "methods", "shares"), "columns": columns}


def _correlation(found: dict[str, Any] | None) -> dict[str, Any] | None:
    if found is None:
        return None
    columns = [_column(*pair) for pair in zip(found["columns"], found["indices"], strict=True)]
    kind = _KINDS.get(found["kind"], found["kind"])
    return {"kind": kind, "columns": columns, "values": found["values"]}


def _ranks(found: dict[str, Any] | None) -> dict[str, Any] | None:
    if found is None or found["reason"] is not None:
        return None
    friedman = found["friedman"]
    return {
        **_field(found, "test", "over", "n_blocks", "critical_difference", "best", "groups"),
        "level": found["test_level"],
        "p_value": None if friedman is None else friedman["p_value"],
        "methods": [row["method"] for row in found["methods"]],
        "mean_ranks": [row["average_rank"] for row in found["methods"]],
        "p_values": [None if row["is_best"] else row["p_value"] for row in found["methods"]],
    }


def _protocol(record: dict[str, Any]) -> list[str]:
    texts = [part["protocol"]["description"] for part in record["data"]]
    if len(set(texts)) > 1:
        texts = [
            f"{part['name'][:60]}: {text}" for part, text in zip(record["data"], texts, strict=True)
        ]
    learners = [
        _words.learner_words(name) for name in _union(p["learners"] for p in record["data"])
    ]
    metrics = [
        _words.metric_words(metric["name"])
        for metric in _union(part["metrics"] for part in record["data"])
    ]
    return [
        *dict.fromkeys(texts),
        "Columns are ranked and every parameter is tuned on the training rows of a split only; "
        "the scores are from its test rows.",
        f"One ranking per method and split serves all numbers of columns. Learners: "
        f"{_words.listing(learners)}. Metrics: {_words.listing(metrics)}.",
        f"Intervals hold {_words.percent(record['level'])}; where splits test the same rows again, "
        "they are widened after Nadeau and Bengio. They are cut at what a metric can reach.",
        f"Random state: {record['random_state']}.",
    ]


def _notes(record: dict[str, Any]) -> list[str]:
    notes = []
    if record["other_versions"]:
        notes.append("Parts of the results were computed with other versions of the packages.")
    n_failures = len(record["failures"])
    if n_failures:
        notes.append(f"{_words.count_of(n_failures, 'failure')}; see the end of the protocol.")
    for part in record["data"]:
        for text in (part["answer"] or {"reasons": []})["reasons"]:
            if text.startswith("Beware"):
                notes.append(text if len(record["data"]) == 1 else f"{part['name'][:60]}: {text}")
    return notes
